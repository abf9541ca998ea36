#pragma once
#include "experiment/catalogue.h"
#include "experiment/experiment.h"

namespace faceter {

/// Errors (settings): a run's variant has a setting that only one process can compute, and several shall train together. Such a setting
/// names "devices" among its exclusions (Field::excludes), with the reason.
void check_processes(const Json& settings, const Catalogue& catalogue, int processes);
/// The same of every run of an experiment.
void check_processes(const Experiment& experiment, const Catalogue& catalogue, int processes);

}  // namespace faceter
