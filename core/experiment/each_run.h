#pragma once
#include <functional>

#include "experiment/experiment.h"

namespace faceter {

/// What Experiment::runs() would hold, in the same order, one run at a time: of ten thousand runs the settings of one are in memory. Errors
/// as Experiment::load; what is wrong with a sweep's later point is found after the runs before it were handed over.
void each_run_of(const fs::path& file, const Catalogue& catalogue, const ExperimentOptions& options,
                 const std::function<void(ResolvedRun&&)>& take);

}  // namespace faceter
