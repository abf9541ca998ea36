#pragma once
#include "checkpoint/model_description.h"
#include "model/embedding_model.h"

namespace faceter {

/// What faceter.json says of this model. Adapters that a router keeps are not listed: its own files do.
ModelDescription description_of(const EmbeddingModel& model);

/// Gives a model that was opened without weights what its description names: further encoders, task experts, token-routed blocks, tasks and
/// routes. Adapters come from their folders. Errors (data): a description of another model.
void shape_model(EmbeddingModel& model, const ModelDescription& description);

/// Makes the block a mixture of `count` task experts, each a copy of its dense MLP and norms (`shared_norms`: of the MLP alone), beside
/// which it stays (MoTE, section 3.1: upcycling).
void upcycle_to_task_experts(Block& block, int count, bool shared_norms);

/// The other way: one dense block with the mean of its task experts' weights (MoTE, section 6: EA). Without task experts it stays as it is.
void fold_task_experts(Block& block);

}  // namespace faceter
