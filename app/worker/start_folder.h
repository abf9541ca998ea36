#pragma once
#include "common/file.h"

namespace faceter::worker {

/// Where the model lies on this machine that a run's folder, or its model's, comes from, through runs that were trained further: the folder
/// itself where it is of no run, empty where the model is not here.
fs::path first_start(fs::path folder);

}  // namespace faceter::worker
