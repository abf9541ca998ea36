#pragma once
#include <QDeadlineTimer>
#include <QStringList>
#include <map>
#include <set>

#include "launch/remote.h"
#include "project/waking_thread.h"

namespace faceter::desktop {

/// Asks SLURM about jobs of the project every few seconds, and keeps the mirrors of runs behind ssh up to date, as `faceter follow` does.
/// What it learns goes into run folders, where the ingest thread finds it. A cluster that does not answer delays nothing but this thread.
class ClusterThread : public WakingThread {
    Q_OBJECT
  public:
    explicit ClusterThread(std::filesystem::path folder) : WakingThread(std::move(folder)) {}
    ~ClusterThread() override { end(); }
    /// Follows runs although their record here says that they are over.
    void follow(const QStringList& runs);

  protected:
    void run() override;

  private:
    /// Runs on one other machine.
    struct Machine {
        std::set<std::string> runs;
        std::unique_ptr<RemoteFollower> follower;  ///< null: it could not be reached, and is tried again
        QDeadlineTimer nextTry;
        int failures = 0;         ///< since it was last heard of
        std::string complaint{};  ///< that was told of them
    };
    void lookForRuns();
    void join(const std::string& profile, const std::set<std::string>& runs);
    void connectTo(const std::string& profile, Machine& machine);
    void lose(Machine& machine, const std::string& why);
    void hear(Machine& machine);
    void pump();

    QStringList m_asked;                        // follow(), not yet taken
    std::map<std::string, Machine> m_machines;  // by profile
};

}  // namespace faceter::desktop
