#pragma once
#include <map>
#include <string>

#include "record/run_directory.h"

namespace faceter {

/// A run's results that have a score, by the names of their data sets, as its folder has them. A score that is not a number (a correlation
/// of constants) is none; files that cannot be read are left out.
std::map<std::string, Json> scored_results(const RunDirectory& run);

}  // namespace faceter
