#include "project/cluster_thread.h"

#include <QElapsedTimer>

#include "launch/slurm.h"
#include "project/runs_snapshot.h"
#include "record/launch.h"

namespace faceter::desktop {
namespace {

constexpr int pump_interval_ms = 300, job_interval_ms = 5000;

/// The profile of a run behind ssh; empty: it is here.
std::string machineOf(const RunDirectory& run) {
    const auto launch = read_launch(run);
    return launch && launch->launcher == "ssh" ? launch->profile : "";
}

}  // namespace

void ClusterThread::follow(const QStringList& runs) {
    {
        const QMutexLocker lock(&m_mutex);
        m_asked += runs;
    }
    wake();
}

void ClusterThread::run() {
    QElapsedTimer sinceAsked;
    do {
        try {
            if (takeWoken()) lookForRuns();
            if (!sinceAsked.isValid() || sinceAsked.elapsed() >= job_interval_ms) {
                tell(refresh_slurm_jobs(Project(m_folder, false), &m_ending));
                sinceAsked.start();
            }
            pump();
        } catch (const std::exception& error) {
            tell({error.what()});
        }
    } while (sleepUntilWoken(m_machines.empty() ? job_interval_ms : pump_interval_ms));
    m_machines.clear();  // its connections belong to this thread
}

/// Those behind ssh whose record here does not say that they are over, and those that were asked for.
void ClusterThread::lookForRuns() {
    QStringList asked;
    {
        const QMutexLocker lock(&m_mutex);
        asked.swap(m_asked);
    }
    const Project project(m_folder, false);
    std::map<std::string, std::set<std::string>> wanted;
    for (const std::string& id : project.run_ids()) {
        const std::filesystem::path folder = project.runs_folder() / id;
        std::error_code ignored;
        if (!std::filesystem::exists(folder / "control/launch.json", ignored) || !std::filesystem::exists(folder / "run.json", ignored))
            continue;
        const RunDirectory run(folder);
        const std::string profile = machineOf(run);
        if (!profile.empty() && (asked.contains(qs(id)) || !is_over(read_state(run).phase))) wanted[profile].insert(id);
    }
    for (const auto& [profile, runs] : wanted) connectTo(profile, runs);
}

/// One connection a machine: a run that is new there joins those that are followed.
void ClusterThread::connectTo(const std::string& profile, const std::set<std::string>& runs) {
    Machine& machine = m_machines[profile];
    std::set<std::string> all = runs;
    for (const std::string& run : machine.runs)
        if (machine.follower && !machine.follower->mirror().ended().contains(run)) all.insert(run);
    if (machine.follower && all == machine.runs) return;
    machine.runs = all;
    machine.follower.reset();
    machine.follower =
        std::make_unique<RemoteFollower>(Project(m_folder, false), read_profile(profile), std::vector<std::string>(all.begin(), all.end()));
}

void ClusterThread::pump() {
    std::erase_if(m_machines, [this](auto& entry) {
        RemoteFollower* follower = entry.second.follower.get();
        if (!follower) return true;
        follower->pump();
        if (!follower->given_up().empty()) tell({follower->given_up()});
        return !follower->given_up().empty() || follower->mirror().all_ended();
    });
}

}  // namespace faceter::desktop
