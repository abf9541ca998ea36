#include "stage_scores.h"

#include <algorithm>

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
    const std::string watched = watched_by(planned);
    CachedEmbedder embedder(model_);
    embedder.share_work(*run_.group);
    Json scores = Json::object();
    double sum = 0, watched_score = 0;
    for (const EvaluationSet* set : scored(planned)) {
        run_.journal->phase("evaluate " + set->name);
        const double score = evaluate_set(embedder, *set, routes_for(model_, *set, "")).score;
        scores[set->name] = score;
        sum += score;
        if (set->name == watched) watched_score = score;
    }
    Json event = {{"step", step}, {"scores", scores}};
    if (index > 0) event["stage"] = index;
    if (run_.scores_in_bf16()) event["compute"] = "bf16";
    run_.journal->event("evaluation", event);
    run_.journal->phase(planned.stage.name == "train" ? "train" : "train " + planned.stage.name);
    return watched.empty() ? (scores.empty() ? 0 : sum / static_cast<double>(scores.size())) : watched_score;
}

}  // namespace faceter::worker
