#pragma once
#include <optional>
#include <string>

#include "model/embedding_model.h"

namespace faceter {

/// The adapters that a released model has for its tasks become adapters of its encoder: stacked beside its weights (jina-embeddings-v3's
/// own release: lora_adaptations in config.json), or PEFT folders inside the model's. `files`: the model's folder as it was opened. Errors
/// (data): a part is missing or has another shape.
void open_task_adapters(EmbeddingModel& model, const ModelFolder& files);

/// The index of the adapter that serves a task by this name: "retrieval.query" is served by one called so, or "retrieval_query".
std::optional<std::size_t> find_task_adapter(const EmbeddingModel& model, const std::string& task);

}  // namespace faceter
