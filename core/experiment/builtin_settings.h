#pragma once
#include "experiment/catalogue.h"

namespace faceter {

/// Settings of one of core's own extensions (builtin_extensions.cpp), those that are missing with their defaults.
Json builtin_settings(ExtensionKind kind, std::string_view name, Json settings);

}  // namespace faceter
