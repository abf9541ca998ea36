#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <thread>

#include "common/cancel.h"
#include "common/error.h"
#include "experiment/machine.h"
#include "launch/run_processes.h"
#include "launch/slurm.h"
#include "launch/supervisor.h"

namespace faceter {
namespace {

constexpr auto poll_interval = std::chrono::milliseconds(100);

void record_end(const RunDirectory& run, int attempt, const WorkerExit& exit) {
    const std::vector<int> attempts = run.attempts();
    write_worker_exit(run, attempts.empty() ? attempt : std::max(attempt, attempts.back()), exit);
}

}  // namespace

int attend_run(const fs::path& folder, int ranks) {
    const RunDirectory run(folder);
    install_stop_handlers();
    if (run.requested("stop")) return static_cast<int>(ExitCode::stopped);  // asked for while it waited
    if (read_state(run).phase == RunPhase::done) return 0;                  // requeued behind its end
    RunProcesses processes(run, worker_program().string(), ranks);
    while (!processes.over()) {
        int status = 0;
        for (pid_t child; (child = ::waitpid(-1, &status, WNOHANG)) > 0;) processes.ended(child, status);
        processes.end_stragglers();
        if (stop_requested() != StopRequest::none || run.requested("stop")) processes.stop();
        if (!processes.over()) std::this_thread::sleep_for(poll_interval);
    }
    const WorkerExit exit = processes.exit();
    record_end(run, processes.attempt(), exit);
    return exit.code;
}

int begin_attended_attempt(const fs::path& folder) { return take_log_folder(RunDirectory(folder)); }

void end_attended_attempt(const fs::path& folder, int attempt, int code) {
    const RunDirectory run(folder);
    WorkerExit exit{code, 0, ""};
    if (code > 128) {  // as a shell and srun report a signal
        const int signal = code - 128;
        const auto stopped = stop_while_loading(signal);
        if (stopped) return record_end(run, attempt, *stopped);
        exit = {static_cast<int>(ExitCode::failed), signal, ""};
    }
    if (code != 0) exit.message = last_log_line(run.attempt_log(attempt));
    record_end(run, attempt, exit);
}

}  // namespace faceter
