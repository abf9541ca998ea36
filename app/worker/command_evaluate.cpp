#include <fmt/format.h>

#include <numeric>

#include "commands.h"
#include "common/cancel.h"
#include "common/error.h"
#include "common/progress.h"
#include "common/strings.h"
#include "data/sources.h"
#include "eval/tasks.h"
#include "figure/table_export.h"
#include "named_model.h"

namespace faceter::worker {
namespace {

struct EvaluateCommand {
    ModelOptions model;
    std::vector<std::string> data;
    std::string split = "test";
    bool json = false, per_example = false;
};

Json summary_of(const EvaluationResult& result, bool per_example) {
    Json json = result.to_json();
    if (!per_example) json.erase("per_example");
    return json;
}

Table table_of(const std::vector<EvaluationResult>& results) {
    Table table;
    table.name = "evaluation";
    table.caption = "Scores in percent";
    table.add_column("data set", ColumnKind::text);
    table.add_column("task type", ColumnKind::text);
    table.add_column("metric", ColumnKind::text);
    table.add_column("score", ColumnKind::number, 2);
    table.add_column("n", ColumnKind::count);
    double sum = 0;
    for (const EvaluationResult& r : results) {
        table.add_row({Cell::of(r.name), Cell::of(r.task_type), Cell::of(r.metric), Cell::of(r.score), Cell::of(static_cast<double>(r.n))});
        sum += r.score;
    }
    if (results.size() > 1) {
        table.add_row({Cell::of("mean over data sets"), Cell(), Cell(), Cell::of(sum / static_cast<double>(results.size())), Cell()});
        table.rows.back().rule_above = true;
    }
    return table;
}

int evaluate(const EvaluateCommand& options) {
    const OpenedModel opened = open_model(options.model, true);
    std::vector<EvaluationSet> sets;
    // Everything is read before anything is computed: a broken folder is found now, not after an hour.
    for (const std::string& folder : options.data) {
        sets.push_back(load_evaluation_folder(folder, options.split));
        for (const Json& warning : json_or<Json>(sets.back().card, "warnings", Json::array(), "card"))
            fmt::print(stderr, "warning: {}\n", warning.get<std::string>());
    }
    CachedEmbedder embedder(*opened.model);
    std::vector<EvaluationResult> results;
    ProgressLine progress("evaluate", sets.size(), "data sets");
    for (const EvaluationSet& set : sets) {
        if (stop_requested() != StopRequest::none) throw Error(ExitCode::stopped, fmt::format("stopped after {} of {} data sets", results.size(), sets.size()));
        progress.update(results.size(), set.name);
        EvaluationRoutes routes = routes_for(*opened.model, set, "");
        if (!options.model.task.empty() || !options.model.instruction.empty() || routes.task.empty()) routes = {options.model.task, opened.route, opened.route};
        results.push_back(evaluate_set(embedder, set, routes));
    }
    progress.update(results.size());
    if (is_terminal(stderr)) progress.finish();
    if (!options.json) {
        fmt::print("{}", table_to_text(table_of(results)));
        return 0;
    }
    Json all = Json::array();
    for (const EvaluationResult& result : results) all.push_back(summary_of(result, options.per_example));
    fmt::print("{}\n", Json{{"datasets", all}}.dump(1));
    return 0;
}

}  // namespace

void add_evaluate(CLI::App& app, int& exit_code) {
    const auto options = std::make_shared<EvaluateCommand>();
    auto* command = app.add_subcommand("evaluate", "Score a model by MTEB's protocols on BEIR and MTEB folders.");
    command->footer("Example:\n  faceter evaluate --model minilm --data data/scifact --data data/banking77 --json");
    add_model_options(*command, options->model, true);
    command->add_option("--data", options->data, "Folder of one data set (BEIR, or MTEB's JSON lines); may be given again")->required();
    command->add_option("--split", options->split, "Split to score");
    command->add_flag("--json", options->json, "Print JSON");
    command->add_flag("--per-example", options->per_example, "With --json: the value of every example too");
    command->callback([=, &exit_code] { exit_code = evaluate(*options); });
}

}  // namespace faceter::worker
