#pragma once
#include "experiment/experiment.h"

namespace faceter {

/// Before runs start. Settings errors: a setting of a data entry that is not read where the entry stands, and would change which texts
/// count or what is put in front of them (one of evaluation in training data, or the other way round); data sets to score during training
/// where no run of the experiment, and no stage, scores any.
void check_entry_uses(const Experiment& experiment);

}  // namespace faceter
