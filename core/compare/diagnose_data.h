#pragma once
#include <span>
#include <vector>

#include "compare/diagnosis.h"
#include "data/evaluation_set.h"
#include "data/training_set.h"

namespace faceter {

/// False negatives and duplicates that a batch of a data set holds, and the negatives that a query really has, as `settings` (a run's)
/// batch and mask them: in each stage whose loss is InfoNCE, of the tasks that it trains.
std::vector<Finding> diagnose_negatives(std::span<const TrainingSet> training, const Json& settings);

/// Training examples that repeat another of their set.
std::vector<Finding> diagnose_repeats(std::span<const TrainingSet> training);

/// Test texts that were trained on (overlap_form()): of retrieval the queries, whose documents may be there by right; else all held-out
/// texts.
std::vector<Finding> diagnose_leaks(std::span<const TrainingSet> training, std::span<const EvaluationSet> evaluation);

}  // namespace faceter
