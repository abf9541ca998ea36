#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/file.h"

namespace faceter {

/// Models that runs trained, by the names of the runs. Runs are known above this layer: record/models_by_run.h gives those of a project.
struct RunModels {
    std::function<fs::path(const std::string& name)> find;  ///< the run's folder; empty: no run has that name
    std::function<std::vector<std::string>()> names;
};
/// Of this process: from now on `model` and `teacher` of an experiment file may be such a name, and are the run's folder when they are
/// resolved.
void use_run_models(RunModels models);

/// The folder of the run of that name; empty where there is none, or the name is that of a folder on a path. Errors (usage): a run that was
/// deleted.
fs::path run_model(const std::string& name);
/// The name of a run that is nearly this one.
std::optional<std::string> nearest_run(const std::string& name);
/// As resolve_model, or the model of a run of that name where no folder has it; what is not found is told with the nearest name of a run.
fs::path resolve_named_model(const std::string& name, const fs::path& relative_to = {});

}  // namespace faceter
