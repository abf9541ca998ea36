#pragma once
#include <string>
#include <vector>

#include "experiment/catalogue.h"
#include "experiment/experiment.h"

namespace faceter {

/// Errors, as far as entries and their files tell without the data being read. Data: a file whose first record is none of the format that
/// its entry says. Settings: training data of which no example has what an objective of the run learns from (Extension::learns_from);
/// scores in data that noise is injected into. Returns what is worth a warning: pairs with scores under an objective that does not read
/// them.
std::vector<std::string> check_examples(const Experiment& experiment, const Catalogue& catalogue);

/// Whether an example of the task without hard negatives ends a run of these settings in its `part`th stage or behind it, up to the next
/// that mines anew: the loss of one that trains the task learns from these.
bool needs_negatives(const Json& settings, std::size_t part, const std::string& task, const Catalogue& catalogue);

}  // namespace faceter
