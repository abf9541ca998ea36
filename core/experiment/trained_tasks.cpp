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
    Check(const ResolvedRun& run, const Extension& variant, const Catalogue& catalogue, const std::string& file)
        : run_(run), training_(variant.training), catalogue_(catalogue), file_(file), tasks_(run.settings.at("tasks")) {}

    void part(const Json& recipe) {
        const auto name = json_or<std::string>(recipe, "name", "", "stages");
        place_ = name.empty() ? "" : fmt::format(" in stage '{}'", name);
        tokens(recipe);
        watched(recipe);
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
    }

  private:
    /// What stands in for a task's own training is named.
    bool is_given(const std::string& task) const {
        return !training_.given.empty() && json_or<Json>(run_.settings.at("variant"), training_.given, Json(), "variant").contains(task);
    }
        require_any_data();

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

    void refuse_alone(const std::string& task, const Json& settings) const {
        const bool no_data = settings.at("train").empty();
        throw settings_error("{}: variant '{}' ({}) trains each task by itself{}, and task {} {}; {}, or name the tasks that are trained{}",
                             file_, run_.variant, run_.method, place_, faceter::quoted(task),
                             no_data ? "has no training data" : "has a weight of 0, by which curriculum task_aware draws its batches",
                             no_data ? fmt::format("give it data under tasks.{}.train", task) : "give it a weight",
                             place_.empty() ? " under 'stages'" : " there");
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

    }

    /// Validation data may be what early stopping watches of one variant, and nothing to another.
    void watched(const Json& recipe) const {
        const Json training = training_of(recipe);
        if (training_.validated || !training.at("early_stopping").is_object()) return;
        const auto chosen = json_at<std::vector<std::string>>(training, "evaluate_datasets", "training");
        const auto name = json_at<std::string>(training.at("early_stopping"), "dataset", "early_stopping");
        bool any = false;
        for (const Json& entry : json_or<Json>(run_.settings.at("evaluation"), "datasets", Json::array(), "evaluation")) {
            DataRequest request;
            request.settings = entry;
            const std::string set = DataEntry(request).set_name();
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
    std::string place_;  ///< " in stage 'x'"
};

}  // namespace

void check_trained_tasks(const Experiment& experiment, const Catalogue& catalogue) {
    const std::string file = experiment.file().string();
    for (const ResolvedRun& run : experiment.runs()) {
        const Catalogue::Entry* variant = catalogue.find(ExtensionKind::variant, run.method);
        if (!variant || variant->extension.training.what == Training::What::nothing) continue;
        Check check(run, variant->extension, catalogue, file);
        for (const Json& recipe : recipes_of(run.settings)) check.part(recipe);
    }
}

}  // namespace faceter
