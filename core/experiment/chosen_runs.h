#pragma once
#include <string>
#include <vector>

#include "experiment/experiment.h"

namespace faceter {

/// Some of an experiment's runs, by name_of() or by what stands in front of its seed, or of its point: "MoTE" is all of the variant's.
/// Empty: all.
using ChosenRuns = std::vector<std::string>;

/// What a run is called before it is made: "MoTE/seed=1", "MoTE/learning_rate=1e-05/seed=1".
std::string name_of(const ResolvedRun& run);
/// In the experiment's order. Usage error for a name that is none of its runs'.
std::vector<const ResolvedRun*> chosen_runs(const Experiment& experiment, const ChosenRuns& names);

}  // namespace faceter
