#pragma once
#include <string>
#include <vector>

#include "settings/check.h"
#include "settings/yaml.h"

namespace faceter {

/// One setting and the values that it takes.
struct SweepAxis {
    std::string key;               ///< "training.learning_rate"
    std::vector<YamlNode> values;  ///< with their places in the file
};

/// One combination of values.
struct SweepPoint {
    std::vector<std::pair<std::string, YamlNode>> values;
    /// "learning_rate=1e-05,batch_size=16"; empty for the empty point.
    std::string label() const;
};

/// Whether the file `root` varies a setting, by itself or with the whole part that holds it. Each point of a sweep is checked by itself;
/// the file as it stands need not be one.
bool is_swept(const YamlNode& root, const std::string& key);
/// The `sweep` section. What is wrong goes to `problems`.
std::vector<SweepAxis> read_sweep(const YamlNode* sweep, Problems& problems);
/// All combinations for one variant, the last axis fastest: axes of other variants ("variants.OTHER.x") are left out. One empty point
/// without axes.
std::vector<SweepPoint> sweep_points(const std::vector<SweepAxis>& axes, std::string_view variant);

}  // namespace faceter
