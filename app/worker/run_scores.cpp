#include "run_scores.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <map>

#include "common/error.h"
#include "common/strings.h"
#include "cut_texts.h"
#include "eval/group_embedding.h"
#include "eval/tasks.h"
#include "experiment/result_names.h"
#include "machine.h"
#include "model/compute.h"
#include "plugin/loader.h"
#include "stage_data.h"

namespace faceter::worker {
namespace {

/// A large data set may take longer than the time that a cluster leaves.
template <typename Act>
bool unless_stopped(Act act) {
    try {
        return act();
    } catch (const Error& error) {
        if (error.code() != ExitCode::stopped) throw;
        return false;
    }
}

/// Why a file of results is no score that an earlier attempt has written; empty where it is one.
std::string why_no_score(const fs::path& file, const std::string& name) {
    try {
        const Json result = read_json(file);
        const bool scored = result.is_object() && result.contains("score") && result.contains("name") && result["name"] == name;
        return scored ? "" : fmt::format("{}: is not the score of {}", file.string(), faceter::quoted(name));
    } catch (const Error& error) {
        return error.what();
    }
}

}  // namespace

RunScores::RunScores(const RunContext& run, RunData& data, EmbeddingModel& model)
    : run_(run), data_(data), model_(model), embedder_(model) {
    prepare(embedder_);
}

void RunScores::prepare(CachedEmbedder& embedder) const {
    embedder.share_work(*run_.group);
    if (run_.group->size() > 1) return;  // between data sets only: the others are waiting for what was begun
    embedder.set_progress([this](std::size_t) {
        if (run_.stop_wanted()) throw Error(ExitCode::stopped, "stopped while texts were embedded");
    });
}

bool RunScores::score() {
    measure_model();
    const bool evaluated = unless_stopped([&] { return evaluate_all(); });
    let_servers_go(*run_.group);
    const bool analysed = evaluated && unless_stopped([&] {
                              analyse();
                              return true;
                          });
    let_servers_go(*run_.group);
    return analysed;
}

void RunScores::measure_model() const {
    run_.journal->phase("measure");
    const int threads = at::get_num_threads();
    at::set_num_threads(threads * run_.rendezvous.local_size);  // a text's latency is that of the machine; the other ranks are waiting
    run_.run.write_result("_model", model_measurements(model_));
    at::set_num_threads(threads);
}

/// Analyses look at weights as well: they find those that were trained.
bool RunScores::evaluate_all() {
    if (!run_.scores_in_bf16()) return evaluate_all(embedder_);
    const LoweredEncoders lowered(model_, true);
    CachedEmbedder embedder(model_);
    prepare(embedder);
    return evaluate_all(embedder);
}

bool RunScores::evaluate_all(CachedEmbedder& embedder) {
    for (const EvaluationSet& set : data_.evaluation()) {
        if (run_.stop_wanted()) return false;
        if (const fs::path file = run_.run.results() / (safe_file_name(set.name) + ".json"); fs::is_regular_file(file)) {
            const std::string problem = why_no_score(file, set.name);
            if (problem.empty()) continue;  // of an earlier attempt
            run_.warn(fmt::format("{}; it is scored anew", problem));
        }
        run_.journal->phase("evaluate " + set.name);
        const EvaluationRoutes routes = routes_for(model_, set, "");
        if (const std::string cut = cut_warning(model_, set, routes); !cut.empty()) run_.warn(cut);
        const EvaluationResult result = evaluate_set(embedder, set, routes);
        run_.run.write_result(set.name, result.to_json());
        run_.journal->event(
            "result",
            {{"name", result.name}, {"task_type", result.task_type}, {"metric", result.metric}, {"score", result.score}, {"n", result.n}});
    }
    return true;
}

void RunScores::analyse() {
    const Json analyses = json_or<Json>(run_.settings, "analyses", Json::array(), "settings");
    std::map<std::string, int> times;
    for (std::size_t i = 0; i < analyses.size(); ++i) {
        const Json& settings = analyses[i];
        const auto method = json_at<std::string>(settings, "method", "analyses");
        const std::string name = analysis_result_name(method, ++times[method]);
        const auto& [analysis, texts] = data_.analyses().at(i);
        if (!texts) continue;  // the run has warned of them
        run_.journal->phase("analyse " + name);
        AnalysisContext context{.embedder = embedder_,
                                .tasks = model_.tasks,
                                .texts = *texts,
                                .run_name = run_.run.info().variant,
                                .run_folder = run_.run.folder(),
                                .run = run_.settings,
                                .training_sets = [this]() -> const std::vector<TrainingSet>& {
                                    if (data_.training().empty()) read_chosen_training();
                                    return data_.training();
                                },
                                .evaluation = data_.evaluation(),
                                .phase = [&](const std::string& what) { run_.journal->phase(what); }};
        try {
            store(settings, name, analysis->run(context));
        } catch (const DataUnavailable& error) {
            run_.warn(fmt::format("analysis {} is left out: {}", name, error.what()));
        }
    }
}

/// As the training left them; where that cannot be had there are none, rather than all.
void RunScores::read_chosen_training() {
    data_.read_training();
    try {
        take_chosen(run_.run.folder() / "data", run_.settings, data_.training());
    } catch (const DataUnavailable&) {
        data_.training().clear();
        throw;
    }
}

/// `name` is the method's, or with a number where the experiment asks for the method again (with other texts): each keeps its files.
void RunScores::store(const Json& settings, const std::string& name, const AnalysisResult& analysed) const {
    const auto method = json_at<std::string>(settings, "method", "analyses");
    const std::string ending = name.substr(method.size());
    const Json source = {{"analysis", method}, {"name", name}};
    Json result = analysed.result;
    if (result.is_object()) result["settings"] = settings;
    run_.run.write_result(name, result);
    for (const auto& [figure, value] : analysed.figures) {
        Json json = value.to_json();
        json["source"] = source;
        run_.run.write_figure(figure + ending, json);
    }
    for (const auto& [table, value] : analysed.tables) {
        Json json = value.to_json();
        json["source"] = source;
        run_.run.write_table(table + ending, json);
    }
}

}  // namespace faceter::worker
