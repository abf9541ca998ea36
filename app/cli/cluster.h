#pragma once
#include <vector>

#include "cli/commands.h"
#include "launch/profile.h"

namespace faceter::cli {

void add_cluster_commands(Cli& cli);  // profile follow attend feed

/// Says which runs have been given to a cluster or another machine (submit, resume, rerun).
int print_submitted(const Project& project, const Profile& profile, const std::vector<RunDirectory>& runs, bool json);
/// Follows runs on this machine, in SLURM and behind ssh until they are over (follow, resume).
int follow_anywhere(const Project& project, const std::vector<RunDirectory>& runs);
/// What SLURM says about jobs of the project that are not over goes into their runs; what it cannot say, to standard error.
void refresh_jobs(const Project& project);

}  // namespace faceter::cli
