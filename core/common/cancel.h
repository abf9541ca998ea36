#pragma once
#include <atomic>

namespace faceter {

/// What a signal asked for. Handlers only set the flag; whoever does the work looks at it between steps.
enum class StopRequest : int { none = 0, stop = 1 };

/// Makes SIGINT, SIGTERM and SIGUSR1 (SLURM's warning) set the flag. A second SIGINT ends the process at once (exit code 130). To be called
/// on the main thread: handlers run there, on a stack of their own.
void install_stop_handlers();
StopRequest stop_requested();
/// Sets the flag as a signal would (tests, control files).
void request_stop();
void clear_stop_request();

}  // namespace faceter
