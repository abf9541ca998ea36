#pragma once
#include "experiment/experiment.h"

namespace faceter {

/// Errors (settings): training data that bring instructions of their own for a task that has none, which texts from elsewhere would need,
/// as far as an entry's settings, the first record of MEDI's files, and the records of other files tell; the rest is found when the data
/// are read.
void check_data_instructions(const Experiment& experiment);

}  // namespace faceter
