#pragma once
#include <span>
#include <vector>

#include "model/embedding_model.h"
#include "plugin/registry.h"
#include "train/pair_batch.h"

namespace faceter {

/// A stage and the recipe that it is trained by.
struct PlannedStage {
    Stage stage;
    Json settings;                            ///< the run's, with the training, curriculum and objective of this stage
    std::size_t part = 0;                     ///< which of the experiment's stages it belongs to
    Json filter{}, mine{};                    ///< what that one does to its data first; null: nothing
    std::vector<std::string> recipe_tasks{};  ///< the tasks that one names; empty: all
    std::uint64_t seed = 1;                   ///< of what it draws: batches, dropout, masks
    TrainingSettings training() const;        ///< its recipe, under its seed
};

/// Every stage draws from a stream of its own, the first from the run's: stages over the same tasks do not see the same batches again.
std::uint64_t stage_seed(std::uint64_t run_seed, std::size_t index);

/// What a run trains, in order: the variant's stages, once for each stage of the experiment (`stages:`), on the tasks that both name.
std::vector<PlannedStage> planned_stages(const Json& settings, const Variant& variant, const EmbeddingModel& model);

/// What the stage's curriculum is made from. Errors (data): a task that the stage names and that has no examples in `sets`.
CurriculumContext curriculum_context(const PlannedStage& planned, const EmbeddingModel& model, std::span<const TrainingSet* const> sets);

/// The stage's curriculum, its batches within training.batch_tokens where that is set. `batcher` has the tokens of the context's sets, and
/// must outlive it.
std::unique_ptr<Curriculum> curriculum_of(const PlannedStage& planned, const CurriculumContext& context, const PairBatcher& batcher);

/// The tokens of each pair that a stage under this loss computes with, as training.batch_tokens counts them.
std::vector<double> computed_tokens(const Stage& stage, const Objective& objective, const PairBatcher& batcher,
                                    std::span<const ExampleReference> items);

}  // namespace faceter
