#pragma once
#include <vector>

#include "experiment/staged_experiment.h"
#include "record/run_directory.h"

namespace faceter {

/// The runs of a staged experiment, in their order, behind those that `made` has already.
void create_staged_runs(const Project& project, const StagedExperiment& staged, std::vector<RunDirectory>& made,
                        OpenThreads threads = OpenThreads::of_this_machine);

}  // namespace faceter
