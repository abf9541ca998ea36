#pragma once
#include <string>
#include <vector>

#include "record/run_directory.h"
#include "record/state.h"

namespace faceter {

/// A list of runs that one supervisor process works off: PROJECT/queue/<id>/ with queue.json (written once), log, and done/<run id> (the
/// exit code of each run that is over).
struct Queue {
    fs::path folder;
    std::vector<fs::path> runs;
    int jobs = 1;        ///< runs at a time
    int devices = 1;     ///< worker processes of a run, which train together
    std::string worker;  ///< program; empty: FACETER_WORKER, else faceter-worker beside this program

    static Queue create(const Project& project, const std::vector<RunDirectory>& runs, int jobs, int devices = 1);
    static Queue open(const fs::path& folder);
    /// Exit code of a run that is over.
    std::optional<int> exit_code(const fs::path& run) const;
    fs::path lock_file() const { return folder / "lock"; }
    /// The supervisor's process, where the file system has no locks.
    fs::path name_file() const { return folder / "supervisor.json"; }
    /// True while its supervisor holds the queue's lock, or lives where there are no locks.
    bool supervised() const;
};

/// Whether a supervisor of this machine will come to the run, whose state is given.
bool waits_in_queue(const RunDirectory& run, const RunState& state);

/// Usage error for one that holds results which were imported: it has no model that could run.
void refuse_imported(const std::vector<RunDirectory>& runs);

/// Makes runs ready to go on from their last checkpoint: takes back what asked them to stop. A usage error names the first that is running,
/// may still be running, waits in a queue, is done, or was imported; nothing is changed then.
void prepare_resume(const std::vector<RunDirectory>& runs);

/// Starts `faceter supervise <queue>` (this program, or the one beside it) in a session of its own, with its output in the queue's log, so
/// that closing the terminal, an SSH connection or the desktop ends nothing. Returns when the supervisor holds the queue, and those of its
/// runs that go on (`resumed`): another program might resume them as well.
void start_supervisor(const Queue& queue, const std::vector<RunDirectory>& resumed = {});

/// Makes a queue of the runs and starts its supervisor, after prepare_resume of those that go on. One at a time of a project's programs
/// does: of several that resume a run at once the second finds it taken. Where it cannot be started, none of the others, which were
/// just made, stays.
Queue start_queue(const Project& project, const std::vector<RunDirectory>& runs, int jobs, int devices,
                  const std::vector<RunDirectory>& resumed = {});

/// The supervisor's work: runs the worker for one run after the other (up to `jobs` at once), its output in logs/<attempt>/rank-N.log,
/// records how it ended, hands control/stop on as SIGTERM, and ingests each finished run. Returns 0 when all are over, whatever became of
/// them.
int supervise(const fs::path& queue_folder);

}  // namespace faceter
