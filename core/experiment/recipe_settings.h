#pragma once
#include "settings/check.h"
#include "settings/yaml.h"

namespace faceter {

/// What of a training recipe contradicts itself, has no effect, or watches what is not scored, goes to `problems`. `settings`: an
/// experiment's with all defaults, and its suite's data sets; `root`: its file. Errors: a data entry that cannot be read.
void check_recipe_settings(const Json& settings, const YamlNode& root, Problems& problems);

}  // namespace faceter
