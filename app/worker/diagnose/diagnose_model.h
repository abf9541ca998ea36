#pragma once
#include <span>
#include <vector>

#include "compare/diagnosis.h"
#include "data/training_set.h"
#include "eval/tasks.h"
#include "model/embedding_model.h"

namespace faceter::worker {

/// A run's model as it was before the first step and as it is now, and the data that it learned from.
struct ModelPair {
    const EmbeddingModel& start;
    const EmbeddingModel& now;
    std::span<const TrainingSet> training;
};

/// How far each encoder, expert and adapter moved from its start, by layer: |W - W0| / |W0|. What changed nothing though texts of a trained
/// task go through it, and what has left its start behind, are alarms.
std::vector<Finding> diagnose_movement(const ModelPair& models);
/// How many texts are longer than the model reads, by task and side, and how many of their tokens are lost.
std::vector<Finding> diagnose_lengths(const ModelPair& models, std::span<const EvaluationSet> evaluation, const Json& settings);
/// Whether pairs belong together as the start model sees it: how often a query is nearer to its own document than to another's; and where
/// a loss learns from scores, whether these rise with its cosines.
std::vector<Finding> diagnose_pairs(const ModelPair& models, const Json& settings);
/// Whether embeddings crowd together: mean cosine, effective rank of the spectrum, uniformity (Wang and Isola, 2020), against the start.
std::vector<Finding> diagnose_collapse(const ModelPair& models, const Json& settings);

}  // namespace faceter::worker
