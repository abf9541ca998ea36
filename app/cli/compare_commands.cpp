#include "cli/comparison.h"
#include "cli/named_runs.h"
#include "common/error.h"
#include "common/printable.h"
#include "compare/compare_view_table.h"
#include "compare/summary.h"

namespace faceter::cli {
namespace {

struct CompareOptions : ComparisonOptions {
    std::string format, layout = "groups";
};

struct SimilarityOptions {
    std::string project, format, alternative = "less", run_a, run_b;
};

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
    if (format == "csv" || format == "tsv") {  // a second table in the stream would make it none that a program reads
        if (!tests.empty())
            say(stderr, "not in this table: inter-task similarities; faceter similarity RUN_A RUN_B --format {}, or all with --json\n",
                format);
        return;
    }
    for (const SimilarityComparison& test : tests) {
        fmt::print("\n");
        print_table(similarity_table(test), format);
    }
}

/// Whether commands without --project are about this one: `said` is what was said there.
bool is_at_hand(const Project& project, const std::string& said) {
    std::error_code error;
    return said.empty() || (fs::is_directory("runs", error) && fs::equivalent(".", project.folder(), error));
}

void print(const Project& project, const std::string& said, const ComparisonSummary& summary, const std::vector<std::string>& notes) {
    print_table(summary.table, "text", WideTable::turn);
    fmt::print("\n");
    for (const std::string& sentence : summary.sentences) print_wrapped(sentence);
    if (!summary.next.empty()) print_wrapped(summary.next);
    if (!summary.next.empty() && !is_at_hand(project, said)) say(stdout, "  with --project {}\n", typed(project.folder().string()));
    for (const std::string& note : notes) print_wrapped(note + ".");
}

/// Unless a test was named, that over examples: the usual one has no word on single sets.
int compare_in_short(const Project& project, Store& store, ComparisonOptions options) {
    if (!options.test_named) options.test = compare_test_info(CompareTest::bootstrap).name;
    const MadeComparison made = make_comparison(project, store, options, "compare");
    print(project, options.project, summarise(made.comparison, made.view), made.comparison.notes);
    return 0;
}

int compare(const CompareOptions& options) {
    const Project project = open_project(options.project);
    Store store(project.folder());
    if (options.layout == "summary" && options.format != "text")
        throw usage_error("--layout summary is text for people; leave --format out, or choose another layout");
    if (options.layout == "summary" && !options.columns.columns.empty())
        throw usage_error("--layout summary has columns of its own; leave --columns out, or choose another layout");
    if (options.layout == "summary") return compare_in_short(project, store, options);
    const MadeComparison made = make_comparison(project, store, options, "compare");
    print_all(project, {made.comparison, made.view, options.layout == "datasets"}, options.format);
    return 0;
}

int similarity(const SimilarityOptions& options) {
    const Project project = open_project(options.project);
    const RunDirectory first = find_run(project, options.run_a), second = find_run(project, options.run_b);
    std::string name_a = first.info().variant, name_b = second.info().variant;
    if (name_a == name_b) name_a = first.info().shown_name(), name_b = second.info().shown_name();
    const SimilarityComparison comparison =
        compare_similarity(name_a, read_similarity(first), name_b, read_similarity(second), parse_alternative(options.alternative));
    if (options.format == "json")
        print_json(similarity_json(comparison));
    else
        print_table(similarity_table(comparison), options.format);
    return 0;
}

}  // namespace

void print_summary(const Project& project, const std::vector<std::string>& run_ids) {
    Store store(project.folder());
    const Comparison comparison = compare_runs(store, chosen_rows(store, project, run_ids), "");
    if (comparison.groups.empty()) return;
    CompareChoice choice;
    choice.test = CompareTest::bootstrap;
    fmt::print("\n");
    print(project, project.folder().string(), summarise(comparison, view_comparison(comparison, read_examples(store, comparison), choice)),
          comparison.notes);
}

void add_compare_commands(Cli& cli) {
    auto options = std::make_shared<CompareOptions>();
    CLI::App* command =
        add_command(cli, cli.app, "compare", "Compare runs: scores, means over seeds, tests, costs",
                    "  faceter compare --project ~/quickstart\n  faceter compare start IC MoTE --baseline IC --format latex > table.tex\n"
                    "  faceter compare --where 'seed <= 3 and training.learning_rate = 1e-5'\n"
                    "  faceter compare --columns loss:best,loss:100 --sort loss:best",
                    [options] { return compare(*options); });
    add_comparison_options(*command, *options, "compare");
    add_column_options(*command, options->columns,
                       "further numbers of each run, by the names of --where: loss:last, loss:best, loss:100, lr:max, time",
                       "by such a number or a score (retrieval), mean over seeds, the least first; runs without one last");
    add_format_option(*command, options->format);
    command
        ->add_option(
            "--layout", options->layout,
            "groups: a row a group of runs; datasets: a row a data set, with differences to the baseline; summary: a small table and "
            "what it says, in sentences")
        ->check(CLI::IsMember({"groups", "datasets", "summary"}))
        ->type_name("NAME")
        ->capture_default_str();

    auto with = std::make_shared<SimilarityOptions>();
    CLI::App* similar =
        add_command(cli, cli.app, "similarity", "Test whether a run's inter-task similarities are below another's",
                    "  faceter similarity MoTE IC --project ~/quickstart --alternative less", [with] { return similarity(*with); });
    similar->add_option("RUN_A", with->run_a, "first run")->required();
    similar->add_option("RUN_B", with->run_b, "second run")->required();
    add_project_option(*similar, with->project);
    similar->add_option("--alternative", with->alternative, "less: mean(A) < mean(B)")
        ->check(CLI::IsMember({"less", "greater", "two-sided"}))
        ->type_name("NAME")
        ->capture_default_str();
    add_format_option(*similar, with->format);
}

}  // namespace faceter::cli
