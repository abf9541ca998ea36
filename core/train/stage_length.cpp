#include "train/stage_length.h"

#include <algorithm>

namespace faceter {

StageLength stage_length(const TrainingSettings& settings, const Curriculum& curriculum) {
    const std::int64_t accumulate = settings.accumulate;
    if (settings.steps > 0) return {settings.steps, accumulate, accumulate};
    const std::int64_t planned = curriculum.num_batches() * settings.epochs, left = planned % accumulate;
    if (planned > 0)  // the last step may be a short one: no example is left out
        return {(planned + accumulate - 1) / accumulate, accumulate, left > 0 ? left : accumulate};
    const std::int64_t batches = drawn_batches(curriculum, settings.epochs, settings.batch_size);
    return {std::max<std::int64_t>(1, batches / accumulate), accumulate, accumulate};
}

}  // namespace faceter
