#pragma once
#include <string>
#include <vector>

#include "experiment/catalogue.h"
#include "experiment/experiment.h"

namespace faceter {

/// What can be known to fail before anything starts, by all who start runs here: missing data, a start model that is missing, of a kind
/// that is not known, or that a variant cannot begin with, settings that nothing reads or that `processes` together cannot compute. Errors:
/// those of the checks of this folder that it calls. Returns what is worth a warning.
std::vector<std::string> check_before_start(const Experiment& experiment, const Catalogue& catalogue, int processes);

}  // namespace faceter
