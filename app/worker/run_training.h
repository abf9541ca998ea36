#pragma once
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "plugin/stage_plan.h"
#include "run_data.h"
#include "stage_scores.h"
#include "train/trainer.h"

namespace faceter::worker {

/// The stages of a run, one after another, on every rank: what each does to its data, its batches, its steps and its checkpoints.
class RunTraining {
  public:
    RunTraining(const RunContext& run, RunData& data, EmbeddingModel& model)
        : run_(run), data_(data), model_(model), scores_(run, data, model) {}
    /// From `resume` on where there is one. False where it was stopped.
    bool train(const Variant& variant, const std::optional<Checkpoint>& resume);

  private:
    /// The texts of the lengths of some stages, and whether they are in segments: such stages share their tokens, and the documents that
    /// were embedded once.
    struct Texts {
        std::vector<TrainingSet> segments;  ///< in place of the run's sets; empty: these
        std::unique_ptr<PairBatcher> batcher;
    };
    using TextsKey = std::pair<TokenLengths, std::optional<ReadTexts>>;

    void announce(const std::vector<PlannedStage>& stages);
    void check_stages(const std::vector<PlannedStage>& stages, std::size_t first) const;
    bool train_stage(std::size_t index, const PlannedStage& planned, const std::optional<Checkpoint>& resume);
    void foresee_memory(std::size_t index, const PlannedStage& planned, const CurriculumContext& context, const PairBatcher& batcher);
    bool is_judged(const PlannedStage& planned) const;
    EarlyStopping early_stopping_of(const PlannedStage& planned) const;
    TrainerEvents events_of(const PlannedStage& planned, std::size_t index, Trainer& trainer);
    void save(const Trainer& trainer, std::size_t index, const CheckpointState& state, const std::vector<NamedTensor>& optimizer) const;
    Texts& texts_of(const TokenLengths& lengths, const Objective& objective);
    const PairBatcher& batcher_of(const TokenLengths& lengths, const Objective& objective);
    std::vector<const TrainingSet*> sets_of(const Texts& texts) const;
    CurriculumContext context_of(const PlannedStage& planned, const Objective& objective);

    const RunContext& run_;
    RunData& data_;
    EmbeddingModel& model_;
    StageScores scores_;
    std::map<TextsKey, Texts> texts_;
};

}  // namespace faceter::worker
