#pragma once
#include <atomic>
#include <string>
#include <vector>

#include "common/error.h"
#include "launch/profile.h"
#include "record/launch.h"
#include "record/run_directory.h"

namespace faceter {

/// What is submitted: one job array, one element a run.
struct SlurmJob {
    std::string name;  ///< as squeue shows it; no other job has it
    fs::path project;
    fs::path folder;  ///< PROJECT/jobs/<...>: job.sh, runs (a path a line), job.json, slurm-<job>_<element>.out
    std::size_t num_runs = 1;
    std::string faceter, worker;  ///< programs where the profile names none
};

/// The script, from resources/jobs/slurm.sh. Errors (settings): a path that a line of the script cannot hold.
std::string slurm_script(const Profile& profile, const SlurmJob& job);
/// `sbatch ... job.sh`: only paths stand here, which a line of the script would have to quote.
std::vector<std::string> sbatch_command(const SlurmJob& job);

/// A job waits, or may, although not all that belongs to it could be recorded: its runs must stay.
class JobMayWait : public Error {
  public:
    using Error::Error;
};

/// Submits runs as one job array and writes control/launch.json and job.json of each. Returns SLURM's number of the job. Errors (failed):
/// sbatch is missing or refuses, in its own words; the runs are as before then. JobMayWait: the runs are left being submitted (launch.h),
/// and refresh_slurm_jobs finds out what came of it.
std::string submit_to_slurm(const Project& project, const Profile& profile, const std::vector<RunDirectory>& runs);
/// The same without submitting: script and command as text. No folder is made.
std::string describe_slurm_job(const fs::path& project, const Profile& profile, const std::string& name, std::size_t num_runs);

/// One line of squeue (%i|%T|%r|%N) or of sacct (JobID|State): nothing where it is none. `job` is a whole array's number ("12") where that,
/// or the rest of it, was cancelled before any element of it began.
std::optional<JobState> parse_job_line(std::string_view line);

/// Asks squeue, and for jobs that it has forgotten sacct, about every job of the project that is not over, and writes what is new into
/// control/job.json of its runs. One call of each for all jobs; none where there is no such job. Returns warnings (SLURM does not answer).
/// `abandon` ends it early.
std::vector<std::string> refresh_slurm_jobs(const Project& project, const std::atomic<bool>* abandon = nullptr);

/// Asks a run to stop: one that waits is cancelled; one that runs gets control/stop, and is cancelled where it had got that before. Returns
/// what happens, as a sentence. Errors (usage): the job is not one that this project submitted.
std::string stop_slurm_run(const RunDirectory& run, const Launch& launch);

/// What a job's element does on its node: runs the worker of one run in `ranks` processes, hands SIGTERM, SIGUSR1 and control/stop on to
/// it, and records how it ended. Returns the worker's exit code.
int attend_run(const fs::path& run, int ranks);
/// The same in two halves around srun, for several nodes: takes the attempt's folder of logs, and records the end.
int begin_attended_attempt(const fs::path& run);
void end_attended_attempt(const fs::path& run, int attempt, int code);

}  // namespace faceter
