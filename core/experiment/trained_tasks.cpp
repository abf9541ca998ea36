#include "experiment/trained_tasks.h"

#include <algorithm>

#include "common/error.h"
#include "common/strings.h"
#include "data/entry.h"
#include "experiment/recipes.h"
#include "experiment/setting_value.h"
#include "settings/core_settings.h"

namespace faceter {
namespace {

bool is_alone(const Training& training, const Json& variant) { return training.alone == "always" || has_value(variant, training.alone); }

class Check {
  public:
    /// `validated`: no run of the experiment is scored on evaluation.datasets during training.
    Check(const ResolvedRun& run, const Extension& variant, const Catalogue& catalogue, const std::string& file, bool validated)
        : run_(run),
          training_(variant.training),
          catalogue_(catalogue),
          file_(file),
          tasks_(run.settings.at("tasks")),
          validated_(validated) {}

    void part(const Json& recipe) {
        const auto name = json_or<std::string>(recipe, "name", "", "stages");
        place_ = name.empty() ? "" : fmt::format(" in stage '{}'", name);
        tokens(recipe);
        watched(recipe);
        if (validated_) not_watched(recipe);
        const bool alone = is_alone(training_, run_.settings.at("variant"));
        const bool named = !recipe.at("tasks").empty();
        bool any = false;
        for (const auto& [task, settings] : tasks_.items()) {
            if (!trains(recipe, task)) continue;
            const bool ready = is_given(task) || trains_on(recipe, task, settings);
            any = any || ready;
            if (is_given(task) && settings.at("train").empty()) refuse_trained_anyway(task);
            if (ready) continue;
            if (alone)
                refuse_alone(task, settings);
            else if (named && settings.at("train").empty())
                throw settings_error(
                    "{}: stage '{}' names task {}, which has no training data; give it data under tasks.{}.train, or leave it out of the "
                    "stage",
                    file_, name, faceter::quoted(task), task);
        }
        if (!any)
            throw settings_error(
                "{}: variant '{}' ({}) has nothing to train on{}: no task has training data and, where batches are drawn by weight, one "
                "above 0; add data sets under tasks.*.train",
                file_, run_.variant, run_.method, place_);
        require_any_data();
    }

    /// Of a variant with something to take in place of a task's own training: all that it makes when the training is over counts on a part
    /// of each task.
    void all_trained(const std::vector<Json>& recipes) const {
        if (training_.given.empty() || !is_alone(training_, run_.settings.at("variant"))) return;
        for (const auto& [name, settings] : tasks_.items()) {
            const std::string& task = name;
            const bool trained = std::any_of(recipes.begin(), recipes.end(), [&](const Json& recipe) { return trains(recipe, task); });
            if (trained || is_given(task)) continue;
            throw settings_error(
                "{}: variant '{}' ({}) trains each task by itself, and no stage trains task {}; name it under tasks of a stage, or what "
                "it has under variant.{}, or leave the task out",
                file_, run_.variant, run_.method, faceter::quoted(task), training_.given);
        }
    }

  private:
    /// What stands in for a task's own training is named.
    bool is_given(const std::string& task) const {
        return !training_.given.empty() && json_or<Json>(run_.settings.at("variant"), training_.given, Json(), "variant").contains(task);
    }

    bool is_on(const std::string& setting) const {
        const Json& variant = run_.settings.at("variant");
        const Json value = json_or<Json>(variant, setting, Json(), "variant");
        return has_value(variant, setting) || value == Json(true) || (value.is_array() && !value.empty());
    }

    std::vector<std::string> meant_by(const TrainedAnyway& one) const {
        const auto named = json_or<std::vector<std::string>>(run_.settings.at("variant"), one.tasks, {}, "variant");
        std::vector<std::string> meant;
        for (const auto& [name, settings] : tasks_.items())
            if ((std::find(named.begin(), named.end(), name) != named.end()) == one.of_them) meant.push_back(name);
        return meant;
    }

    void refuse_trained_anyway(const std::string& task) const {
        for (const TrainedAnyway& one : training_.anyway) {
            const std::vector<std::string> meant = meant_by(one);
            if (one.several == 0 || meant.size() < one.several || !is_on(one.setting)) continue;
            if (std::find(meant.begin(), meant.end(), task) == meant.end()) continue;
            throw settings_error(
                "{}: variant '{}' ({}) takes up what {} has for task {}, but {} trains on its data as well{}, and there are none; give it "
                "data under tasks.{}.train, or do without {}",
                file_, run_.variant, run_.method, training_.given, faceter::quoted(task), one.setting, place_, task, one.setting);
        }
    }

    /// Of no task by name (several = 0): what is made when the training is over, of the data of any.
    void require_any_data() const {
        const bool any = std::any_of(tasks_.begin(), tasks_.end(), [](const Json& task) { return !task.at("train").empty(); });
        for (const TrainedAnyway& one : training_.anyway)
            if (one.several == 0 && !any && is_on(one.setting))
                throw settings_error(
                    "{}: variant '{}' ({}): {} looks at training examples, and no task has any; give some under tasks.*.train, or another "
                    "value in its place",
                    file_, run_.variant, run_.method, one.setting);
    }

