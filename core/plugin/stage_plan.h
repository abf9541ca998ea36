#pragma once
#include <span>
#include <vector>

#include "model/embedding_model.h"
#include "plugin/registry.h"

namespace faceter {

/// A stage and the recipe that it is trained by.
struct PlannedStage {
    Stage stage;
    Json settings;                            ///< the run's, with the training, curriculum and objective of this stage
    std::size_t part = 0;                     ///< which of the experiment's stages it belongs to
    Json filter{}, mine{};                    ///< what that one does to its data first; null: nothing
    std::vector<std::string> recipe_tasks{};  ///< the tasks that one names; empty: all
};

/// What a run trains, in order: the variant's stages, once for each stage of the experiment (`stages:`), on the tasks that both name.
std::vector<PlannedStage> planned_stages(const Json& settings, const Variant& variant, const EmbeddingModel& model);

/// What the stage's curriculum is made from. Errors (data): a task that the stage names and that has no examples in `sets`.
CurriculumContext curriculum_context(const PlannedStage& planned, const EmbeddingModel& model, std::span<const TrainingSet* const> sets);

}  // namespace faceter
