#pragma once
#include "common/file.h"

namespace faceter {

/// The project that FACETER_PROJECT names, else this folder.
fs::path project_at_hand();

/// From now on experiment files of this process may name runs of a project where they name a model (experiment/run_models.h): by short
/// name, as RouterRetriever-1, or id. Empty: the project that FACETER_PROJECT names, else this folder. A folder that is no project has no
/// runs.
void use_runs_as_models(const fs::path& project = {});

}  // namespace faceter
