#pragma once
#include "experiment/catalogue.h"

namespace faceter {

/// A run's settings (ResolvedRun::settings) as an older version recorded them, with those that have come since at their defaults: of data
/// entries, of the training and of its methods, as far as the catalogue knows them. What is there stays as it is.
Json completed_settings(Json settings, const Catalogue& catalogue);

}  // namespace faceter
