#pragma once
#include <atomic>
#include <string>
#include <string_view>
#include <vector>

#include "record/run_directory.h"

namespace faceter {

/// A controller that is down keeps its clients waiting for minutes.
constexpr int slurm_answer_s = 20;

/// Whether a job of this name is the submission whose folder (PROJECT/jobs/j-XXXXXX) this is. Whoever made a project may have written any
/// name and number into it, those of this user's other jobs among them.
bool is_job_name_of(std::string_view name, const fs::path& folder);

/// Finds out what came of submissions whose end was not recorded: the process was killed while sbatch worked, or the disk was full. Each
/// has written PROJECT/jobs/<...>/submission.json before, with a job name that no other has: a job of that name is taken in as if nothing
/// had happened; where SLURM says that it has none, the runs are free again. Where SLURM does not answer, nothing is changed and a warning
/// added.
void settle_submissions(const Project& project, const std::atomic<bool>* abandon, std::vector<std::string>& warnings);

}  // namespace faceter
