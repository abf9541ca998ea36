#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "train/trainer.h"

namespace faceter {

/// Bytes of tensors that training has on an accelerator, in one process; of several, what NCCL takes for itself aside.
struct MemoryForecast {
    std::uint64_t weights = 0;  ///< of the whole model, experts and adapters among them, of what its objective brings (a guide, a map), and
                                ///< of the best so far, where these are kept
    std::uint64_t moments = 0;  ///< of the optimiser
    std::uint64_t gradients = 0;  ///< of what the batch trains: not of the experts of other tasks
    std::uint64_t most = 0;       ///< at any time of a step
    std::int64_t parameters = 0;  ///< that are trained
    /// What comes and goes beyond those three: activations, the loss, weights in half precision.
    std::uint64_t passing() const { return most - weights - moments - gradients; }
};

/// A copy of the model on the device that has shapes and no values (model/shape_device.h).
std::unique_ptr<EmbeddingModel> shapes_of(const EmbeddingModel& model);

/// What is trained, and how.
struct ForecastStage {
    const Stage& stage;
    const PairBatcher& batcher;  ///< of a stage that embeds its documents once: they are embedded already
    TrainingSettings settings;
    /// An objective that is attached to the shapes. Its guide embeds the batch's texts there, each as one of its own.
    std::function<std::unique_ptr<Objective>(const EmbeddingModel& shapes)> objective;
    int ranks = 1;  ///< processes that share a batch, each on a device of its own: what the first has, and no other has a larger share
    bool keeps_best = false;  ///< the trained weights of its best score lie beside those that are trained (early stopping)
};

/// Counted, not estimated: the trainer takes a step over the batch of `plan` on shapes of `model`, wherever that lies, as an accelerator
/// takes it. Nothing is computed and nothing but shapes is read, so a step costs milliseconds. What the count lacks is named in
/// model/shape_device.h; attention with a bias is counted as PyTorch composes it, where CUDA's own kernel may keep less. Errors: as the
/// trainer's; c10::Error: an objective reads values, which shapes do not have.
MemoryForecast forecast_memory(const EmbeddingModel& model, const ForecastStage& stage, const BatchPlan& plan);

/// The examples, longest first, of the stage's task whose `count` longest are the longest: no batch of `count` examples of one task takes
/// more than the first of these. `context`: the stage's; `negatives`: whether its objective reads hard negatives.
BatchPlan longest_pairs(const CurriculumContext& context, const PairBatcher& batcher, std::int64_t hidden_dim, bool negatives,
                        std::int64_t count);

/// The largest batch of at most `limit` pairs whose bytes are within `bytes`; 0: none. `bytes_of` never falls.
std::int64_t largest_batch(std::uint64_t bytes, std::int64_t limit, const std::function<std::uint64_t(std::int64_t pairs)>& bytes_of);

}  // namespace faceter
