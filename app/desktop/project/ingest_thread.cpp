#include "project/ingest_thread.h"

namespace faceter::desktop {
namespace {

constexpr int poll_interval_ms = 1000;

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
        m_published = false;
        m_revision = 0;
        publish(*store);   // what is known already is shown before the folders are walked
    }
    QStringList warnings;
    for (const std::string& warning : store->ingest_changed()) warnings << qs(warning);
    if (warnings != m_lastWarnings) Q_EMIT warned(warnings);
    m_lastWarnings = warnings;
    publish(*store);
}

void IngestThread::publish(Store& store) {
    const std::uint64_t counter = store.change_counter();
    if (m_published && counter == m_lastCounter) return;
    m_lastCounter = counter;
    const RunChanges changes = store.changes_since(m_revision);
    if (m_published && changes.changed.empty() && changes.removed.empty()) return;
    m_published = true;
    m_revision = changes.revision;
    auto snapshotNow = std::make_shared<RunsSnapshot>();
    snapshotNow->runs = store.runs();
    for (std::size_t i = 0; i < snapshotNow->runs.size(); ++i) snapshotNow->places.emplace(snapshotNow->runs[i].info.id, i);
    Q_EMIT snapshot(std::move(snapshotNow));
}

}  // namespace faceter::desktop
