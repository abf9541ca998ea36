#include "plugin/stage_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "common/error.h"
#include "common/hash.h"
#include "common/strings.h"
#include "plugin/loader.h"
#include "settings/check.h"
#include "settings/core_settings.h"
#include "train/token_budget.h"

namespace faceter {
namespace {

bool is_among(const std::string& task, const std::vector<std::string>& tasks) {
    return tasks.empty() || std::find(tasks.begin(), tasks.end(), task) != tasks.end();
}

std::vector<std::string> tasks_of(const Json& recipe) {
    return json_at<std::vector<std::string>>(filled_in(stage_schema(), recipe), "tasks", "stages");
}

/// The variant's stage under a recipe: its tasks are those that both name. False where none is left.
bool restrict_tasks(Stage& stage, const std::vector<std::string>& tasks) {
    if (tasks.empty()) return true;
    if (stage.tasks.empty()) stage.tasks = tasks;
    std::erase_if(stage.tasks, [&](const std::string& task) { return !is_among(task, tasks); });
    return !stage.tasks.empty();
}

PlannedStage under_recipe(const Json& settings, const Json& given, std::size_t part, Stage stage) {
    const Json recipe = filled_in(stage_schema(), given);
    const auto name = json_at<std::string>(recipe, "name", "stages");
    stage.name = stage.name == Stage{}.name ? name : fmt::format("{}: {}", name, stage.name);
    PlannedStage planned{std::move(stage), settings, part, recipe.at("filter"), recipe.at("mine"), tasks_of(recipe)};
    for (const char* part : {"training", "curriculum", "objective"}) planned.settings[part] = recipe.at(part);
    return planned;
}

/// A stage that trains one task alone draws from it by its weight, too.
void require_weight(const PlannedStage& planned, const std::vector<Task>& tasks, const std::map<std::string, std::size_t>& sizes) {
    if (json_at<std::string>(planned.settings.at("curriculum"), "method", "curriculum") != "task_aware") return;
    std::vector<std::string> weightless;
    for (const Task& task : tasks) {
        const auto size = sizes.find(task.name);
        if (size == sizes.end() || size->second == 0) continue;
        if (task.weight > 0) return;
        weightless.push_back(task.name);
    }
    if (!weightless.empty())
        throw settings_error(
            "stage '{}': no batch can be drawn, because curriculum task_aware draws them by weight and that of {} is 0; give it a weight, "
            "or name the tasks that are trained under 'stages'",
            planned.stage.name, join(weightless, ", "));
}

}  // namespace

std::uint64_t stage_seed(std::uint64_t run_seed, std::size_t index) {
    return index == 0 ? run_seed : hash64(fmt::format("stage {}", index), run_seed);
}

TrainingSettings PlannedStage::training() const {
    TrainingSettings training = TrainingSettings::from_json(settings);
    training.seed = seed;
    return training;
}

std::vector<PlannedStage> planned_stages(const Json& settings, const Variant& variant, const EmbeddingModel& model) {
    const std::vector<Stage> stages = variant.stages(model);
    std::vector<PlannedStage> planned;
    const Json recipes = json_or<Json>(settings, "stages", Json::array(), "settings");
    for (std::size_t part = 0; part < recipes.size(); ++part)
        for (Stage stage : stages)
            if (restrict_tasks(stage, tasks_of(recipes[part])))
                planned.push_back(under_recipe(settings, recipes[part], part, std::move(stage)));
    if (recipes.empty())
        for (const Stage& stage : stages) planned.push_back({stage, settings, 0, {}, {}, {}});
    const std::uint64_t seed = seed_of(settings);
    for (std::size_t i = 0; i < planned.size(); ++i) planned[i].seed = stage_seed(seed, i);
    return planned;
}

CurriculumContext curriculum_context(const PlannedStage& planned, const EmbeddingModel& model, std::span<const TrainingSet* const> sets) {
    const Stage& stage = planned.stage;
    CurriculumContext context;
    for (const Task& task : model.tasks)
        if (is_among(task.name, stage.tasks)) context.tasks.push_back(task);
    std::map<std::string, std::size_t> sizes;
    for (const TrainingSet* set : sets) {
        context.sets.push_back(set);
        sizes[set->task] += set->examples.size();
    }
    for (const std::string& task : stage.tasks)
        if (sizes[task] == 0)
            throw data_error("stage '{}': task '{}' has no training examples; give it data under tasks.{}.train, or leave it out",
                             stage.name, task, task);
    require_weight(planned, context.tasks, sizes);
    if (stage.budget)
        for (const Task& task : context.tasks) context.max_examples[task.name] = stage.budget(task.name, sizes);
    context.batch_size = planned.training().batch_size;
    context.seed = planned.seed;
    context.run_seed = seed_of(planned.settings);
    context.settings = planned.settings.at("curriculum");
    context.run = planned.settings;
    context.stage = stage.name;
    return context;
}

std::vector<double> computed_tokens(const Stage& stage, const Objective& objective, const PairBatcher& batcher,
                                    std::span<const ExampleReference> items) {
    constexpr std::int64_t so_wide_that_only_tokens_count = std::int64_t{1} << 40;
    const PairBatcher::Sides sides = embedded_sides(stage, objective);
    const auto read = objective.segmented();
    if (!read) return batcher.work_of(items, sides, so_wide_that_only_tokens_count);
    const PairBatch batch = batcher.build(items, 1, sides);  // what stands on a side that is not read is not computed
    const auto length = [&batch](std::size_t row) { return static_cast<double>(batch.tokens.layout->length(batch.rows[row])); };
    std::vector<double> tokens;
    for (std::size_t i = 0; i < items.size(); ++i)
        tokens.push_back((*read == ReadTexts::documents ? 0 : length(i)) + (*read == ReadTexts::queries ? 0 : length(items.size() + i)));
    return tokens;
}

std::unique_ptr<Curriculum> curriculum_of(const PlannedStage& planned, const CurriculumContext& context, const PairBatcher& batcher) {
    auto curriculum = registry().make_curriculum(json_at<std::string>(context.settings, "method", "curriculum"), context);
    const auto budget = json_or<double>(planned.settings.at("training"), "batch_tokens", 0, "training");
    if (budget <= 0) return curriculum;
    const TrainingSettings training = planned.training();
    const Json& loss = planned.settings.at("objective");
    const std::shared_ptr<const Objective> objective = registry().make_objective(json_at<std::string>(loss, "method", "objective"), loss);
    const auto tokens_of = [&batcher, stage = planned.stage, objective](std::span<const ExampleReference> items) {
        return computed_tokens(stage, *objective, batcher, items);
    };
    return within_tokens(std::move(curriculum), context.batch_size, budget, tokens_of, training.steps > 0 ? 1 : training.epochs,
                         objective->segmented() ? std::function<void(const std::string&)>() : context.warn);
}

}  // namespace faceter
