#include <memory>
#include <set>

#include "cli/cluster.h"
#include "cli/commands.h"
#include "cli/named_runs.h"
#include "common/printable.h"
#include "common/progress.h"
#include "compare/lineage.h"
#include "compare/run_difference.h"
#include "figure/text_width.h"
#include "store/store.h"

namespace faceter::cli {
namespace {

struct LineageOptions {
    std::string project, before, after, format;
    std::vector<std::string> runs;
    bool json = false;
};

void print_lines(const std::vector<std::string>& lines) {
    for (const std::string& line : lines) say(stdout, "{}\n", line);
}

int lineage(const LineageOptions& options) {
    const Project project = open_project(options.project);
    refresh_jobs(project);
    Store store(project.folder());
    take_in(store);
    Lineage shown = read_lineage(project, store);
    if (!options.runs.empty()) {
        std::set<std::string> ids;
        for (const RunDirectory& run : find_runs(project, options.runs)) ids.insert(run.info().id);
        shown = lineage_around(shown, ids);
    }
    if (options.json) {
        Json json = {{"project", project.folder().string()}};
        json.update(lineage_to_json(shown));
        print_json(json);
    } else if (shown.nodes.empty()) {
        say(stderr, "no runs\n");
    } else {
        print_lines(lineage_lines(shown, terminal_columns(stdout)));
    }
    return 0;
}

int difference(const LineageOptions& options) {
    const Project project = open_project(options.project);
    const RunDirectory before = find_run(project, options.before), after = find_run(project, options.after);
    Store store(project.folder());
    store.ingest(before);
    store.ingest(after);
    const RunDifference difference = run_difference(store, before, after);
    if (options.format == "json")
        print_json(run_difference_to_json(difference));
    else if (options.format == "text")
        print_lines(run_difference_lines(difference, terminal_columns(stdout)));
    else
        print_table(run_difference_table(difference), options.format);
    return 0;
}

}  // namespace

void add_lineage_commands(Cli& cli) {
    auto options = std::make_shared<LineageOptions>();
    CLI::App* tree = add_command(cli, cli.app, "lineage", "What runs come from: start models, reruns, merges, teachers, gates",
                                 "  faceter lineage --project ~/quickstart\n  faceter lineage merged-mean-1 --project ~/quickstart\n"
                                 "Each run stands under what it comes from: a rerun under its run, a merge under its first parent,\n"
                                 "any other under its start model. What a record names and is not there (any more) is said to be so.\n"
                                 "Exit codes: 0 done, 2 no such run or project, 4 the project cannot be read.",
                                 [options] { return lineage(*options); });
    tree->add_option("RUN", options->runs, "only what these come from and what came of them; default: all runs");
    add_project_option(*tree, options->project);
    tree->add_flag("--json", options->json, "print as JSON: nodes and edges");

    auto two = std::make_shared<LineageOptions>();
    CLI::App* diff = add_command(cli, cli.app, "diff", "What differs between two runs: settings, code, data, scores",
                                 "  faceter diff IC-1 MoTE-1 --project ~/quickstart\n  faceter diff IC-1 IC-2 --json\n"
                                 "Exit codes: 0 done, whether they differ or not, 2 no such run or project, 4 a run cannot be read.",
                                 [two] { return difference(*two); });
    diff->add_option("BEFORE", two->before, "name of a run, the beginning of its id, or a variant (its newest run, those of --smoke last)")
        ->required()
        ->type_name("RUN");
    diff->add_option("AFTER", two->after, "the run whose differences are told")->required()->type_name("RUN");
    add_project_option(*diff, two->project);
    add_format_option(*diff, two->format);
}

}  // namespace faceter::cli
