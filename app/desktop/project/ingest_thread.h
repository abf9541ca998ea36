#pragma once
#include <QMutex>
#include <QSet>
#include <QThread>
#include <QWaitCondition>
#include <filesystem>

#include "project/runs_snapshot.h"

namespace faceter::desktop {

/// Takes what grows in the run directories into the store, once a second (runs that are over in turn) and when it is woken (all), and hands on a
/// snapshot where something changed.
/// Polling is what works on every file system; changes of the runs folder wake it earlier (ProjectSession).
class IngestThread : public QThread {
    Q_OBJECT
  public:
    explicit IngestThread(std::filesystem::path folder);
    ~IngestThread() override;
    void wake();
    void rebuild();

  Q_SIGNALS:
    void snapshot(faceter::desktop::RunsSnapshotPtr runs);
    void problem(const QString& message);
    /// What is to be said of run folders for the first time.
    void warned(const QStringList& warnings);

  protected:
    void run() override;

  private:
    bool sleepUntilWoken();
    void lookOnce(std::unique_ptr<Store>& store);
    void tell(const std::vector<std::string>& warnings);
    void publish(Store& store);

    std::filesystem::path m_folder;
    QMutex m_mutex;
    QWaitCondition m_wake;
    bool m_ending = false, m_woken = false, m_rebuild = false;
    QString m_lastProblem;
    QSet<QString> m_told;              // warnings that were emitted
    bool m_thorough = true;            // woken: somebody knows of something new, and wants to see it now
    RunsSnapshotPtr m_last;
    std::uint64_t m_lastCounter = 0;   // of the store when it was last asked
    std::int64_t m_revision = 0;       // of the store, that m_last shows
};

}  // namespace faceter::desktop
