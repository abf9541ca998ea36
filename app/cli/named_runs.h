#pragma once
#include <functional>
#include <string>
#include <vector>

#include "common/json.h"
#include "record/run_directory.h"

namespace faceter::cli {

/// Told of each name and the run that it was found to be.
using TellRun = std::function<void(const Project& project, const std::string& name, const RunDirectory& run)>;
/// Says on standard error which run was taken where a variant's name stands for several.
void tell_which_run(const Project& project, const std::string& name, const RunDirectory& run);
RunDirectory find_run(const Project& project, const std::string& name);
/// The runs of these names in their order, each once: all are found before anything is done to one, and what is named twice, by two of its
/// names perhaps, is not done twice.
std::vector<RunDirectory> find_runs(const Project& project, const std::vector<std::string>& names, const TellRun& tell = tell_which_run);
/// The same for what cannot be taken back. Error (usage): a variant's name stands for several runs.
std::vector<RunDirectory> find_single_runs(const Project& project, const std::vector<std::string>& names);
/// Whether a run is called so itself, by its id or short name, not by its variant's name.
bool is_name_of(const RunInfo& run, const std::string& name);
/// "1 run", "3 runs".
std::string counted_runs(std::size_t number);
/// What --json prints of them: {"runs": [{"id", "name", "folder"}]}.
Json runs_json(const std::vector<RunDirectory>& runs);

}  // namespace faceter::cli
