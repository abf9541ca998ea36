#pragma once
#include <string>
#include <vector>

#include "experiment/catalogue.h"
#include "experiment/experiment.h"

namespace faceter {

/// What is worth a warning: variants that part their texts (Extension::parts), in experiments whose tasks give them one part for all.
std::vector<std::string> lone_parts(const Experiment& experiment, const Catalogue& catalogue);

/// And: tasks that no stage trains, under variants that give each a part or an encoder of its own, which stays as the start model is.
std::vector<std::string> untrained_parts(const Experiment& experiment, const Catalogue& catalogue);

}  // namespace faceter
