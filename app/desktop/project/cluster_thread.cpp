#include "project/cluster_thread.h"

#include <QElapsedTimer>
#include <utility>

#include "common/error.h"
#include "launch/slurm.h"
#include "project/runs_snapshot.h"
#include "record/launch.h"

namespace faceter::desktop {
namespace {

constexpr int pump_interval_ms = 300, job_interval_ms = 5000;
constexpr int first_retry_s = 2, most_retry_s = 300;

/// The profile that a run's record comes through, where it is followed; empty where it is not, and where the folder is no run: lists say
/// why.
std::string profileFollowed(const std::filesystem::path& folder, bool isAsked) {
    try {
        const RunDirectory run(folder);
        const std::string profile = profile_of_mirror(run).value_or("");
        return !profile.empty() && (isAsked || !is_over(read_state(run).phase)) ? profile : "";
    } catch (const Error&) {
        return "";
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
    std::string wrongLooking, wrongAsking, wrongPumping;  // why each failed, until it does not
    const auto attempt = [this](std::string& wrong, const auto& work) {
        wrong.clear();
        try {
            work();
        } catch (const std::exception& error) {
            wrong = error.what();
            tell({wrong});
        }
    };
    do {
        const bool isWoken = takeWoken(), isDue = !sinceAsked.isValid() || sinceAsked.elapsed() >= job_interval_ms;
        if (isWoken || (isDue && !wrongLooking.empty())) attempt(wrongLooking, [this] { lookForRuns(); });
        if (isDue || (isWoken && !wrongAsking.empty())) {
            attempt(wrongAsking, [this] { tell(refresh_slurm_jobs(Project(m_folder, false), &m_ending)); });
            sinceAsked.start();
        }
        attempt(wrongPumping, [this] { pump(); });
        std::vector<std::string> lasting{wrongLooking, wrongAsking, wrongPumping};
        std::erase(lasting, "");
        tellWhatIsOver(lasting);
    } while (sleepUntilWoken(m_machines.empty() ? job_interval_ms : pump_interval_ms));
    m_machines.clear();  // its connections belong to this thread
}

/// Those behind ssh whose record here does not say that they are over, and those that were asked for.
void ClusterThread::lookForRuns() {
    const Project project(m_folder, false);
    const std::vector<std::string> ids = project.run_ids();
    QStringList asked;
    {
        const QMutexLocker lock(&m_mutex);
        asked.swap(m_asked);
    }
    std::map<std::string, std::set<std::string>> wanted;
    for (const std::string& id : ids) {
        const std::filesystem::path folder = project.runs_folder() / id;
        std::error_code ignored;
        if (!std::filesystem::exists(folder / "control/launch.json", ignored) || !std::filesystem::exists(folder / "run.json", ignored))
            continue;
        if (const std::string profile = profileFollowed(folder, asked.contains(qs(id))); !profile.empty()) wanted[profile].insert(id);
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

/// A profile that is gone or wrong costs its own runs, not those of other machines.
void ClusterThread::connectTo(const std::string& profile, Machine& machine) {
    machine.follower.reset();
    try {
        machine.follower = std::make_unique<RemoteFollower>(Project(m_folder, false), read_profile(profile),
                                                            std::vector<std::string>(machine.runs.begin(), machine.runs.end()));
    } catch (const std::exception& error) {
        lose(machine, error.what());
    }
}

/// Its runs go on there: it is tried again, less and less often. Why is told once an outage.
void ClusterThread::lose(Machine& machine, const std::string& why) {
    const bool heard = machine.follower && machine.follower->has_heard();
    if (heard || machine.complaint != why) {
        if (heard) machine.failures = 0;
        forgetTold(machine.complaint);
        machine.complaint = why;
        tell({machine.complaint});
    }
    machine.follower.reset();
    machine.nextTry.setRemainingTime(std::chrono::seconds(std::min(most_retry_s, first_retry_s << std::min(machine.failures++, 8))));
}

/// It answers: what was told of its outage is over.
void ClusterThread::hear(Machine& machine) {
    if (!machine.follower->has_heard() || machine.complaint.empty()) return;
    machine.failures = 0;
    forgetTold(machine.complaint);
    Q_EMIT settled({qs(std::exchange(machine.complaint, {}))});
}

void ClusterThread::pump() {
    for (auto entry = m_machines.begin(); entry != m_machines.end();) {
        Machine& machine = entry->second;
        if (!machine.follower && machine.nextTry.hasExpired()) connectTo(entry->first, machine);
        try {
            if (machine.follower) machine.follower->pump(), hear(machine);
        } catch (const std::exception& error) {
            lose(machine, error.what());
        }
        if (machine.follower && !machine.follower->given_up().empty()) lose(machine, std::string(machine.follower->given_up()));
        entry = machine.follower && machine.follower->mirror().all_ended() ? m_machines.erase(entry) : std::next(entry);
    }
}

}  // namespace faceter::desktop
