#pragma once
#include "checkpoint/model_folder.h"
#include "experiment/experiment.h"

namespace faceter {

/// Errors (settings): a model that no run starts from, because its weights are several models: task experts, adapters, an encoder a task.
void check_start_model(const ModelFolder& folder);

/// Every run's start model is there, and what its variant can begin with. Errors: as resolve_model, ModelFolder::open and
/// check_start_model; settings: a model with token-routed blocks under a variant that needs a dense one.
void check_start_models(const Experiment& experiment);

}  // namespace faceter
