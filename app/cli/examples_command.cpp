#include "cli/checks.h"
#include "cli/comparison.h"
#include "cli/named_runs.h"
#include "common/error.h"
#include "common/printable.h"
#include "common/strings.h"
#include "compare/example_changes.h"

namespace faceter::cli {
namespace {

struct ExamplesOptions {
    std::string project, format, before, after, set, direction = "any", find;
    double at_least = 0;
    std::size_t limit = 20;
    bool seeds = false;
};

/// The run, or all seeds of its variant and point that have scores.
std::vector<RunRow> rows_of(Store& store, const RunInfo& named, bool seeds) {
    std::vector<RunRow> rows;
    for (RunRow& row : store.runs())
        if (row.info.id == named.id || (seeds && row.info.group() == named.group() && row.info.smoke == named.smoke && !row.archived))
            rows.push_back(std::move(row));
    return rows;
}

/// Of the runs of one variant those of the named one's settings: an experiment may have been changed in between.
RunGroup group_of(Store& store, const Project& project, const std::string& name, bool seeds, std::vector<ComparedSet>& sets) {
    const RunInfo named = find_run(project, name).info();
    const bool scored = !store.results(named.id).empty();
    const Comparison made = compare_runs(store, rows_of(store, named, seeds), scored ? named.id : "");
    if (made.groups.empty() || (!scored && made.groups.size() > 1)) throw usage_error("{} has no results yet; see faceter list", name);
    for (const ComparedSet& set : made.sets)
        if (std::none_of(sets.begin(), sets.end(), [&](const ComparedSet& known) { return known.name == set.name; })) sets.push_back(set);
    return scored ? made.groups.at(made.baseline.value()) : made.groups.front();
}

/// The two as groups of a comparison, also where they are seeds of one configuration.
Comparison compare_two(Store& store, const Project& project, const ExamplesOptions& options) {
    Comparison comparison;
    for (const std::string& name : {options.before, options.after})
        comparison.groups.push_back(group_of(store, project, name, options.seeds, comparison.sets));
    if (comparison.groups[0].name == comparison.groups[1].name)
        for (RunGroup& group : comparison.groups) group.name = group.runs.front().info.shown_name();
    comparison.baseline = 0;
    return comparison;
}

void check_set(const Comparison& comparison, const std::string& set) {
    std::vector<std::string> known;
    for (const ComparedSet& one : comparison.sets) known.push_back(one.name);
    if (!set.empty() && std::find(known.begin(), known.end(), set) == known.end())
        throw usage_error("--dataset {}: neither run has scores of it; there are {}", set, join(known, ", "));
}

std::map<std::string, ExampleTexts> texts_of(const Project& project, const Comparison& comparison, const ExampleChanges& changes) {
    std::map<std::string, ExampleTexts> texts;
    const RunDirectory run(project.runs_folder() / comparison.groups.back().runs.front().info.id);
    for (const ExampleChange& change : changes.changes)
        if (!texts.contains(change.set)) texts[change.set] = read_example_texts(run, change.set);
    for (const auto& [set, read] : texts)
        if (!read.problem.empty()) say(stderr, "{}: no texts: {}\n", set, read.problem);
    return texts;
}

int examples(const ExamplesOptions& options) {
    const Project project = open_project(options.project);
    Store store(project.folder());
    take_in(store);
    const Comparison comparison = compare_two(store, project, options);
    check_set(comparison, options.set);
    const ExampleChanges changes = example_changes(comparison, read_examples(store, comparison), 0, 1, options.set);
    ChangeFilter filter{parse_change_direction(options.direction), std::max(ChangeFilter{}.at_least, options.at_least), options.find};
    print_table(example_changes_table(changes, texts_of(project, comparison, changes), filter, options.limit), options.format);
    return 0;
}

}  // namespace

void add_examples_command(Cli& cli) {
    auto options = std::make_shared<ExamplesOptions>();
    CLI::App* command = add_command(cli, cli.app, "examples", "Which queries and texts two runs score differently",
                                    "  faceter examples IC MoTE --project ~/quickstart --dataset synopses --changed losses\n"
                                    "  faceter examples start MoTE --seeds --find kernel --limit 0 --json > changed.json",
                                    [options] { return examples(*options); });
    command->add_option("BEFORE", options->before, "run that is compared with")->required()->type_name("RUN");
    command->add_option("AFTER", options->after, "run whose gains and losses are told")->required()->type_name("RUN");
    add_project_option(*command, options->project);
    command->add_flag("--seeds", options->seeds, "all seeds of each run's configuration, averaged, instead of the one run");
    command->add_option("--dataset", options->set, "this data set alone")->type_name("NAME");
    command->add_option("--changed", options->direction, "which: any, gains or losses")
        ->check(CLI::IsMember({"any", "gains", "losses"}))
        ->type_name("NAME")
        ->capture_default_str();
    command->add_option("--at-least", options->at_least, "only differences of so many points, either way")->check(finite_number(0));
    command->add_option("--find", options->find, "only examples whose text or expected answer holds this")->type_name("TEXT");
    command->add_option("--limit", options->limit, "at most so many rows; 0: all")->transform(whole_number(0))->capture_default_str();
    add_format_option(*command, options->format);
}

}  // namespace faceter::cli
