#pragma once
#include <sys/types.h>

#include <chrono>
#include <map>
#include <optional>
#include <string>

#include "record/run_directory.h"
#include "record/run_lock.h"
#include "record/state.h"

namespace faceter {

/// logs/<n>, made exclusively: n is what FACETER_ATTEMPT hands to the worker.
int take_log_folder(const RunDirectory& run);
/// The last line of a worker's log that says something: what a user would look for first.
std::string last_log_line(const fs::path& log);

/// How a run ended whose worker a stop's signal ended while it was still loading its libraries: nothing is lost. None of another signal.
std::optional<WorkerExit> stop_while_loading(int signal);

/// The worker processes of one attempt at a run, as a supervisor sees them: one, or several ranks on this machine that meet in a file of a
/// folder of their own (RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, FACETER_RENDEZVOUS). Rank N writes into logs/<attempt>/rank-N.log.
class RunProcesses {
  public:
    /// Starts them. Errors (failed): another worker is running the run, a log cannot be made, no process can be started.
    RunProcesses(const RunDirectory& run, const std::string& worker, int ranks);
    ~RunProcesses();
    RunProcesses(const RunProcesses&) = delete;
    RunProcesses& operator=(const RunProcesses&) = delete;

    const fs::path& run() const { return run_; }
    int attempt() const { return attempt_; }
    /// Takes note of the end of a process; false where it is none of these.
    bool ended(pid_t process, int status);
    bool over() const { return alive_.empty(); }
    /// Of a rank; 0 where it has ended.
    pid_t process(int rank) const;
    /// SIGTERM to all, once: they stop with a checkpoint.
    void stop();
    /// Kills those that are still there some seconds after another one failed: the others of a group cannot go on, and one that hangs does
    /// not end by itself. To be called every second or so: it also keeps the run's lock where that needs it.
    void end_stragglers();
    /// How the run ended: as the rank did that is to blame where there are several.
    WorkerExit exit() const;

  private:
    using Clock = std::chrono::steady_clock;
    struct End {
        int code = 0, signal = 0;
        int order = 0;       ///< who ended first
        bool by_us = false;  ///< killed as a straggler
    };
    void start(const std::string& worker, const RunDirectory& run, int rank);
    void note_end(int rank, End end);
    int to_blame() const;

    fs::path run_, meeting_;
    int attempt_ = 0, size_ = 1;
    RunLock lock_;
    std::map<pid_t, int> alive_;  ///< process -> rank
    std::map<int, End> ends_;
    bool told_to_stop_ = false, killed_ = false;
    std::optional<Clock::time_point> first_failure_;
};

}  // namespace faceter
