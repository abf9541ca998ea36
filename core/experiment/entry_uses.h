#pragma once
#include "settings/check.h"
#include "settings/yaml.h"

namespace faceter {

/// Settings of data entries that are not read where the entry stands, and would change which texts count or what is put in front of them,
/// go to `problems`: those of evaluation in training data, and the other way round. `root`: an experiment's file.
void check_entry_uses(const YamlNode& root, Problems& problems);

}  // namespace faceter
