#pragma once
#include "run/supervisor.h"

namespace faceter {

/// Follows a queue's runs with one progress line each on standard error until all are over. The first Ctrl-C (stop_requested) writes control/stop
/// into the runs that are not over and waits for their checkpoints; a second one ends the following (the supervisor goes on to stop them).
/// Returns the exit code for the whole: the first failed run's own, else `stopped` where one was stopped, else done.
int follow_queue(const Queue& queue);

}  // namespace faceter
