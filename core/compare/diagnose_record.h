#pragma once
#include <span>
#include <vector>

#include "compare/diagnose_data.h"
#include "compare/diagnosis.h"
#include "data/evaluation_set.h"
#include "record/run_directory.h"

namespace faceter {

/// Why a run did not reach its end; nothing of one that did.
std::vector<Finding> diagnose_end(const RunDirectory& run);

/// What a run's journal says of its training: loss and gradient by task, the learning rate against the curve, the temperature.
std::vector<Finding> diagnose_training(const RunDirectory& run);

/// Of the batches that a run has trained on; older journals have none.
BatchPairs recorded_pairs(const RunDirectory& run);

/// What the run gained over the start model, by data set, with the texts that lost most (of `sets`, the run's evaluation data). The start
/// model's scores are those of start_run_of().
std::vector<Finding> diagnose_gain(const RunDirectory& run, std::span<const EvaluationSet> sets);

}  // namespace faceter
