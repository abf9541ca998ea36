#pragma once
#include <string>
#include <utility>
#include <vector>

#include "common/json.h"

namespace faceter {

/// Nested settings as dotted keys: {"training": {"learning_rate": 1e-5}} -> ("training.learning_rate", "1e-05"). Items of a list are numbered
/// (tasks.retrieval.train.0.name); a list of plain values is one value ("[1,2]"). Sorted by key. Files from outside: at most 2,000 keys, values are cut
/// to 300 bytes.
std::vector<std::pair<std::string, std::string>> flat_settings(const Json& settings);

}  // namespace faceter
