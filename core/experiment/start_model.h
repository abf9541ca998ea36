#pragma once
#include "checkpoint/encoder_config.h"
#include "checkpoint/model_folder.h"
#include "experiment/experiment.h"

namespace faceter {

/// Errors (settings): a model that no run starts from, because its weights are several models: task experts, adapters, an encoder a task.
void check_start_model(const ModelFolder& folder);

/// Tokens of the longest text that a model can be asked to read: as many as it has positions for, or as its folder names beyond them; 0: no
/// limit. What it reads unasked (ModelFolder::max_seq_length) may be less.
std::size_t most_tokens(const ModelFolder& folder, const EncoderConfig& config);

/// Errors (settings): the settings' max_length is more than most_tokens. `name` stands in front of the message.
void check_max_length(const Json& settings, const ModelFolder& folder, const EncoderConfig& config, const std::string& name);

/// Every run's start model is there, and what its variant can begin with; returns what is worth a warning (check_model). Errors: as
/// resolve_model, ModelFolder::open, check_model, check_start_model and check_max_length; settings: a model with token-routed blocks under
/// a variant that needs a dense one; layers that a variant names and the model lacks; prefixes of an analysis beyond
/// its embeddings.
std::vector<std::string> check_start_models(const Experiment& experiment);

}  // namespace faceter
