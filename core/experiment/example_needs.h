#pragma once
#include <string>
#include <vector>

#include "experiment/catalogue.h"
#include "experiment/experiment.h"

namespace faceter {

/// Errors, as far as entries and their files tell without the data being read. Data: a file whose first record is none of the format that
/// its entry says. Settings: training data of which no example has what an
/// objective of the run learns from (Extension::learns_from); scores in data that noise is injected into. Returns what is worth a warning:
/// pairs with scores under an objective that does not read them.
std::vector<std::string> check_examples(const Experiment& experiment, const Catalogue& catalogue);

}  // namespace faceter
