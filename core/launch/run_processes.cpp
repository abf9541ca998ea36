#include "launch/run_processes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "common/error.h"
#include "common/process.h"
#include "common/strings.h"
#include "common/user_folders.h"

namespace faceter {
namespace {

constexpr auto straggler_grace = std::chrono::seconds(15);
constexpr std::size_t log_tail_bytes = 8192;

/// A folder that only this user can look into, for the file in which ranks meet: not in the run's own, which may lie where files cannot be
/// locked.
fs::path make_meeting_folder() {
    std::string name = (temporary_folder() / "faceter-ranks-XXXXXX").string();
    if (!::mkdtemp(name.data())) throw failure("{}: cannot create folder: {}", name, errno_text(errno));
    return name;
}

/// A single process gets its variables, too: those of a cluster's job around us are not meant for it.
std::map<std::string, std::string> rank_environment(int attempt, int rank, int ranks, const fs::path& meeting) {
    const std::string place = std::to_string(rank), size = std::to_string(ranks);
    return {{"FACETER_ATTEMPT", std::to_string(attempt)},
            {"RANK", place},
            {"LOCAL_RANK", place},
            {"WORLD_SIZE", size},
            {"LOCAL_WORLD_SIZE", size},
            {"FACETER_RENDEZVOUS", (meeting / "store").string()}};
}

int next_attempt(const RunDirectory& run) {
    const std::vector<int> before = run.attempts();
    return before.empty() ? 1 : before.back() + 1;
}

/// Why, as far as it can be written; `attempt` is 0 where there was not even a folder for its log. Called while an exception is handled.
void record_failed_start(const RunDirectory& run, int attempt) {
    const std::string why = describe_current_exception().second;
    try {
        write_worker_exit(run, attempt > 0 ? attempt : next_attempt(run), {static_cast<int>(ExitCode::failed), 0, why});
    } catch (const std::exception&) {
    }
}

}  // namespace

std::string last_log_line(const fs::path& log) {
    try {
        const std::string text = read_file(log, std::uint64_t(1) << 31);
        const std::string_view tail = std::string_view(text).substr(text.size() > log_tail_bytes ? text.size() - log_tail_bytes : 0);
        const auto lines = split(tail, '\n');
        for (auto line = lines.rbegin(); line != lines.rend(); ++line)
            if (!trim(*line).empty()) return std::string(trim(*line)).substr(0, 500);
    } catch (const std::exception&) {
    }
    return "";
}

std::optional<WorkerExit> stop_while_loading(int signal) {
    if (signal != SIGTERM && signal != SIGUSR1) return std::nullopt;
    return WorkerExit{static_cast<int>(ExitCode::stopped), 0, "stopped while it started"};
}

int take_log_folder(const RunDirectory& run) {
    int attempt = next_attempt(run);
    make_directories(run.folder() / "logs");
    while (!make_directory(run.attempt_log(attempt).parent_path())) ++attempt;
    return attempt;
}

RunProcesses::RunProcesses(const RunDirectory& run, const std::string& worker, int ranks)
    : run_(run.folder()), size_(ranks), lock_(run) {  // inherited by every rank
    if (read_state(run).phase == RunPhase::done)
        throw failure("{}: another worker has run it to its end while this one waited for its turn", run.info().id);
    try {
        attempt_ = take_log_folder(run);
        if (size_ > 1) meeting_ = make_meeting_folder();
        for (int rank = 0; rank < size_; ++rank) start(worker, run, rank);
    } catch (...) {
        for (const auto& [process, rank] : alive_) ::kill(process, SIGKILL);
        record_failed_start(run, attempt_);
        throw;
    }
    lock_.leave_to_children();
}

RunProcesses::~RunProcesses() {
    std::error_code ignored;
    if (!meeting_.empty()) fs::remove_all(meeting_, ignored);
}

void RunProcesses::start(const std::string& worker, const RunDirectory& run, int rank) {
    const fs::path log_path = run.attempt_log(attempt_, rank);
    const int log = ::open(log_path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (log < 0) throw failure("{}: cannot create: {}", log_path.string(), errno_text(errno));
    const StartedProcess started = start_process(
        {{worker, "run", run.folder().string()}, Kinship::child, -1, log, log, rank_environment(attempt_, rank, size_, meeting_)});
    if (started.error) ::dprintf(log, "%s: cannot start: %s\n", worker.c_str(), errno_text(started.error));
    ::close(log);
    if (started.error) return note_end(rank, {static_cast<int>(ExitCode::failed)});
    alive_[started.process] = rank;
}

void RunProcesses::note_end(int rank, End end) {
    end.order = static_cast<int>(ends_.size());
    if (end.code != 0 && end.code != static_cast<int>(ExitCode::stopped) && !first_failure_) first_failure_ = Clock::now();
    ends_[rank] = end;
}

bool RunProcesses::ended(pid_t process, int status) {
    const auto found = alive_.find(process);
    if (found == alive_.end()) return false;
    End end;
    end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    end.code = end.signal ? static_cast<int>(ExitCode::failed) : WEXITSTATUS(status);
    end.by_us = killed_ && end.signal == SIGKILL;
    note_end(found->second, end);
    alive_.erase(found);
    return true;
}

pid_t RunProcesses::process(int wanted) const {
    for (const auto& [process, rank] : alive_)
        if (rank == wanted) return process;
    return 0;
}

void RunProcesses::stop() {
    if (told_to_stop_) return;
    told_to_stop_ = true;
    for (const auto& [process, rank] : alive_) ::kill(process, SIGTERM);
}

void RunProcesses::end_stragglers() {
    lock_.beat();
    if (killed_ || !first_failure_ || Clock::now() - *first_failure_ < straggler_grace) return;
    killed_ = true;
    for (const auto& [process, rank] : alive_) ::kill(process, SIGKILL);
}

/// The first that went for a reason of its own; those that lost a peer, and those that we ended, only where there is no such. Told to stop,
/// a group in which one has stopped while the others waited for it has stopped.
int RunProcesses::to_blame() const {
    const auto guilt = [this](const End& end) {
        if (end.code == 0) return 5;
        if (end.code == static_cast<int>(ExitCode::stopped)) return 3;
        if (end.by_us) return 2;
        if (end.code != static_cast<int>(ExitCode::peer_lost)) return 0;
        return told_to_stop_ ? 4 : 1;
    };
    int blamed = 0;
    if (ends_.at(0).code == 0) return 0;  // the run is done: rank 0 has written all of it
    for (const auto& [rank, end] : ends_) {
        const End& worst = ends_.at(blamed);
        if (guilt(end) < guilt(worst) || (guilt(end) == guilt(worst) && guilt(end) < 3 && end.order < worst.order)) blamed = rank;
    }
    return blamed;
}

WorkerExit RunProcesses::exit() const {
    const int rank = to_blame();
    const End& end = ends_.at(rank);
    if (const auto stopped = stop_while_loading(end.signal); told_to_stop_ && stopped) return *stopped;
    WorkerExit exit{end.code, end.signal, ""};
    if (exit.code == 0) return exit;
    exit.message = last_log_line(RunDirectory(run_).attempt_log(attempt_, rank));
    if (size_ == 1) return exit;
    exit.signal = 0;  // of a group, which is more than the one
    const std::string how = end.signal ? fmt::format("was killed by signal {} ({})", end.signal, ::strsignal(end.signal))
                                       : fmt::format("ended with exit code {}", end.code);
    exit.message = fmt::format("rank {} of {} {}{}{}", rank, size_, how, exit.message.empty() ? "" : ": ", exit.message);
    return exit;
}

}  // namespace faceter
