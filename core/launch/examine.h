#pragma once
#include <string>
#include <vector>

#include "common/json.h"
#include "launch/profile.h"

namespace faceter {

/// examine_installation() of the program that a profile's runs are started with: on a node of the cluster, through srun with the profile's
/// place, modules, environment and container; or on the other machine, through ssh. Errors: failed (nobody answers, or what was said
/// instead), data (an answer that is none).
Json examine_through(const Profile& profile);

/// `srun ... bash -s`: one process on one node as a SLURM profile's runs get it, for five minutes.
std::vector<std::string> srun_command(const Profile& profile);
/// What it reads: the profile's preparation, then `faceter doctor --json`, which alone writes to standard output.
std::string examination_script(const Profile& profile);

}  // namespace faceter
