#pragma once
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compare/diagnosis.h"
#include "data/evaluation_set.h"
#include "data/training_set.h"
#include "record/run_directory.h"

namespace faceter {

/// Pairs of a batch on average, by the place of the experiment's stage and the task (empty: where batches mix tasks).
using BatchPairs = std::map<std::pair<std::size_t, std::string>, double>;

/// False negatives and duplicates that a batch of a data set holds, and the negatives that a query really has, as `settings` (a run's)
/// batch and mask them: in each stage whose loss is InfoNCE, of the tasks that it trains. `recorded`: what a run's batches were, which are
/// smaller than planned where a set is, or its texts are long. `only`: the place of one stage, whose data `training` is.
std::vector<Finding> diagnose_negatives(std::span<const TrainingSet> training, const Json& settings, const BatchPairs& recorded = {},
                                        std::optional<std::size_t> only = {});

/// Sets that are others now than the run's journal says that it read: what is said of them is of what they are now.
std::vector<Finding> diagnose_changes(const RunDirectory& run, std::span<const TrainingSet> training,
                                      std::span<const EvaluationSet> evaluation);

/// Training examples that repeat another of their set.
std::vector<Finding> diagnose_repeats(std::span<const TrainingSet> training);

/// Test texts that were trained on (overlap_form()), then those that were but for a word (NearCopies): of retrieval the queries, whose
/// documents may be there by right; else all held-out texts.
std::vector<Finding> diagnose_leaks(std::span<const TrainingSet> training, std::span<const EvaluationSet> evaluation);

}  // namespace faceter
