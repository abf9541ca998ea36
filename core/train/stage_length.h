#pragma once
#include <cstdint>

#include "train/curriculum.h"
#include "train/training_settings.h"

namespace faceter {

/// How many steps a stage takes, and how many batches each of them.
struct StageLength {
    std::int64_t steps = 1;
    std::int64_t accumulate = 1;    ///< batches of a step
    std::int64_t last_batches = 1;  ///< of the last one: where a curriculum plans its epochs, what the steps before have left of them
    /// Of a step, from 0.
    std::int64_t batches_of(std::int64_t step) const { return step + 1 == steps ? last_batches : accumulate; }
};
StageLength stage_length(const TrainingSettings& settings, const Curriculum& curriculum);

}  // namespace faceter
