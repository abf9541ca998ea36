#pragma once
#include <optional>
#include <string>
#include <vector>

#include "launch/supervisor.h"
#include "record/state.h"

namespace faceter {

/// What a follower asks besides the journals of runs.
class FollowSource {
  public:
    virtual ~FollowSource() = default;
    /// Before every look at the journals.
    virtual void refresh() {}
    /// Of a run that is over.
    virtual std::optional<int> exit_code(const RunDirectory& run, const RunState& state) = 0;
    /// Why nothing more will come, though not all is over; empty while something may.
    virtual std::string lost() { return ""; }
    /// Attempts that are history: they are not shown.
    virtual int attempts_before(const RunDirectory&) { return 0; }
    /// What the first Ctrl-C does: true stops the runs and waits for them; false leaves them alone and ends the following.
    virtual bool interrupt_stops_runs() const { return false; }
};

/// Follows runs with one progress line each on standard error until all are over. Returns the exit code for the whole: the first failed
/// run's own, else `stopped` where one was stopped, else done (also where Ctrl-C ended the following only).
int follow_runs(const std::vector<RunDirectory>& runs, FollowSource& source);

/// Follows a queue's runs likewise. The first Ctrl-C (stop_requested) writes control/stop into the runs that are not over and waits for
/// their checkpoints; a second one ends the following (the supervisor goes on to stop them).
int follow_queue(const Queue& queue);

}  // namespace faceter
