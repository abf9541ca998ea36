#pragma once
#include <functional>

#include "plugin/stage_plan.h"
#include "train/memory_forecast.h"

namespace faceter::worker {

/// A start model under a variant, on the device that has shapes alone (model/shape_device.h).
std::unique_ptr<EmbeddingModel> shapes_under(const Variant& variant, const EmbeddingModel& start);

/// The stage's objective, not attached to a model yet.
std::unique_ptr<Objective> objective_of(const PlannedStage& planned);

/// What a stage takes of an accelerator, counted on shapes of its model (train/memory_forecast.h) over batches of its longest pairs.
class StageMemory {
  public:
    /// `model` lies anywhere, on the meta device too; where the stage embeds its documents once, the batcher has their rows. `ranks`: the
    /// processes that share its batches.
    StageMemory(const EmbeddingModel& model, const PlannedStage& planned, const CurriculumContext& context, const PairBatcher& batcher,
                int ranks = 1);

    /// Of a batch of so many pairs, 0: as set.
    MemoryForecast forecast(bool recomputed, std::int64_t pairs = 0) const;
    /// Pairs of the largest batch within so many bytes; 0: none. Not for stages whose batches are cut by tokens.
    std::int64_t largest(std::uint64_t bytes, bool recomputed) const;
    /// {stage, pairs, ranks, weights, moments, gradients, bytes (as set), bytes_kept, bytes_recomputed (without and with activation
    /// checkpointing)} of its batch; with `size` (0: not known) {device_bytes} and the largest batches in it {largest_batch,
    /// largest_batch_recomputed}.
    Json report(std::uint64_t size) const;
    /// Where it takes more than the device has: what it takes and what would fit; else empty.
    static std::string problem_in(const Json& report);

  private:
    BatchPlan batch(std::int64_t pairs) const;
    std::unique_ptr<Objective> attached(const EmbeddingModel& shapes) const;
    const EmbeddingModel& model_;
    const PlannedStage& planned_;
    const PairBatcher& batcher_;
    int ranks_;
    TrainingSettings settings_;
    double batch_tokens_;
    BatchPlan longest_;  ///< pairs, longest first
};

}  // namespace faceter::worker
