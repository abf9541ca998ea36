#pragma once
#include <string>
#include <vector>

#include "common/json.h"

namespace faceter::worker {

/// Gives the data entries without a name (folders named one by one) names that tell them apart in tables and as files: as much of their
/// paths as that takes, such as "en/sts" and "de/sts". Usage errors: a folder stands there twice, or has the name of another set.
void name_apart(std::vector<Json>& entries);

}  // namespace faceter::worker
