#pragma once
#include <QElapsedTimer>
#include <atomic>

#include "project/runs_snapshot.h"
#include "project/waking_thread.h"

namespace faceter::desktop {

/// Takes what grows in the run directories into the store, once a second (runs that are over in turn) and when it is woken (all), and hands
/// on a snapshot where something changed, in a long look also on the way. Polling is what works on every file system; changes of the runs
/// folder wake it earlier (ProjectSession).
class IngestThread : public WakingThread {
    Q_OBJECT
  public:
    explicit IngestThread(std::filesystem::path folder);
    ~IngestThread() override { end(); }
    void rebuild();
    /// Whether the last problem was that there are no run folders to look into.
    bool folderIsGone() const { return m_folderIsGone; }

  Q_SIGNALS:
    void snapshot(faceter::desktop::RunsSnapshotPtr runs);
    /// All that there is has been looked at once; after its snapshot.
    void lookedAtAll();
    void problem(const QString& message);
    /// Whether the store that this thread fills is its own, in memory, because the file cannot be written; before the snapshot from it.
    void keptInMemory(bool isKept);

  protected:
    void run() override;

  private:
    void lookOnce(std::unique_ptr<Store>& store);
    void look(Store& store);
    /// What a long look has found so far is shown while it goes on; false: somebody waits for this thread to end.
    bool goOn(Store& store);
    void publish(Store& store);

    bool m_rebuild = false;  // guarded by m_mutex
    QElapsedTimer m_sincePublished;
    QString m_lastProblem;
    std::atomic<bool> m_folderIsGone = false;
    bool m_inMemory = false;
    bool m_thorough = true;  // woken: somebody knows of something new, and wants to see it now
    RunsSnapshotPtr m_last;
    std::uint64_t m_lastCounter = 0;  // of the store when it was last asked
    std::int64_t m_revision = 0;      // of the store, that m_last shows
};

}  // namespace faceter::desktop
