#pragma once
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "figure/figure.h"
#include "figure/table.h"
#include "stats/descriptive.h"

namespace faceter {

/// A run of a sweep. Runs of one point differ in their seed only.
struct SweepRun {
    std::string point;                            ///< what it is called
    std::map<std::string, std::string> settings;  ///< those that differ within the sweep
    double score = 0;                             ///< percent; NaN: none yet
};

struct SweepConfiguration {
    std::string name;
    std::map<std::string, std::string> settings;
    Summary score;                 ///< over seeds
    int place = 0;                 ///< of its first run among the runs that were given, counted in points
    std::vector<double> scores{};  ///< of each seed
};

struct SweepSetting {
    std::string key;
    bool is_number = false;  ///< all its values are
    /// The share of the runs' variance that its values explain by themselves: omega squared of a one-way analysis of variance (Hays,
    /// 1963), at least 0; what seeds differ by is unexplained. Numbers of more than five values are put into five classes of as many
    /// points. NaN where it cannot be known: fewer runs than two more than classes, or two points, which differ in all settings together.
    double importance = 0;
};

struct Sweep {
    std::vector<SweepConfiguration> points;  ///< with a score, the best first
    /// Those with several values, the most important first; of equal ones those first that all points have.
    std::vector<SweepSetting> settings;
};

/// What a setting is worth that a run does not have, or that is empty there.
inline constexpr std::string_view unset_value = "not set";

/// How values stand on an axis: numbers by what they are, then texts, what is not set last.
struct ValueOrder {
    bool operator()(const std::string& a, const std::string& b) const;
};
using SettingValues = std::set<std::string, ValueOrder>;

Sweep make_sweep(const std::vector<SweepRun>& runs);
/// Whether all points have the setting: those of one method alone are not set elsewhere.
bool is_shared(const Sweep& sweep, const SweepSetting& setting);

/// The points' mean scores over a setting, with 95 % intervals over seeds where there are several. On a log axis where a setting's numbers
/// span a factor of 20. The score's axis goes by the means: where intervals are much wider (t of two seeds is), their ends lie beyond it.
Figure sweep_setting_figure(const Sweep& sweep, const std::string& key, const std::string& score_name);
/// Of the twelve settings that explain most.
Figure sweep_importance_figure(const Sweep& sweep, const std::string& score_name);
/// A row a point: mean, interval and number of seeds, then its settings.
Table sweep_table(const Sweep& sweep, const std::string& score_name);

}  // namespace faceter
