#include "cli/commands.h"
#include "common/error.h"
#include "run/compare_view_table.h"
#include "run/filter.h"
#include "run/similarity.h"

namespace faceter::cli {
namespace {

constexpr std::size_t most_pairwise = 4;

struct CompareOptions {
    std::string project, format, baseline, test = "paired-sets", correction = "holm", layout = "groups", alternative = "less", run_a, run_b, file, where;
    std::vector<std::string> run_names;
};

/// Named runs, or all that are done; archived and smoke runs only where they are named (or nothing else is there).
std::vector<RunRow> chosen_rows(Store& store, const Project& project, const std::vector<std::string>& names) {
    std::vector<RunRow> all = store.runs(), rows;
    if (names.empty()) {
        const bool only_smoke = std::all_of(all.begin(), all.end(), [](const RunRow& row) { return row.info.smoke; });
        for (RunRow& row : all)
            if (!row.archived && (only_smoke || !row.info.smoke) && row.num_scores > 0) rows.push_back(std::move(row));
        return rows;
    }
    for (const std::string& name : names) {
        const std::string id = project.find_run(name).info().id;
        for (const RunRow& row : all)
            if (row.info.id == id) rows.push_back(row);
    }
    return rows;
}

/// Inter-task similarities of the trained rows, each against the rows above it (with many rows: against the first), as MoTE against IC and EM.
std::vector<SimilarityComparison> similarity_tests(const Project& project, const Comparison& comparison) {
    std::vector<SimilarityComparison> tests;
    const auto stored = [&](const RunGroup& group) { return RunDirectory(project.runs_folder() / group.runs.front().info.id); };
    const auto has = [](const RunDirectory& run) { return fs::exists(run.results() / "inter_task_similarity.json"); };
    std::vector<const RunGroup*> trained;
    for (const RunGroup& group : comparison.groups)
        if (group.method != "start" && has(stored(group))) trained.push_back(&group);
    for (std::size_t i = 0; i < trained.size(); ++i)
        for (std::size_t j = 0; j < (trained.size() <= most_pairwise ? i : std::min<std::size_t>(i, 1)); ++j)
            tests.push_back(compare_similarity(trained[i]->name, read_similarity(stored(*trained[i])), trained[j]->name,
                                               read_similarity(stored(*trained[j])), Alternative::less));
    return tests;
}

/// The comparison with its tests as asked for, as the desktop's page makes it.
struct Shown {
    const Comparison& comparison;
    ComparisonView view;
    bool sets_down = false;
};

void print_all(const Project& project, const Shown& shown, const std::string& format) {
    const Comparison& comparison = shown.comparison;
    const std::vector<SimilarityComparison> tests = similarity_tests(project, comparison);
    if (format == "json") {
        Json json = comparison_json(comparison, shown.view);
        json["inter_task_similarity"] = Json::array();
        for (const SimilarityComparison& test : tests) json["inter_task_similarity"].push_back(similarity_json(test));
        return print_json(json);
    }
    if (shown.sets_down)
        print_table(comparison_by_set_table(comparison, shown.view), format);
    else
        print_table(comparison_table(comparison, shown.view), format, WideTable::turn);
    for (const SimilarityComparison& test : tests) {
        fmt::print("\n");
        print_table(similarity_table(test), format);
    }
}

int compare(const CompareOptions& options) {
    const Project project = open_project(options.project);
    Store store(project.folder());
    for (const std::string& warning : store.ingest_all()) fmt::print(stderr, "warning: {}\n", warning);
    std::vector<RunRow> rows = chosen_rows(store, project, options.run_names);
    if (!options.where.empty()) filter_rows(store, options.where, rows);
    const std::string baseline = options.baseline.empty() ? "" : project.find_run(options.baseline).info().id;
    const Comparison comparison = compare_runs(store, rows, baseline);
    if (comparison.groups.empty()) {
        for (const std::string& note : comparison.notes) fmt::print(stderr, "{}\n", note);
        throw usage_error("{}: no run with results to compare; see faceter list", project.folder().string());
    }
    CompareChoice choice;
    choice.test = parse_compare_test(options.test);
    choice.correction = parse_correction(options.correction);
    const ExampleScores examples = compare_test_info(choice.test).needs_examples ? read_examples(store, comparison) : ExampleScores{};
    print_all(project, {comparison, view_comparison(comparison, examples, choice), options.layout == "datasets"}, options.format);
    return 0;
}

int similarity(const CompareOptions& options) {
    const Project project = open_project(options.project);
    const RunDirectory first = project.find_run(options.run_a), second = project.find_run(options.run_b);
    std::string name_a = first.info().variant, name_b = second.info().variant;
    if (name_a == name_b) name_a = first.info().id, name_b = second.info().id;
    const SimilarityComparison comparison =
        compare_similarity(name_a, read_similarity(first), name_b, read_similarity(second), parse_alternative(options.alternative));
    if (options.format == "json")
        print_json(similarity_json(comparison));
    else
        print_table(similarity_table(comparison), options.format);
    return 0;
}

}  // namespace

void print_comparison(const Project& project, const std::vector<std::string>& run_ids) {
    Store store(project.folder());
    const Comparison comparison = compare_runs(store, chosen_rows(store, project, run_ids), "");
    if (comparison.groups.empty()) return;
    fmt::print("\n");
    print_all(project, {comparison, view_comparison(comparison, {})}, "text");
}

void add_compare_commands(Cli& cli) {
    auto options = std::make_shared<CompareOptions>();
    CLI::App* command = add_command(cli, cli.app, "compare", "Compare runs: scores, means over seeds, tests, costs",
                                    "  faceter compare --project ~/quickstart\n  faceter compare start IC MoTE --baseline IC --format latex > table.tex\n"
                                    "  faceter compare --where 'seed <= 3 and training.learning_rate = 1e-5'",
                                    [options] { return compare(*options); });
    command->add_option("RUN", options->run_names, "runs to compare; default: all of the project");
    add_project_option(*command, options->project);
    add_format_option(*command, options->format);
    add_where_option(*command, options->where);
    command->add_option("--baseline", options->baseline, "the run that the others are tested against; default: the untrained start model")->type_name("RUN");
    std::vector<std::string> tests;
    for (const CompareTestInfo& info : compare_tests()) tests.emplace_back(info.name);
    command->add_option("--test", options->test, "what the stars rest on: over data sets, over seeds, or over single examples")
        ->check(CLI::IsMember(tests).description(""))
        ->type_name("NAME")
        ->capture_default_str();
    command->add_option("--correction", options->correction, "of p over many tests: holm (no false claim) or bh (Benjamini-Hochberg: few false ones among the claims)")
        ->check(CLI::IsMember({"holm", "bh"}))
        ->type_name("NAME")
        ->capture_default_str();
    command->add_option("--layout", options->layout, "groups: a row a group of runs; datasets: a row a data set, with differences to the baseline")
        ->check(CLI::IsMember({"groups", "datasets"}))
        ->type_name("NAME")
        ->capture_default_str();

    CLI::App* similar = add_command(cli, cli.app, "similarity", "Test whether a run's inter-task similarities are below another's",
                                    "  faceter similarity MoTE IC --project ~/quickstart --alternative less", [options] { return similarity(*options); });
    similar->add_option("RUN_A", options->run_a, "first run")->required();
    similar->add_option("RUN_B", options->run_b, "second run")->required();
    add_project_option(*similar, options->project);
    similar->add_option("--alternative", options->alternative, "less: mean(A) < mean(B)")
        ->check(CLI::IsMember({"less", "greater", "two-sided"}))
        ->type_name("NAME")
        ->capture_default_str();
    add_format_option(*similar, options->format);
}

}  // namespace faceter::cli
