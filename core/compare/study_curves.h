#pragma once
#include <string>
#include <vector>

#include "common/file.h"
#include "figure/figure.h"

namespace faceter {

/// A trained run of a study, and the name of its variant: that of its curve.
struct TrainedRun {
    std::string name;
    fs::path record;
};

/// Loss over the training, a line a variant. Figures of no series where no run has what they show.
Figure loss_curves(const std::vector<TrainedRun>& runs);
/// Scores during the training (training.evaluate_every_steps) over its steps, the mean over the data sets that are scored then (Data-CUBE,
/// Figure 4). Runs of several stages, which count steps anew and may score other sets, have none.
Figure score_curves(const std::vector<TrainedRun>& runs);

}  // namespace faceter
