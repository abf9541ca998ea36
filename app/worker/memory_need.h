#pragma once
#include "common/json.h"
#include "model/embedding_model.h"

namespace faceter::worker {

/// Memory of tensors while a model embeds, a form of computing each: [{"compute", "bytes"}]. Counted from sizes, without what the program
/// itself takes.
Json memory_to_embed(const EmbeddingModel& model);

/// What a GPU holds while a method trains the model, in float32 with AdamW on batches of 32 pairs of 128 tokens, four tasks
/// (train/memory_forecast.h): [{"method", "parameters" (trained), "bytes", "bytes_recomputed" (with activation checkpointing)}], of methods
/// that begin with a dense model. Empty for a model that has experts, routed blocks or adapters: it is what such a method leaves.
Json memory_to_train(const EmbeddingModel& model);

}  // namespace faceter::worker
