#include "project/project_session.h"

#include <QFileInfo>
#include <QFileSystemWatcher>

#include "project/cluster_thread.h"
#include "project/ingest_thread.h"
#include "store/store_errors.h"

namespace faceter::desktop {

ProjectSession::ProjectSession(const std::filesystem::path& folder, QObject* parent)
    : QObject(parent),
      m_folder(absolute_path(folder)),
      m_runs(std::make_shared<RunsSnapshot>()),
      m_ingest(std::make_unique<IngestThread>(m_folder)),
      m_cluster(std::make_unique<ClusterThread>(m_folder)) {
    m_pool.setMaxThreadCount(1);
    m_pool.setExpiryTimeout(-1);
    connect(m_ingest.get(), &IngestThread::snapshot, this, &ProjectSession::take);
    connect(m_ingest.get(), &IngestThread::lookedAtAll, this, &ProjectSession::endLook);
    connect(m_ingest.get(), &IngestThread::warned, this, &ProjectSession::warned);
    connect(m_ingest.get(), &IngestThread::settled, this, &ProjectSession::settled);
    connect(m_ingest.get(), &IngestThread::keptInMemory, this, [this](bool isKept) { m_fileLacks = isKept; });
    connect(m_ingest.get(), &IngestThread::problem, this, [this](const QString& message) {
        if (!message.isEmpty()) m_loaded = true, m_looking = false;
        m_problem = message;
        Q_EMIT problem(message);
    });
    auto* watcher = new QFileSystemWatcher(this);
    background([runs = QString::fromStdString((m_folder / "runs").string())] {  // where it hangs, only this waits
        return QFileInfo(runs).isDir() ? runs : QString();
    })
        .then(this, [watcher](const QString& runs) {
            if (!runs.isEmpty()) watcher->addPath(runs);
        });
    connect(watcher, &QFileSystemWatcher::directoryChanged, this, &ProjectSession::refresh);
    connect(m_cluster.get(), &ClusterThread::warned, this, &ProjectSession::warned);
    connect(m_cluster.get(), &ClusterThread::settled, this, &ProjectSession::settled);
    m_ingest->start(QThread::LowPriority);
    m_cluster->start(QThread::LowPriority);
}

QString ProjectSession::folderProblem() const { return m_ingest->folderIsGone() ? m_problem : QString(); }

ProjectSession::~ProjectSession() {
    m_retired = true;
    m_cluster.reset();
    m_ingest.reset();
    m_pool.waitForDone();
}

void ProjectSession::retire(std::unique_ptr<ProjectSession> closed, QObject* keeper) {
    ProjectSession* session = closed.release();
    session->disconnect();
    session->setParent(keeper);
    session->m_retired = true;
    for (WakingThread* thread : std::initializer_list<WakingThread*>{session->m_ingest.get(), session->m_cluster.get()}) {
        connect(thread, &QThread::finished, session, &ProjectSession::deleteWhenEnded);
        thread->abandon();
    }
    // Behind all that waits: the store thread works one by one.
    session->m_pool.start([session] {
        QMetaObject::invokeMethod(
            session,
            [session] {
                session->m_storeEnded = true;
                session->deleteWhenEnded();
            },
            Qt::QueuedConnection);
    });
}

void ProjectSession::deleteWhenEnded() {
    if (m_storeEnded && m_ingest->isFinished() && m_cluster->isFinished()) deleteLater();
}

Store& ProjectSession::store() {
    if (m_store && !m_fileLacks && m_store->file().empty()) m_store.reset();  // the file has all again
    if (m_store && m_store->is_replaced()) m_store.reset();
    if (!m_store) m_store = std::make_unique<Store>(m_folder);
    if (!m_fileLacks) return *m_store;
    const auto goOn = [this](std::size_t, std::size_t) { return !m_retired; };
    try {
        m_store->ingest_changed(goOn);  // what it is told is told already
    } catch (const Unwritable&) {
        m_store->ingest_all(goOn);  // goes on in memory
    }
    return *m_store;
}

void ProjectSession::take(RunsSnapshotPtr runs) {
    m_runs = std::move(runs);
    m_loaded = m_loaded || !m_runs->runs.empty();
    Q_EMIT runsChanged();
}

void ProjectSession::endLook() {
    m_looking = false;
    if (std::exchange(m_loaded, true)) return;
    Q_EMIT runsChanged();  // it is certain now that there are none
}

void ProjectSession::refresh() {
    m_ingest->wake();
    m_cluster->wake();
}

void ProjectSession::follow(const QStringList& runs) { m_cluster->follow(runs); }

void ProjectSession::rebuild() {
    // The store thread lets go of the file first: a damaged one is replaced.
    m_pool.start([this] { m_store.reset(); });
    m_ingest->rebuild();
}

}  // namespace faceter::desktop
