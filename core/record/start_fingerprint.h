#pragma once
#include <string>

#include "record/run_directory.h"

namespace faceter {

/// The start model's fingerprint, as an attempt noted it (event start_model); empty where it did not come so far, or is an older version's.
std::string noted_start_model(const fs::path& journal);

/// The same of the attempt in which the run's training began: one that was resumed read its weights from a checkpoint.
std::string began_from(const RunDirectory& run);

}  // namespace faceter
