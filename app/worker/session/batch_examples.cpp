#include <ATen/Parallel.h>

#include "common/error.h"
#include "common/file.h"
#include "plugin/loader.h"
#include "plugin/run_model.h"
#include "plugin/stage_plan.h"
#include "record/run_directory.h"
#include "session/seen_text.h"
#include "session/session_data.h"

namespace faceter::worker {
namespace {

constexpr std::size_t most_shown_bytes = 2000;
constexpr std::int64_t most_step = 1'000'000, told_batches = 1000;

std::string shortened(std::string_view text) {
    const std::string_view start = start_of_text(text, most_shown_bytes);
    return start.size() < text.size() ? std::string(start) + " …" : std::string(text);
}

/// A curriculum that has its plan in a file reads it; what it might write is not the run's.
void copy_plans(const RunDirectory& run, const fs::path& folder) {
    std::error_code none;
    if (const fs::path plans = run.folder() / "curriculum"; fs::is_directory(plans, none))
        fs::copy(plans, folder, fs::copy_options::recursive | fs::copy_options::overwrite_existing);
}

void check_drawable(const PlannedStage& planned) {
    const Json& loss = planned.settings.at("objective");
    const std::string& stage = planned.stage.name;
    if (!planned.filter.is_null() || !planned.mine.is_null())
        throw usage_error("stage '{}' chose its examples or negatives by a model before it began; its batches cannot be drawn again",
                          stage);
    if (registry().make_objective(json_at<std::string>(loss, "method", "objective"), loss)->segmented())
        throw usage_error("stage '{}' trains on pieces of texts; its batches cannot be shown", stage);
}

Json examples_of(const BatchPlan& plan, const std::vector<const TrainingSet*>& sets) {
    Json examples = Json::array();
    for (std::size_t i = 0; i < plan.items.size(); ++i) {
        const TrainingSet& set = *sets.at(plan.items[i].set);
        const Example& example = set.examples.at(plan.items[i].example);
        examples.push_back({{"set", set.name},
                            {"anchor", shortened(set.texts[example.anchor])},
                            {"positive", shortened(set.texts[example.positive])},
                            {"kept", plan.keep.empty() || plan.keep.at(i) != 0}});
    }
    return examples;
}

}  // namespace

/// {"run": folder, "step": from 1, of its first stage} -> {"step", "batches": [{"task": "" for one of several, "temperature", "examples":
/// [{"set", "anchor", "positive", "kept": false where it is but a negative of the others}]}]}: what that step was trained on, drawn again
/// from the run's settings. Texts longer than 2,000 bytes are shown shortened. Usage error: a stage whose batches cannot be drawn again.
Json batch_examples(const Json& params, SessionData& data, Request& request) {
    const RunDirectory run(json_at<std::string>(params, "run", "batch_examples"));
    const auto step = json_at<std::int64_t>(params, "step", "batch_examples");
    if (step < 1 || step > most_step) throw usage_error("batch_examples: step {} is not between 1 and {}", step, most_step);
    if (run.info().is_baseline()) throw usage_error("{}: the start model was not trained", run.info().shown_name());
    const Json settings = run.settings();
    request.progress("open the model", 0, 0);
    const EmbeddingModel& model = data.prepared_model(settings);
    const auto stages = planned_stages(settings, *variant_of(settings), model);
    if (stages.empty()) throw usage_error("{}: this run trains nothing", run.info().shown_name());
    const PlannedStage& planned = stages.front();
    check_drawable(planned);
    std::vector<std::shared_ptr<std::vector<TrainingSet>>> read;
    std::vector<const TrainingSet*> sets;
    for (const Task& task : model.tasks)
        for (const Json& entry : task.train) {
            request.progress("read " + task.name, sets.size(), 0);
            read.push_back(data.training_sets(settings, entry, task));
            for (const TrainingSet& set : *read.back()) sets.push_back(&set);
        }
    const TemporaryDirectory plans;
    copy_plans(run, plans.path());
    const TrainingSettings training = planned.training();
    CurriculumContext context = curriculum_context(planned, model, sets);
    context.folder = plans.path();
    request.progress("tokenise", 0, 0);
    const PairBatcher batcher(model, sets, cache_directory() / "tokens", at::get_num_threads(), training.lengths);
    const auto curriculum = curriculum_of(planned, context, batcher);
    const std::int64_t before = (step - 1) * training.accumulate;
    for (std::int64_t i = 0; i < before; ++i) {
        if (i % told_batches == 0)
            request.progress("draw the batches before", static_cast<std::size_t>(i), static_cast<std::size_t>(before));
        curriculum->next();
    }
    Json batches = Json::array();
    for (std::int64_t i = 0; i < training.accumulate; ++i) {
        const BatchPlan plan = curriculum->next();
        batches.push_back({{"task", plan.task}, {"temperature", plan.temperature}, {"examples", examples_of(plan, context.sets)}});
    }
    return {{"step", step}, {"batches", std::move(batches)}};
}

}  // namespace faceter::worker
