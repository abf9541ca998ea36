#include <ATen/Parallel.h>

#include <map>
#include <optional>
#include <set>

#include "common/error.h"
#include "common/file.h"
#include "plugin/loader.h"
#include "plugin/run_model.h"
#include "plugin/stage_plan.h"
#include "record/run_directory.h"
#include "session/seen_text.h"
#include "session/session_data.h"
#include "train/stage_length.h"

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

/// The first stage of a run, whose batches are drawn as the run draws them.
class Redrawn {
  public:
    Redrawn(const Json& params, const char* method, SessionData& data, Request& request)
        : run_(json_at<std::string>(params, "run", method)), settings_(run_.settings()) {
        if (run_.info().is_baseline()) throw usage_error("{}: the start model was not trained", run_.info().shown_name());
        request.progress("open the model", 0, 0);
        const EmbeddingModel& model = data.prepared_model(settings_);
        const auto stages = planned_stages(settings_, *variant_of(settings_), model);
        if (stages.empty()) throw usage_error("{}: this run trains nothing", run_.info().shown_name());
        const PlannedStage& planned = stages.front();
        check_drawable(planned);
        for (const Task& task : model.tasks)
            for (const Json& entry : task.train) {
                request.progress("read " + task.name, sets_.size(), 0);
                read_.push_back(data.training_sets(settings_, entry, task));
                for (const TrainingSet& set : *read_.back()) sets_.push_back(&set);
            }
        copy_plans(run_, plans_.path());
        training_ = planned.training();
        context_ = curriculum_context(planned, model, sets_);
        context_.folder = plans_.path();
        request.progress("tokenise", 0, 0);
        batcher_.emplace(model, sets_, cache_directory() / "tokens", at::get_num_threads(), training_.lengths);
        request.progress("plan the batches", 0, 0);  // by a teacher's difficulties it takes its time
        curriculum_ = curriculum_of(planned, context_, *batcher_);
    }
    BatchPlan next() { return curriculum_->next(); }
    const std::vector<const TrainingSet*>& sets() const { return context_.sets; }
    StageLength length() const { return stage_length(training_, *curriculum_); }

  private:
    RunDirectory run_;
    Json settings_;
    std::vector<std::shared_ptr<std::vector<TrainingSet>>> read_;
    std::vector<const TrainingSet*> sets_;
    TemporaryDirectory plans_;
    TrainingSettings training_;
    CurriculumContext context_;
    std::optional<PairBatcher> batcher_;
    std::unique_ptr<Curriculum> curriculum_;
};

/// The tasks, or data sets, that a batch gives a loss of.
void add_trained(const BatchPlan& plan, const std::vector<const TrainingSet*>& sets, bool data_sets, std::set<std::string>& names) {
    if (!plan.task.empty() && !data_sets) {
        names.insert(plan.task);
        return;
    }
    for (std::size_t i = 0; i < plan.items.size(); ++i) {
        const TrainingSet& set = *sets.at(plan.items[i].set);
        if (plan.keep.empty() || plan.keep.at(i) != 0) names.insert(data_sets ? set.name : set.task);
    }
}

}  // namespace

/// {"run": folder, "step": from 1, of its first stage} -> {"step", "batches": [{"task": "" for one of several, "temperature", "examples":
/// [{"set", "anchor", "positive", "kept": false where it is but a negative of the others}]}]}: what that step was trained on, drawn again
/// from the run's settings. Texts longer than 2,000 bytes are shown shortened. Usage error: a stage whose batches cannot be drawn again.
Json batch_examples(const Json& params, SessionData& data, Request& request) {
    const auto step = json_at<std::int64_t>(params, "step", "batch_examples");
    if (step < 1 || step > most_step) throw usage_error("batch_examples: step {} is not between 1 and {}", step, most_step);
    Redrawn stage(params, "batch_examples", data, request);
    const StageLength length = stage.length();
    const std::int64_t before = (step - 1) * length.accumulate;
    for (std::int64_t i = 0; i < before; ++i) {
        if (i % told_batches == 0)
            request.progress("draw the batches before", static_cast<std::size_t>(i), static_cast<std::size_t>(before));
        stage.next();
    }
    Json batches = Json::array();
    for (std::int64_t i = 0; i < length.batches_of(step - 1); ++i) {
        const BatchPlan plan = stage.next();
        batches.push_back({{"task", plan.task}, {"temperature", plan.temperature}, {"examples", examples_of(plan, stage.sets())}});
    }
    return {{"step", step}, {"batches", std::move(batches)}};
}

/// {"run": folder, "data_sets": false} -> {"tasks": [name ...], "steps": [[place in tasks ...] ...]}: which tasks (data sets) each step of
/// its first stage trains, in the order that the run would meet them, whether it has begun or not; the first million of them. Usage error:
/// a stage whose batches cannot be drawn again.
Json planned_order(const Json& params, SessionData& data, Request& request) {
    const auto data_sets = json_or<bool>(params, "data_sets", false, "planned_order");
    Redrawn stage(params, "planned_order", data, request);
    const StageLength length = stage.length();
    const std::int64_t total = std::min(length.steps, most_step);
    std::map<std::string, std::size_t> places;
    Json names = Json::array(), steps = Json::array();
    for (std::int64_t step = 0; step < total; ++step) {
        if (step % told_batches == 0) request.progress("draw the batches", static_cast<std::size_t>(step), static_cast<std::size_t>(total));
        std::set<std::string> tasks;
        for (std::int64_t i = 0; i < length.batches_of(step); ++i) add_trained(stage.next(), stage.sets(), data_sets, tasks);
        Json trained = Json::array();
        for (const std::string& task : tasks) {
            const auto place = places.emplace(task, places.size());
            if (place.second) names.push_back(task);
            trained.push_back(place.first->second);
        }
        steps.push_back(std::move(trained));
    }
    return {{"tasks", std::move(names)}, {"steps", std::move(steps)}};
}

}  // namespace faceter::worker
