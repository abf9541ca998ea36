#pragma once
#include <string>
#include <vector>

#include "record/run_directory.h"

namespace faceter::cli {

/// The runs of these names in their order, each once: all are found before anything is done to one, and what is named twice, by two of its
/// names perhaps, is not done twice.
std::vector<RunDirectory> find_runs(const Project& project, const std::vector<std::string>& names);

}  // namespace faceter::cli
