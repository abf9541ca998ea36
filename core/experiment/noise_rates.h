#pragma once
#include <string>
#include <vector>

#include "settings/check.h"
#include "settings/yaml.h"

namespace faceter {

/// Training data into which a run injects noise (`noise_rate` of a data entry).
struct NoiseRate {
    std::string task, set;  ///< set: the entry's name; without one its source, view or path
    double rate = 0;
    bool operator==(const NoiseRate&) const = default;
};
/// Of a run's settings (ResolvedRun::settings), in the order of its tasks; the untrained start model has none.
std::vector<NoiseRate> noise_rates(const Json& settings);

/// `noise_rate` where it makes no sense goes to `problems`: of data that are scored, of an analysis' texts, of training texts that are
/// their own positives (format: texts, masked-language modelling). `settings`: an experiment's with all defaults; `root`: its file.
void check_noise_rates(const Json& settings, const YamlNode& root, Problems& problems);

}  // namespace faceter
