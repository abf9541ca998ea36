#include "cli/comparison.h"

#include <algorithm>

#include "cli/named_runs.h"
#include "common/command.h"
#include "common/error.h"
#include "common/printable.h"
#include "common/strings.h"
#include "compare/compare_columns.h"
#include "store/filter.h"
#include "store/filter_tokens.h"

namespace faceter::cli {
namespace {

constexpr std::size_t most_pairwise = 4;

/// A row's seeds as one set.
struct GroupSimilarity {
    std::string name;
    SimilaritySet set;
    std::size_t seeds = 0;  ///< that have the analysis
};

GroupSimilarity similarity_of(const Project& project, const RunGroup& group) {
    std::vector<SimilaritySet> sets;
    std::vector<std::string> names, notes;
    for (const RunRow& row : group.runs) {
        try {
            const RunDirectory run(project.runs_folder() / row.info.id);
            std::error_code ignored;
            if (!fs::exists(run.results() / "inter_task_similarity.json", ignored)) continue;
            sets.push_back(read_similarity(run));
            names.push_back(row.info.shown_name());
        } catch (const Error& error) {  // one damaged file must not keep all others from being compared
            say(stderr, "inter-task similarities: {} is left out: {}\n", row.info.shown_name(), error.what());
        }
    }
    GroupSimilarity of{group.name, average_over_seeds(sets, names, notes), 0};
    of.seeds = sets.size() - notes.size();
    for (const std::string& note : notes) say(stderr, "inter-task similarities: {}\n", note);
    return of;
}

/// Who has run several seeds of a variant and names it may take the one run that its name stands for to be all of them.
void tell_of_other_runs(const std::string& name, const RunInfo& found, const std::vector<RunRow>& all) {
    if (is_name_of(found, name) || lowercase_ascii(name) != lowercase_ascii(found.variant)) return;
    const auto runs = std::count_if(all.begin(), all.end(), [&](const RunRow& row) {
        return row.info.variant == found.variant && row.info.smoke == found.smoke && !row.archived && row.num_scores > 0;
    });
    if (runs < 2) return;
    say(stderr, "{} stands for its newest run, {}; for all {} with scores: --where {} in the place of names\n", name, found.shown_name(),
        runs, shell_word("variant = " + in_quotes(found.variant)));
}

}  // namespace

void add_comparison_options(CLI::App& command, ComparisonOptions& options, const std::string& what) {
    command.add_option("RUN", options.run_names,
                       "runs to " + what + "; a variant stands for its newest run, those of --smoke last; default: all of the project");
    add_project_option(command, options.project);
    command.add_option("--baseline", options.baseline, "the run that the others are tested against; default: the untrained start model")
        ->type_name("RUN");
    std::vector<std::string> tests;
    for (const CompareTestInfo& info : compare_tests()) tests.emplace_back(info.name);
    command
        .add_option("--test", options.test,
                    "what the stars rest on: over data sets, over seeds, or over single examples (" + join(tests, ", ") + ")")
        ->check(CLI::IsMember(tests).description(""))
        ->each([&options](const std::string&) { options.test_named = true; })
        ->type_name("NAME")
        ->capture_default_str();
    command
        .add_option("--correction", options.correction,
                    "of p over many tests: holm (no false claim) or bh (Benjamini-Hochberg: few false ones among the claims)")
        ->check(CLI::IsMember({"holm", "bh"}))
        ->type_name("NAME")
        ->capture_default_str();
    add_where_option(command, options.where);
}

std::vector<RunRow> chosen_rows(Store& store, const Project& project, const std::vector<std::string>& names, bool archived_too) {
    std::vector<RunRow> all = store.runs(), rows;
    if (names.empty()) {
        const bool only_smoke = std::all_of(all.begin(), all.end(), [](const RunRow& row) { return row.info.smoke; });
        for (RunRow& row : all)
            if ((archived_too || !row.archived) && (only_smoke || !row.info.smoke) && row.num_scores > 0) rows.push_back(std::move(row));
        return rows;
    }
    const TellRun tell = [&](const Project&, const std::string& name, const RunDirectory& run) {
        tell_of_other_runs(name, run.info(), all);
    };
    // Each once: one that counted twice would make differences look surer than they are.
    for (const RunDirectory& run : find_runs(project, names, tell))
        for (const RunRow& row : all)
            if (row.info.id == run.info().id) rows.push_back(row);
    return rows;
}

MadeComparison make_comparison(const Project& project, Store& store, const ComparisonOptions& options, const std::string& what) {
    take_in(store);
    MadeComparison made;
    made.rows = chosen_rows(store, project, options.run_names, asks_for_archived(store, options.where));
    if (!options.where.empty()) filter_rows(store, options.where, made.rows);
    made.comparison = compare_runs(store, made.rows, options.baseline.empty() ? "" : project.find_run(options.baseline).info().id);
    if (made.comparison.groups.empty()) {
        for (const std::string& note : made.comparison.notes) say(stderr, "{}\n", note);
        throw usage_error("{}: no run with results to {}; see faceter list", project.folder().string(), what);
    }
    const auto& [names, sort, descending] = options.columns;
    if (!sort.empty()) sort_groups(store, sort, descending, made.comparison);
    add_columns(store, names, made.comparison);
    CompareChoice choice;
    choice.test = parse_compare_test(options.test);
    choice.correction = parse_correction(options.correction);
    const ExampleScores examples = compare_test_info(choice.test).needs_examples ? read_examples(store, made.comparison) : ExampleScores{};
    made.view = view_comparison(made.comparison, examples, choice);
    return made;
}

/// Of every two groups that embedded texts under two tasks; runs of one task, or of other tasks each, have none.
std::vector<SimilarityComparison> similarity_tests(const Project& project, const Comparison& comparison) {
    std::vector<SimilarityComparison> tests;
    std::vector<GroupSimilarity> trained;
    for (const RunGroup& group : comparison.groups) {
        if (group.method == "start") continue;
        if (GroupSimilarity of = similarity_of(project, group); !of.set.pairs.empty()) trained.push_back(std::move(of));
    }
    for (std::size_t i = 0; i < trained.size(); ++i)
        for (std::size_t j = 0; j < (trained.size() <= most_pairwise ? i : std::min<std::size_t>(i, 1)); ++j) {
            if (!share_a_pair(trained[i].set, trained[j].set)) continue;
            SimilarityComparison& test =
                tests.emplace_back(compare_similarity(trained[i].name, trained[i].set, trained[j].name, trained[j].set, Alternative::less));
            test.seeds_first = trained[i].seeds;
            test.seeds_second = trained[j].seeds;
        }
    return tests;
}

}  // namespace faceter::cli
