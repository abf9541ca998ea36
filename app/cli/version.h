#pragma once
#include <string>

#include "experiment/manifest.h"

namespace faceter::cli {

/// What `faceter --version` prints: version, commit, the libtorch and the compiler that it was built with, plugins.
std::string version_text(const PluginList& plugins);

}  // namespace faceter::cli
