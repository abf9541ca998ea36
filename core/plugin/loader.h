#pragma once
#include <string>
#include <vector>

#include "experiment/manifest.h"
#include "plugin/registry.h"

namespace faceter {

/// Opens the plugins of these manifests and registers what they offer. One whose build does not fit is left out with a reason that names
/// the field; the others go on. Libraries are never closed: their code may be on the stack of a destructor.
std::vector<RejectedPlugin> load_plugins(const std::vector<Manifest>& manifests, Registry& registry);

/// The registry of this process: core's own and all plugins of plugin_folders(). Made at the first call.
const Registry& registry();

}  // namespace faceter
