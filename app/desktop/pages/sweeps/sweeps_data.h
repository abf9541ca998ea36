#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "store/store.h"

namespace faceter::desktop {

using SweepSettings = std::map<std::string, std::string>;

struct SweepRequest {
    std::string run, point;  ///< id, and the configuration's name
    std::string method{};    ///< of its variant
    std::string name{};      ///< as people call the run
};

/// What the page knows of the runs that are shown.
struct SweepsData {
    struct Run {
        SweepRequest request;
        std::shared_ptr<const SweepSettings> settings;  ///< that differ among the runs; shared by the runs of a point
        std::vector<double> scores;                     ///< one for each of `scores` below, percent; NaN where the run has none
    };
    struct Score {
        std::string id, name;
    };
    std::vector<Run> runs;
    std::vector<Score> scores;         ///< the mean of all first, then task types, then data sets
    int numSets = 0, numCommon = 0;    ///< data sets that some run has; those that every run with a score has, which means are over
    std::vector<std::string> lacking;  ///< runs that have some of these sets and not all
    int numUnscored = 0;               ///< runs that have none
};
using SweepsDataPtr = std::shared_ptr<const SweepsData>;

/// On the store thread.
SweepsDataPtr loadSweeps(Store& store, const std::vector<SweepRequest>& requests);

}  // namespace faceter::desktop
