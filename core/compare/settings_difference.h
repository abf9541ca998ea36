#pragma once
#include <string>
#include <vector>

#include "common/json.h"

namespace faceter {

/// A setting that not all have alike, by its dotted key ("training.batch_size", "tasks.retrieval.train[0].name").
struct SettingDifference {
    std::string key;
    std::vector<std::string> values;  ///< one for each; a dash where the setting is absent
};

/// What differs between resolved settings, in the order of the keys. The seed, names and what does not change a score are left out;
/// what one has not and another has as nothing (null, an empty list) is alike.
/// `equal`: how many settings are alike.
struct SettingsDifference {
    std::vector<SettingDifference> differing;
    std::size_t equal = 0;
};
SettingsDifference settings_difference(const std::vector<Json>& settings);

/// Resolved settings without the seed, names, and what cannot change a score: how often checkpoints are written, how processes talk.
Json score_settings(Json settings);

}  // namespace faceter
