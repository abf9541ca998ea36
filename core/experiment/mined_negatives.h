#pragma once
#include "experiment/catalogue.h"
#include "experiment/experiment.h"

namespace faceter {

/// Before runs start. Settings error: a stage mines hard negatives which the loss of no run of the experiment would count.
void check_mined_negatives(const Experiment& experiment, const Catalogue& catalogue);

}  // namespace faceter
