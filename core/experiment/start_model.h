#pragma once
#include "checkpoint/model_folder.h"
#include "experiment/experiment.h"

namespace faceter {

/// Errors (settings): a model that no run starts from, because its weights are several models: task experts, adapters, an encoder a task.
void check_start_model(const ModelFolder& folder);

/// Every run's start model is there, and what its variant can begin with; returns what is worth a warning (check_model). Errors: as
/// resolve_model, ModelFolder::open, check_model and check_start_model; settings: a model with token-routed blocks under a variant that
/// needs a dense one.
std::vector<std::string> check_start_models(const Experiment& experiment);

}  // namespace faceter
