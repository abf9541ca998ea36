#include "project/ingest_thread.h"

#include <utility>

namespace faceter::desktop {
namespace {

constexpr int poll_interval_ms = 1000, publish_interval_ms = 1000;

}  // namespace

IngestThread::IngestThread(std::filesystem::path folder) : WakingThread(std::move(folder)) { qRegisterMetaType<RunsSnapshotPtr>(); }

void IngestThread::rebuild() {
    {
        const QMutexLocker lock(&m_mutex);
        m_rebuild = true;
    }
    wake();
}

void IngestThread::run() {
    std::unique_ptr<Store> store;
    do {
        QString message;
        m_thorough = takeWoken();
        try {
            lookOnce(store);
        } catch (const std::exception& error) {
            store.reset();
            std::error_code ignored;
            m_folderIsGone = !std::filesystem::is_directory(m_folder / "runs", ignored);
            message = QString::fromUtf8(error.what());
        }
        if (message != m_lastProblem) Q_EMIT problem(message);
        m_lastProblem = message;
    } while (sleepUntilWoken(poll_interval_ms));
}

void IngestThread::lookOnce(std::unique_ptr<Store>& store) {
    bool rebuild = false;
    {
        const QMutexLocker lock(&m_mutex);
        std::swap(rebuild, m_rebuild);
    }
    if (rebuild) {
        store.reset();
        forgetTold();
        tell(Store::rebuild(m_folder, [this](std::size_t, std::size_t) { return !m_ending; }));
    }
    if (store && store->is_replaced()) store.reset();
    if (!store) {
        store = std::make_unique<Store>(m_folder);
        m_last.reset();
        m_thorough = true;
        publish(*store);  // what is known already is shown before the folders are walked
    }
    look(*store);
}

void IngestThread::look(Store& store) {
    const auto progress = [&](std::size_t, std::size_t) { return goOn(store); };
    tell(m_thorough ? store.ingest_all(progress) : store.ingest_changed(progress));
    if (m_ending) return;
    publish(store);
    tellWhatIsOver(store.lasting_warnings());
    if (m_thorough) Q_EMIT lookedAtAll();
}

bool IngestThread::goOn(Store& store) {
    if (!m_ending && m_sincePublished.elapsed() >= publish_interval_ms) publish(store);
    return !m_ending;
}

void IngestThread::publish(Store& store) {
    m_sincePublished.start();
    const bool inMemory = store.file().empty();
    if (std::exchange(m_inMemory, inMemory) != inMemory) Q_EMIT keptInMemory(inMemory);
    const std::uint64_t counter = store.change_counter();
    if (m_last && counter == m_lastCounter) return;
    m_lastCounter = counter;
    RunChanges changes = store.changes_since(m_last ? m_revision : 0);
    if (m_last && changes.changed.empty() && changes.removed.empty()) return;
    // A store that was made anew counts from one again.
    const bool goesOn = m_last && changes.revision >= m_revision;
    m_revision = changes.revision;
    m_last = withChanges(goesOn ? *m_last : RunsSnapshot(), std::move(changes));
    Q_EMIT snapshot(m_last);
}

}  // namespace faceter::desktop
