#pragma once
#include "curves/curve_data.h"

namespace faceter::desktop {

struct CurveAnswer {
    Figure figure;                   ///< no series where no run has one
    std::string series;              ///< the one that is drawn
    std::vector<std::string> names;  ///< series of the runs
};

/// A score during training (evaluate_every_steps) where one is recorded, else the loss.
std::string defaultSeries(const std::vector<std::string>& names);
/// The mean over seeds with its spread, by step. On the store thread. `wanted` empty or unknown: defaultSeries().
CurveAnswer readCurves(Store& store, const std::vector<CurveGroup>& groups, const std::string& wanted);

}  // namespace faceter::desktop
