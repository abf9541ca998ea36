#pragma once
#include <QMutex>
#include <QSet>
#include <QStringList>
#include <QThread>
#include <QWaitCondition>
#include <atomic>
#include <filesystem>
#include <map>
#include <set>

#include "run/remote.h"

namespace faceter::desktop {

/// Asks SLURM about jobs of the project every few seconds, and keeps the mirrors of runs behind ssh up to date, as `faceter follow` does. What it learns goes into run
/// folders, where the ingest thread finds it. A cluster that does not answer delays nothing but this thread.
class ClusterThread : public QThread {
    Q_OBJECT
  public:
    explicit ClusterThread(std::filesystem::path folder);
    ~ClusterThread() override;
    /// Looks for runs that are new.
    void wake();
    /// Follows runs although their record here says that they are over.
    void follow(const QStringList& runs);

  Q_SIGNALS:
    /// What has not been told before.
    void warned(const QStringList& warnings);

  protected:
    void run() override;

  private:
    /// Runs on one other machine.
    struct Machine {
        std::set<std::string> runs;
        std::unique_ptr<RemoteFollower> follower;
    };
    bool sleepUntilWoken(int ms);
    bool takeWoken();
    void lookForRuns();
    void connectTo(const std::string& profile, const std::set<std::string>& runs);
    void pump();
    void tell(const std::vector<std::string>& warnings);

    std::filesystem::path m_folder;
    QMutex m_mutex;
    QWaitCondition m_wake;
    std::atomic<bool> m_ending = false;
    bool m_woken = true;
    QStringList m_asked;                        // follow(), not yet taken
    std::map<std::string, Machine> m_machines;   // by profile
    QSet<QString> m_told;
};

}  // namespace faceter::desktop
