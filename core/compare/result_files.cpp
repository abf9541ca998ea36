#include "compare/result_files.h"

#include <tuple>

#include "experiment/experiment.h"
#include "record/state.h"

namespace faceter {
namespace {

/// What the scores of an untrained model depend on besides the data, which may have been edited since.
Json start_model_of(const RunDirectory& run) {
    const auto of = [&](const char* key) { return json_or<Json>(run.settings(), key, Json(), "settings"); };
    Json known = Json::array({of("model"), of("max_length"), of("precision"), Json::object()});
    const Json tasks = of("tasks");
    for (const auto& [name, task] : tasks.items()) known[3][name] = json_or<Json>(task, "instructions", Json(), "settings");
    return known;
}

std::string data_of(const Json& result) {
    return json_or<std::string>(json_or<Json>(result, "settings", Json::object(), "result"), "data_fingerprint", "", "result");
}

}  // namespace

std::map<std::string, Json> scored_results(const RunDirectory& run) {
    std::map<std::string, Json> results;
    for (auto& [stem, json] : run.read_results([](const std::string&, const std::string&) {}))
        if (json.is_object() && json.contains("task_type") && json.contains("score") && !json["score"].is_null())
            results[json_at<std::string>(json, "name", stem)] = json;
    return results;
}

std::optional<RunDirectory> start_run_of(const RunDirectory& run) {
    std::optional<RunDirectory> found;
    std::tuple<bool, bool, std::string> best;  // the same data and analyses, done, newest
    const Json wanted = start_model_of(run);
    const std::string key = baseline_key(run.settings());
    Project(run.project(), false).each_run([&](const RunDirectory& other) {
        const RunInfo& info = other.info();
        if (!info.is_baseline() || info.experiment != run.info().experiment || info.smoke != run.info().smoke) return;
        if (start_model_of(other) != wanted) return;
        const std::tuple rank(baseline_key(other.settings()) == key, read_state(other).phase == RunPhase::done, info.created);
        if ((found && rank <= best) || scored_results(other).empty()) return;
        found = other;
        best = rank;
    });
    return found;
}

bool may_be_of_same_data(const Json& result, const Json& other) {
    const std::string mine = data_of(result), theirs = data_of(other);
    return mine.empty() || theirs.empty() || mine == theirs;
}

}  // namespace faceter
