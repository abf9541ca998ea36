#pragma once
#include <functional>
#include <optional>
#include <string>

#include "record/journal.h"
#include "record/run_directory.h"

namespace faceter {

enum class RunPhase {
    queued,  ///< no attempt yet
    running,
    silent,   ///< on another machine and quiet for much longer than ever before
    stopped,  ///< stopped or preempted; can be resumed
    failed,   ///< says why
    dead,     ///< its process is gone without a word (killed, machine lost)
    done,
};
std::string_view run_phase_name(RunPhase phase);
bool is_over(RunPhase phase);

struct RunState {
    RunPhase phase = RunPhase::queued;
    std::string cause;  ///< failed, dead, silent, stopped: one sentence
    int exit_code = 0;  ///< failed: the worker's
    int attempt = 0, attempts = 0;
    std::string doing;  ///< train, evaluate ...
    std::int64_t step = 0, total_steps = 0;
    double loss = 0;                    ///< last; NaN where there is none
    double started = 0, last_sign = 0;  ///< seconds since 1970, by the run's own clock
    double steps_per_s = 0;             ///< of this attempt
    double active_s = 0;                ///< from the first line to the last of each attempt
};

/// How a worker process ended, as its supervisor saw it: journal/<attempt>/exit.json, written by the supervisor alone.
struct WorkerExit {
    int code = 0;
    int signal = 0;       ///< killed by it; 0: it exited by itself
    std::string message;  ///< last line of its log, for a worker that could not say why in its journal
};
void write_worker_exit(const RunDirectory& run, int attempt, const WorkerExit& exit);
std::optional<WorkerExit> read_worker_exit(const RunDirectory& run, int attempt);

/// control/supervisor.json: the process that will start the run. Of a copy of the run's folder it is read as one that is gone.
void write_supervisor(const RunDirectory& run, const ProcessIdentity& process);
std::optional<ProcessIdentity> read_supervisor(const RunDirectory& run);

/// For somebody who knows that the process of a silent run is gone: its attempt ends as failed, and the run can be resumed or deleted.
/// Should the process live after all, it ends at its next event (JournalWriter). Usage error for a run that is not silent, or that belongs
/// to a job or another machine which still says something of it.
void take_over(const RunDirectory& run);
/// What somebody must know to say yes to that; empty where the run is not silent.
std::string take_over_question(const RunDirectory& run);

/// Seconds since a file of a run was written, by the clock of the file system that both lie on: the clocks of two machines are never
/// compared. Negative where the run's folder cannot be written.
double seconds_since_written(const RunDirectory& run, const fs::path& file);

/// Follows the journals of a run: each call of update() reads only what was added.
class RunFollower {
  public:
    explicit RunFollower(const RunDirectory& run);
    /// Takes in what is new of rank 0 of the newest attempt (a newer attempt replaces an older one); `seen` gets each event.
    void update(const std::function<void(const JournalEvent&)>& seen = {});
    RunState state() const;
    const RunDirectory& run() const { return run_; }

  private:
    void begin(int attempt);
    void take(const JournalEvent& event);
    void take_step(const JournalEvent& event);
    void judge_open_attempt(RunState& state) const;
    void judge_unbegun_attempt(RunState& state) const;
    void judge_quiet_attempt(RunState& state) const;
    void judge_waiting(RunState& state) const;

    RunDirectory run_;
    int attempt_ = 0;
    std::uint64_t offset_ = 0;
    std::int64_t next_seq_ = 1;
    RunState state_;
    std::optional<RunState> with_earlier_steps_;  ///< where the attempt has made no step: read once
    ProcessIdentity process_;
    bool locked_ = false;  ///< its process began under the run's lock
    bool ended_ = false;
    double active_ = 0, slowest_gap_ = 0, rate_since_ = 0;
    std::int64_t rate_from_ = 0;
};

/// The state of a run now, from its folder alone: its journals, and what a cluster said about its job when it was last asked (launch.h).
RunState read_state(const RunDirectory& run);

}  // namespace faceter
