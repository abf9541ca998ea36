#pragma once
#include <QStringList>
#include <string>
#include <vector>

#include "figure/figure.h"
#include "run/store.h"

namespace faceter::desktop {

/// The runs of one line of the figure.
struct SeedGroup {
    std::string label;
    int colour = 0;
    std::vector<std::string> runs;
    bool operator==(const SeedGroup&) const = default;
};

struct CurveAnswer {
    Figure figure;                   ///< no series where no run has one
    std::string series;              ///< the one that is drawn
    std::vector<std::string> names;  ///< series of the runs
};

/// Mean over seeds of each column of [from, to] and the band mean +- standard deviation. seeds[i]: buckets of equal number.
Series meanCurve(const std::string& name, const std::vector<std::vector<SeriesBucket>>& seeds, double from, double to);
/// A score during training (evaluate_every_steps) where one is recorded, else the loss.
std::string defaultSeries(const std::vector<std::string>& names);
/// On the store thread. `wanted` empty or unknown: defaultSeries().
CurveAnswer readCurves(Store& store, const std::vector<SeedGroup>& groups, const std::string& wanted);

}  // namespace faceter::desktop
