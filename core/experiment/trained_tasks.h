#pragma once
#include "experiment/catalogue.h"
#include "experiment/experiment.h"

namespace faceter {

/// Errors (settings): a run that has nothing to train on: a stage without training data, a task that a stage names or that a variant
/// trains by itself (Training::alone) without data, or with a weight of 0 where batches are drawn by weight; a loss on tokens, which
/// trains one encoder, under a variant that trains adapters or several.
void check_trained_tasks(const Experiment& experiment, const Catalogue& catalogue);

}  // namespace faceter