    void refuse_alone(const std::string& task, const Json& settings) const {
        const bool no_data = settings.at("train").empty();
        const std::string way_out = !training_.given.empty() ? fmt::format("what it has under variant.{}", training_.given)
                                    : place_.empty()         ? "the tasks that are trained under 'stages'"
                                                             : "the tasks that are trained there";
        throw settings_error("{}: variant '{}' ({}) trains each task by itself{}, and task {} {}; {}, or name {}", file_, run_.variant,
                             run_.method, place_, faceter::quoted(task),
                             no_data ? "has no training data" : "has a weight of 0, by which curriculum task_aware draws its batches",
                             no_data ? fmt::format("give it data under tasks.{}.train", task) : "give it a weight", way_out);
    }

    /// Validation data may be what early stopping watches of one variant, and nothing to another.
    void watched(const Json& recipe) const {
        const Json training = training_of(recipe);
        if (training_.validated || !training.at("early_stopping").is_object()) return;
        const auto chosen = json_at<std::vector<std::string>>(training, "evaluate_datasets", "training");
        const auto name = json_at<std::string>(training.at("early_stopping"), "dataset", "early_stopping");
        bool any = false;
        for (const Json& entry : json_or<Json>(run_.settings.at("evaluation"), "datasets", Json::array(), "evaluation")) {
            const std::string set = name_of(entry);
            any =
                any || ((chosen.empty() || std::find(chosen.begin(), chosen.end(), set) != chosen.end()) && (name.empty() || set == name));
        }
        if (!any)
            throw settings_error(
                "{}: variant '{}' ({}) is stopped early{} by data sets of evaluation.datasets, not by a task's validation data, and {} "
                "there; "
                "add one, or leave early_stopping out",
                file_, run_.variant, run_.method, place_, name.empty() ? "none is" : fmt::format("{} is not", faceter::quoted(name)));
    }

    static std::string name_of(const Json& entry) {
        DataRequest request;
        request.settings = entry;
        return DataEntry(request).set_name();
    }

    /// What names data sets of evaluation.datasets, where validation data alone are scored.
    void not_watched(const Json& recipe) const {
        const Json training = training_of(recipe), early = training.at("early_stopping");
        const auto name = early.is_object() ? json_at<std::string>(early, "dataset", "early_stopping") : "";
        bool held_out = name.empty();
        for (const auto& [task, settings] : tasks_.items())
            for (const Json& entry : json_or<Json>(settings, "validation", Json::array(), "tasks"))
                held_out = held_out || (trains(recipe, task) && name_of(entry) == name);
        if (held_out && training.at("evaluate_datasets").empty()) return;
        throw settings_error(
            "{}: training.{} names data sets of evaluation.datasets{}, and variant '{}' ({}) is scored on its tasks' validation data alone "
            "while it is trained; {}",
            file_, held_out ? "evaluate_datasets" : "early_stopping.dataset", place_, run_.variant, run_.method,
            held_out ? "leave it out" : "name one of these (tasks.*.validation), or none");
    }

    void tokens(const Json& recipe) const {
        const auto method = json_at<std::string>(recipe.at("objective"), "method", "objective");
        const Catalogue::Entry* objective = catalogue_.find(ExtensionKind::objective, method);
        const bool several = training_.what == Training::What::encoder_a_task && tasks_.size() > 1;
        if (!objective || !objective->extension.on_tokens || !(several || training_.what == Training::What::adapters)) return;
        throw settings_error(
            "{}: variant '{}' ({}) trains {}{}, and objective {} is a loss on tokens, which trains one encoder itself; pre-train a dense "
            "variant, and start this one from what it leaves",
            file_, run_.variant, run_.method, several ? "an encoder a task" : "low-rank adapters", place_, method);
    }

    const ResolvedRun& run_;
    const Training& training_;
    const Catalogue& catalogue_;
    const std::string& file_;
    const Json& tasks_;
    bool validated_;
    std::string place_;  ///< " in stage 'x'"
};

const Extension* trained_variant(const ResolvedRun& run, const Catalogue& catalogue) {
    const Catalogue::Entry* variant = catalogue.find(ExtensionKind::variant, run.method);
    return variant && variant->extension.training.what != Training::What::nothing ? &variant->extension : nullptr;
}

}  // namespace

void check_trained_tasks(const Experiment& experiment, const Catalogue& catalogue) {
    const std::string file = experiment.file().string();
    const auto& runs = experiment.runs();
    const bool validated = std::all_of(runs.begin(), runs.end(), [&](const ResolvedRun& run) {
        const Extension* variant = trained_variant(run, catalogue);
        return !variant || variant->training.validated;
    });
    for (const ResolvedRun& run : runs) {
        const Extension* variant = trained_variant(run, catalogue);
        if (!variant) continue;
        Check check(run, *variant, catalogue, file, validated);
        const std::vector<Json> recipes = recipes_of(run.settings);
        for (const Json& recipe : recipes) check.part(recipe);
        check.all_trained(recipes);
    }
}

}  // namespace faceter
