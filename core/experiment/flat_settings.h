#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/json.h"

namespace faceter {

/// How an item of a list stands in a dotted key: train.0.name, or train[0].name as --set writes it.
enum class ItemKeys { dotted, bracketed };
/// Every value of nested settings with its dotted key. A list of plain values is one value.
void for_each_setting(const Json& settings, ItemKeys items, const std::function<void(const std::string& key, const Json& value)>& take);

/// Of a value's text: null, an empty list or an empty object, which say no more than that the setting is not there.
bool says_nothing(std::string_view value);

/// Nested settings as dotted keys: {"training": {"learning_rate": 1e-5}} -> ("training.learning_rate", "1e-05"). Items of a list are
/// numbered (tasks.retrieval.train.0.name); a list of plain values is one value ("[1,2]"). Sorted by key. Files from outside: at most 2,000
/// keys, values are cut to 300 bytes.
std::vector<std::pair<std::string, std::string>> flat_settings(const Json& settings);

}  // namespace faceter
