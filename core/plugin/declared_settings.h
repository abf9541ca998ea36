#pragma once
#include <string>

#include "experiment/catalogue.h"

namespace faceter {

/// The settings of a variant, curriculum, objective or analysis as its code gets them: all that its manifest declares, those that are
/// missing (in an older run's, or of a caller that names a few) with their defaults, so that code demands them and repeats no default. A
/// variant's have the run's `seed` as well. One that this process knows no manifest of gets them as they are.
Json declared_settings(ExtensionKind kind, const std::string& name, Json settings);

}  // namespace faceter
