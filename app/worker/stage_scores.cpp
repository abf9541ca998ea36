#include "stage_scores.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/strings.h"
#include "eval/tasks.h"
#include "settings/core_settings.h"
#include "stats/descriptive.h"

namespace faceter::worker {
namespace {

std::string watched_by(const PlannedStage& planned) {
    const Json early = training_of(planned.settings).at("early_stopping");
    return early.is_object() ? json_at<std::string>(early, "dataset", "early_stopping") : "";
}

}  // namespace

bool StageScores::has_validation(const Stage& stage) const {
    return stage.adapter >= 0 && std::any_of(data_.validation().begin(), data_.validation().end(), [&](const EvaluationSet& set) {
               return std::find(stage.tasks.begin(), stage.tasks.end(), set.routing.task) != stage.tasks.end();
           });
}

/// Whether the stage's data go through an adapter: of those that the variant would train, a recipe's tasks may have some alone.
bool StageScores::trains_adapter(const PlannedStage& planned, int adapter) const {
    const auto& tasks = planned.recipe_tasks;
    return planned.stage.adapters.contains(adapter) &&
           (tasks.empty() || std::ranges::any_of(tasks, [&](const std::string& task) {
                return std::ranges::any_of(std::array{Role::query, Role::document},
                                           [&](Role role) { return model_.route(task, role).path.adapter == adapter; });
            }));
}

/// Whether texts of a set go through what the stage trains: another encoder's or adapter's scores stay as they were.
bool StageScores::reaches(const PlannedStage& planned, const EvaluationSet& set) const {
    const Stage& stage = planned.stage;
    const EvaluationRoutes routes = routes_for(model_, set, "");
    return std::ranges::any_of(std::array{&routes.query, &routes.document}, [&](const Route* route) {
        const bool whole = stage.adapters.empty() || stage.base_rate > 0;
        return route->encoder == stage.encoder && (whole || trains_adapter(planned, route->path.adapter));
    });
}

/// Of the sets that are scored: the watched one, or all, as far as they go through what the stage trains.
std::vector<const EvaluationSet*> StageScores::judging(const PlannedStage& planned) const {
    std::vector<const EvaluationSet*> sets = scored(planned);
    std::erase_if(sets, [&](const EvaluationSet* set) { return !reaches(planned, *set); });
    const std::string watched = watched_by(planned);
    const auto found = std::ranges::find(sets, watched, &EvaluationSet::name);
    return found == sets.end() ? sets : std::vector{*found};
}

std::vector<const EvaluationSet*> StageScores::scored(const PlannedStage& planned) const {
    const auto wanted = json_at<std::vector<std::string>>(training_of(planned.settings), "evaluate_datasets", "training");
    std::vector<const EvaluationSet*> sets;
    for (const EvaluationSet& set : data_.evaluation())
        if (wanted.empty() || std::find(wanted.begin(), wanted.end(), set.name) != wanted.end()) sets.push_back(&set);
    return sets;
}

void StageScores::check(const PlannedStage& planned) const {
    if (planned.stage.adapter >= 0) return;
    std::vector<std::string> names;
    for (const EvaluationSet* set : scored(planned)) names.push_back(set->name);
    if (names.empty() && training_of(planned.settings).at("early_stopping").is_object())
        throw settings_error(
            "stage '{}': training.early_stopping watches scores, and none of evaluation.datasets is there to be scored; add one, or leave "
            "early_stopping out",
            planned.stage.name);
    const std::string watched = watched_by(planned);
    if (!watched.empty() && std::find(names.begin(), names.end(), watched) == names.end())
        throw settings_error("training.early_stopping.dataset is '{}', which is not scored during training{}", watched,
                             suggestion(watched, names));
    if (!training_of(planned.settings).at("early_stopping").is_object()) return;
    std::vector<std::string> judges;
    for (const EvaluationSet* set : judging(planned)) judges.push_back(set->name);
    if (judges.empty())
        run_.warn(fmt::format(
            "stage '{}': no data set that is scored goes through what it trains, so it trains to the end: early_stopping has no "
            "effect there",
            planned.stage.name));
    else if (!watched.empty() && judges.front() != watched)
        run_.warn(
            fmt::format("stage '{}': early_stopping.dataset '{}' does not go through what it trains; those that do are watched there ({})",
                        planned.stage.name, watched, join(judges, ", ")));
}

double StageScores::evaluate(const PlannedStage& planned, std::size_t index, std::int64_t step) {
    return planned.stage.adapter >= 0 ? evaluate_adapter(planned, index, step) : evaluate_all(planned, index, step);
}

/// The mean score of the stage's own validation data through its adapter, or that of the one that is watched, where it is among them.
/// Documents that it leaves as they are are embedded once.
double StageScores::evaluate_adapter(const PlannedStage& planned, std::size_t index, std::int64_t step) {
    const Stage& stage = planned.stage;
    if (!adapter_embedder_) adapter_embedder_ = std::make_unique<CachedEmbedder>(model_);
    adapter_embedder_->share_work(*run_.group);
    const Path trained = Path::of_adapter(stage.adapter);
    adapter_embedder_->renew(trained);
    Json scores = Json::object();
    const std::string watched = watched_by(planned);
    std::vector<double> all, of_watched;  // two tasks may call theirs alike
    run_.journal->phase("validate " + stage.name);
    for (const EvaluationSet& set : data_.validation()) {
        if (std::find(stage.tasks.begin(), stage.tasks.end(), set.routing.task) == stage.tasks.end()) continue;
        EvaluationRoutes routes = routes_for(model_, set, "");
        routes.query.path = trained;
        routes.document.path = stage.adapt_documents ? trained : Path{};
        routes.query.routed = routes.document.routed = false;
        all.push_back(evaluate_set(*adapter_embedder_, set, routes).score);
        scores[set.name] = all.back();
        if (set.name == watched) of_watched.push_back(all.back());
    }
    Json event = {{"step", step}, {"stage", index}, {"scores", scores}};
    if (run_.scores_in_bf16()) event["compute"] = "bf16";
    run_.journal->event("evaluation", event);
    run_.journal->phase("train " + stage.name);
    return mean(of_watched.empty() ? all : of_watched);
}

double StageScores::evaluate_all(const PlannedStage& planned, std::size_t index, std::int64_t step) const {
    const std::vector<const EvaluationSet*> judges = judging(planned);
    CachedEmbedder embedder(model_);
    embedder.share_work(*run_.group);
    Json scores = Json::object();
    std::vector<double> judged;
    for (const EvaluationSet* set : scored(planned)) {
        run_.journal->phase("evaluate " + set->name);
        const double score = evaluate_set(embedder, *set, routes_for(model_, *set, "")).score;
        scores[set->name] = score;
        if (std::ranges::find(judges, set) != judges.end()) judged.push_back(score);
    }
    Json event = {{"step", step}, {"scores", scores}};
    if (index > 0) event["stage"] = index;
    if (run_.scores_in_bf16()) event["compute"] = "bf16";
    run_.journal->event("evaluation", event);
    run_.journal->phase(planned.stage.name == "train" ? "train" : "train " + planned.stage.name);
    return judged.empty() ? 0 : mean(judged);
}

}  // namespace faceter::worker
