#pragma once
#include "experiment/manifest.h"

namespace faceter {

/// What the settings.cpp of the plugin that calls it declares. For what a plugin keeps in files of its own: their settings are filled in
/// from its schemas by filled_in (settings/check.h). Settings that the program hands over are complete.
Manifest plugin_manifest();

}  // namespace faceter
