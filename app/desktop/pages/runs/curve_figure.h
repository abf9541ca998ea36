#pragma once
#include "curves/curve_data.h"

namespace faceter::desktop {

struct CurveAnswer {
    Figure figure;                   ///< no series where no run has one
    std::string series;              ///< the one that is drawn, or loss_by_task
    std::vector<std::string> names;  ///< series of the runs; loss_by_task first where there are several tasks
    std::vector<std::string> drawn;  ///< all that are
    std::size_t numTasks = 0;        ///< that have a loss
};

/// A choice beside the series: the loss of each task, of at most four. Where tasks alternate one line through all is a saw.
inline constexpr const char* loss_by_task = "loss/*";

/// A score during training (evaluate_every_steps) where one is recorded, else the loss, by task where there are several.
std::string defaultSeries(const std::vector<std::string>& names);
/// The mean over seeds with its spread, by step. On the store thread. `wanted` empty or unknown: defaultSeries().
CurveAnswer readCurves(Store& store, const std::vector<CurveGroup>& groups, const std::string& wanted);

}  // namespace faceter::desktop
