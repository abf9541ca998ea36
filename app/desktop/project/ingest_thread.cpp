#include "project/ingest_thread.h"

#include <fmt/format.h>

namespace faceter::desktop {
namespace {

constexpr int poll_interval_ms = 1000;

/// Everything of the runs that a list shows: two equal ones need no new snapshot.
std::string seen(const std::vector<RunRow>& runs) {
    std::string text;
    text.reserve(runs.size() * 96);
    for (const RunRow& run : runs) {
        fmt::format_to(std::back_inserter(text), "{}|{}|{}|{}|{}|{}|{}|{}|{}|", run.info.id, static_cast<int>(run.state.phase), run.state.cause, run.state.attempt,
                       run.state.doing, run.state.step, run.num_scores, run.mean_score, run.archived);
        for (const std::string& tag : run.tags) text += tag + ',';
        text += run.note + '\n';
    }
    return text;
}

}  // namespace

IngestThread::IngestThread(std::filesystem::path folder) : m_folder(std::move(folder)) { qRegisterMetaType<RunsSnapshotPtr>(); }

IngestThread::~IngestThread() {
    {
        const QMutexLocker lock(&m_mutex);
        m_ending = true;
        m_wake.wakeAll();
    }
    wait();
}

void IngestThread::wake() {
    const QMutexLocker lock(&m_mutex);
    m_woken = true;
    m_wake.wakeAll();
}

void IngestThread::rebuild() {
    const QMutexLocker lock(&m_mutex);
    m_woken = m_rebuild = true;
    m_wake.wakeAll();
}

bool IngestThread::sleepUntilWoken() {
    const QMutexLocker lock(&m_mutex);
    if (!m_woken && !m_ending) m_wake.wait(&m_mutex, poll_interval_ms);
    m_woken = false;
    return !m_ending;
}

void IngestThread::run() {
    std::unique_ptr<Store> store;
    do {
        QString message;
        try {
            lookOnce(store);
        } catch (const std::exception& error) {
            store.reset();
            message = QString::fromUtf8(error.what());
        }
        if (message != m_lastProblem) Q_EMIT problem(message);
        m_lastProblem = message;
    } while (sleepUntilWoken());
}

void IngestThread::lookOnce(std::unique_ptr<Store>& store) {
    bool rebuild = false;
    {
        const QMutexLocker lock(&m_mutex);
        std::swap(rebuild, m_rebuild);
    }
    if (rebuild) {
        store.reset();
        Store::rebuild(m_folder);
    }
    if (!store) {
        store = std::make_unique<Store>(m_folder);
        m_lastSeen.clear();
        publish(*store);   // what is known already is shown before the folders are walked
    }
    QStringList warnings;
    for (const std::string& warning : store->ingest_all()) warnings << qs(warning);
    if (warnings != m_lastWarnings) Q_EMIT warned(warnings);
    m_lastWarnings = warnings;
    publish(*store);
}

void IngestThread::publish(Store& store) {
    auto snapshotNow = std::make_shared<RunsSnapshot>();
    snapshotNow->runs = store.runs();
    std::string now = "runs\n" + seen(snapshotNow->runs);
    if (now == m_lastSeen) return;
    m_lastSeen = std::move(now);
    for (std::size_t i = 0; i < snapshotNow->runs.size(); ++i) snapshotNow->places.emplace(snapshotNow->runs[i].info.id, i);
    Q_EMIT snapshot(std::move(snapshotNow));
}

}  // namespace faceter::desktop
