#include "project/cluster_thread.h"

#include <QElapsedTimer>
#include <optional>

#include "common/error.h"
#include "launch/slurm.h"
#include "project/runs_snapshot.h"
#include "record/launch.h"

namespace faceter::desktop {
namespace {

constexpr int pump_interval_ms = 300, job_interval_ms = 5000;
constexpr int first_retry_s = 2, most_retry_s = 300;

/// Nothing where a folder is no run: lists say why.
std::optional<RunDirectory> opened(const std::filesystem::path& folder) {
    try {
        return RunDirectory(folder);
    } catch (const Error&) {
        return std::nullopt;
    }
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
        const auto run = opened(folder);
        const std::string profile = run ? profile_of_mirror(*run).value_or("") : "";
        if (!profile.empty() && (asked.contains(qs(id)) || !is_over(read_state(*run).phase))) wanted[profile].insert(id);
    }
    for (const auto& [profile, runs] : wanted) join(profile, runs);
}

/// One connection a machine: a run that is new there joins those that are followed.
void ClusterThread::join(const std::string& profile, const std::set<std::string>& runs) {
    Machine& machine = m_machines[profile];
    std::set<std::string> all = runs;
    for (const std::string& run : machine.runs)
        if (!machine.follower || !machine.follower->mirror().ended().contains(run)) all.insert(run);
    const bool known = all == machine.runs;
    machine.runs = all;
    if (!known || !machine.follower) connectTo(profile, machine);
}

void ClusterThread::connectTo(const std::string& profile, Machine& machine) {
    machine.follower.reset();
    machine.follower = std::make_unique<RemoteFollower>(Project(m_folder, false), read_profile(profile),
                                                        std::vector<std::string>(machine.runs.begin(), machine.runs.end()));
}

/// Its runs go on there: it is tried again, less and less often. Why is told once an outage.
void ClusterThread::lose(Machine& machine) {
    if (machine.follower->has_heard() || machine.complaint != machine.follower->given_up()) {
        if (machine.follower->has_heard()) machine.failures = 0;
        forgetTold(machine.complaint);
        machine.complaint = machine.follower->given_up();
        tell({machine.complaint});
    }
    machine.follower.reset();
    machine.nextTry.setRemainingTime(std::chrono::seconds(std::min(most_retry_s, first_retry_s << std::min(machine.failures++, 8))));
}

void ClusterThread::pump() {
    for (auto entry = m_machines.begin(); entry != m_machines.end();) {
        Machine& machine = entry->second;
        if (!machine.follower && machine.nextTry.hasExpired()) connectTo(entry->first, machine);
        if (machine.follower) machine.follower->pump();
        if (machine.follower && !machine.follower->given_up().empty()) lose(machine);
        entry = machine.follower && machine.follower->mirror().all_ended() ? m_machines.erase(entry) : std::next(entry);
    }
}

}  // namespace faceter::desktop
