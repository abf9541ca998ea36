#pragma once
#include <optional>
#include <string>

#include "record/run_directory.h"
#include "record/state.h"

namespace faceter {

/// Who runs a run, where it is no supervisor of this machine: control/launch.json, written when the run is submitted.
struct Launch {
    std::string launcher;  ///< slurm or ssh
    std::string profile;
    std::string job;  ///< SLURM's: 12_3
    fs::path folder;  ///< slurm: PROJECT/jobs/<...>; ssh: the project over there
};
/// Takes the place of what started the run before.
void write_launch(const RunDirectory& run, const Launch& launch);
/// A run's folder may come from anybody, and what is read here goes to scancel: nothing where `job` is neither empty nor a job array's
/// element.
std::optional<Launch> read_launch(const RunDirectory& run);
/// The profile behind which a run lies whose record another machine brings, in pieces (ssh); nothing: it is of this machine, or of a file
/// system that SLURM's nodes see. That machine may even be this one, where its process ends before the last piece is here.
std::optional<std::string> profile_of_mirror(const RunDirectory& run);
/// The run is started here from now on.
void clear_launch(const RunDirectory& run);

/// control/submission: the run is being given to SLURM through PROJECT/jobs/<this name>. Written before sbatch is asked; until that folder
/// says what came of it (job.json), or is gone, a job may wait that nothing else speaks of.
void write_submission(const RunDirectory& run, const std::string& job_folder);
bool is_being_submitted(const RunDirectory& run);

enum class JobPhase { pending, running, completed, cancelled, time_limit, out_of_memory, node_failed, failed, unknown };
/// "NODE_FAIL", "CANCELLED by 1000", "REQUEUED" ... as squeue and sacct write them. A word that is not known is `running`: nothing follows
/// from it.
JobPhase job_phase(std::string_view word);

/// What a cluster last said about the job of a run: control/job.json, written when it is submitted and whenever somebody asks
/// (refresh_slurm_jobs).
struct JobState {
    std::string job, word, reason, node;
    int attempts_before = 0;  ///< attempts at the run when the job was submitted: what they say is history
    JobPhase phase() const { return job_phase(word); }
    bool is_over() const { return phase() != JobPhase::pending && phase() != JobPhase::running; }
    bool operator==(const JobState&) const = default;
};
void write_job(const RunDirectory& run, const JobState& job);
std::optional<JobState> read_job(const RunDirectory& run);
/// By the clock of their file system; false where either is missing.
bool is_newer(const fs::path& file, const fs::path& than);
/// "12_3": an element of a job array.
bool is_array_element(std::string_view text);
/// True where the journal of an attempt was written after job.json.
bool journal_is_newer_than_job(const RunDirectory& run, int attempt);

struct JournalVerdict {
    bool ended = false;       ///< the journal itself says how the newest attempt ended
    bool stop_asked = false;  ///< control/stop is there: the job will not go on by itself
    bool newer_than_job = false;
};
/// Brings what the journal says (`state`) and what the cluster says together: a job that waits is queued, one that was killed has its
/// reason.
void apply_job(const JobState& job, const JournalVerdict& journal, RunState& state);

}  // namespace faceter
