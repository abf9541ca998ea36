#pragma once
#include <string_view>

#include "data/training_set.h"

namespace faceter {

// What an objective may need of every example; the errors (data) name the set, how many examples lack it, and what to do. `objective`: its
// name in an experiment.

/// At least one hard negative.
void require_negatives(const TrainingSet& set, std::string_view objective);
/// A score of the positive and of each hard negative.
void require_scores(const TrainingSet& set, std::string_view objective);
/// Something that orders its pairs: scores of all examples, or hard negatives below positives where none has any.
void require_order(const TrainingSet& set, std::string_view objective);

}  // namespace faceter
