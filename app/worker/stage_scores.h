#pragma once
#include <map>
#include <memory>

#include "eval/embedder.h"
#include "plugin/stage_plan.h"
#include "run_data.h"

namespace faceter::worker {

/// Scores of the model while its stages train, on rank 0: on the run's evaluation data, of an adapter on its tasks' validation data.
class StageScores {
  public:
    StageScores(const RunContext& run, const RunData& data, const EmbeddingModel& model) : run_(run), data_(data), model_(model) {}
    /// Whether an adapter's stage has data to be scored on.
    bool has_validation(const Stage& stage) const;
    /// On rank 0. Errors (settings): early stopping watches a data set that is not scored. One that is scored and does not go through what
    /// the stage trains is told of.
    void check(const PlannedStage& planned) const;
    /// On rank 0: whether any score says how the stage does.
    bool is_judged(const PlannedStage& planned) const { return planned.stage.adapter >= 0 || !judging(planned).empty(); }
    /// The score that early stopping watches; percent.
    double evaluate(const PlannedStage& planned, std::size_t index, std::int64_t step);

  private:
    double evaluate_all(const PlannedStage& planned, std::size_t index, std::int64_t step) const;
    double evaluate_adapter(const PlannedStage& planned, std::size_t index, std::int64_t step);
    bool trains_adapter(const PlannedStage& planned, int adapter) const;
    bool reaches(const PlannedStage& planned, const EvaluationSet& set) const;
    std::vector<const EvaluationSet*> scored(const PlannedStage& planned) const;
    std::vector<const EvaluationSet*> judging(const PlannedStage& planned) const;
    const RunContext& run_;
    const RunData& data_;
    const EmbeddingModel& model_;
    std::unique_ptr<CachedEmbedder> adapter_embedder_;  ///< documents that stages of adapters leave as they are
};

}  // namespace faceter::worker
