#pragma once
#include <string>
#include <vector>

#include "common/json.h"
#include "record/run_directory.h"

namespace faceter::cli {

/// The runs of these names in their order, each once: all are found before anything is done to one, and what is named twice, by two of its
/// names perhaps, is not done twice.
std::vector<RunDirectory> find_runs(const Project& project, const std::vector<std::string>& names);
/// "1 run", "3 runs".
std::string counted_runs(std::size_t number);
/// What --json prints of them: {"runs": [{"id", "name", "folder"}]}.
Json runs_json(const std::vector<RunDirectory>& runs);

}  // namespace faceter::cli
