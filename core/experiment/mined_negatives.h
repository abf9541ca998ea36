#pragma once
#include "experiment/catalogue.h"
#include "settings/check.h"
#include "settings/yaml.h"

namespace faceter {

/// Stages that mine hard negatives which no loss would count go to `problems`. `settings`: an experiment's, with the whole recipe of each
/// stage; `root`: its file.
void check_mined_negatives(const Json& settings, const YamlNode& root, const Catalogue& catalogue, Problems& problems);

}  // namespace faceter
