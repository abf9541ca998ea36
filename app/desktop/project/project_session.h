#pragma once
#include <QObject>
#include <QThread>
#include <QThreadPool>
#include <QtConcurrent/QtConcurrentRun>
#include <atomic>
#include <filesystem>
#include <memory>
#include <type_traits>

#include "common/error.h"
#include "project/answer.h"
#include "project/runs_snapshot.h"

namespace faceter::desktop {

class ClusterThread;
class IngestThread;

/// An open project. Pages ask its store through query(), which runs on the one store thread; a second thread takes in what grows in the run
/// directories, and the store thread as well while the store's file cannot be written, and a third asks clusters and other machines about
/// runs that are there. Nothing here blocks the thread of the interface, and no page touches SQLite or a process itself.
class ProjectSession : public QObject {
    Q_OBJECT
  public:
    explicit ProjectSession(const std::filesystem::path& folder, QObject* parent = nullptr);
    /// Waits for its threads; retire() does not.
    ~ProjectSession() override;
    /// Ends a session in the background, however long its disk or a connection takes: it says nothing more, what waits for its store thread
    /// ends with an error, and it is deleted when its threads have ended. A `keeper` that goes before that waits.
    static void retire(std::unique_ptr<ProjectSession> session, QObject* keeper);

    const std::filesystem::path& folder() const { return m_folder; }
    /// The runs as last read; never null.
    RunsSnapshotPtr runs() const { return m_runs; }
    /// False until runs (or a problem) have come, or it is certain that there are none.
    bool isLoaded() const { return m_loaded; }
    /// The first look over all run folders goes on: more runs may come.
    bool isLooking() const { return m_looking; }

    /// What problem() said last where the project's folder is not there: nothing can be started in it. Else empty.
    QString folderProblem() const;

    /// Runs `ask(Store&)` on the store thread.
    template <typename Ask>
    auto query(Ask ask) -> Answer<std::invoke_result_t<Ask, Store&>> {
        ++m_outstanding;
        return Answer(QtConcurrent::run(&m_pool, [this, ask = std::move(ask)]() mutable {
            const Outstanding guard{m_outstanding};
            if (m_retired) throw failure("the project was closed before its store had answered");
            return ask(store());
        }));
    }
    /// Runs `work()` beside the interface (for what needs no store: files, checks).
    template <typename Work>
    static auto background(Work work) -> Answer<std::invoke_result_t<Work>> {
        return Answer(QtConcurrent::run(std::move(work)));
    }
    /// Nothing is asked that has not been answered.
    bool isIdle() const { return m_outstanding == 0; }
    /// Looks at the run directories now instead of at the next turn.
    void refresh();
    /// Keeps the mirrors of these runs up to date until they are over there, where they run behind ssh: for runs that were resumed, whose
    /// record here says that they ended.
    void follow(const QStringList& runs);
    /// Makes the store anew from the run directories, after it was damaged.
    void rebuild();

  Q_SIGNALS:
    void runsChanged();
    /// The store cannot be read (locked, moved, damaged, made by a newer version); empty: it can again.
    void problem(const QString& message);
    /// Files of run folders that could not be taken in whole: those that were not told before.
    void warned(const QStringList& warnings);
    /// What was warned of is over: a copy has become whole, a folder is gone, a machine answers again.
    void settled(const QStringList& warnings);

  private:
    struct Outstanding {
        std::atomic<int>& count;
        ~Outstanding() { --count; }
    };
    Store& store();
    void take(RunsSnapshotPtr runs);
    void endLook();
    void deleteWhenEnded();

    std::filesystem::path m_folder;
    RunsSnapshotPtr m_runs;
    QString m_problem;
    bool m_loaded = false, m_looking = true, m_storeEnded = false;
    std::atomic<bool> m_retired = false;
    std::atomic<bool> m_fileLacks = false;  // runs that only the other thread's store in memory has
    std::atomic<int> m_outstanding = 0;
    std::unique_ptr<Store> m_store;  // of the store thread
    QThreadPool m_pool;
    std::unique_ptr<IngestThread> m_ingest;
    std::unique_ptr<ClusterThread> m_cluster;
};

}  // namespace faceter::desktop
