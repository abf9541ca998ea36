#include <map>
#include <memory>
#include <optional>

#include "checkpoint/model_folder.h"
#include "cli/checks.h"
#include "cli/commands.h"
#include "cli/named_runs.h"
#include "common/error.h"
#include "common/printable.h"
#include "record/merged_run.h"

namespace faceter::cli {
namespace {

struct MergeOptions {
    std::vector<std::string> runs;
    std::string project;
    MergeRequest request;
    std::optional<double> weight;
    StartOptions start;
};

/// Instructions by task; a task without one is as one that is not there.
std::map<std::string, std::string> instructions_of(const RunDirectory& run) {
    std::map<std::string, std::string> prompts = ModelFolder::open(run.folder() / "model").prompts;
    std::erase_if(prompts, [](const auto& prompt) { return prompt.second.empty(); });
    return prompts;
}

/// The order of the parents says then what the new run is scored with.
void note_other_instructions(const std::vector<RunDirectory>& parents) {
    const RunDirectory& first = parents.front();
    const std::string name = first.info().shown_name();
    const auto own = instructions_of(first);
    for (const RunDirectory& run : parents)
        if (instructions_of(run) != own)
            say(stderr, "warning: {} puts other instructions in front of its texts than {}, or none; the new run has those of {} alone\n",
                run.info().shown_name(), name, name);
}

int merge(MergeOptions& options) {
    if (options.weight && options.request.how != "task_arithmetic")
        throw usage_error("--weight counts differences to the start model; it goes with --how task_arithmetic");
    if (options.weight) options.request.weight = *options.weight;
    const Project project = open_project(options.project);
    options.request.parents = find_runs(project, options.runs);
    const RunInfo info = merged_run(options.request);
    note_other_instructions(options.request.parents);
    const std::string text = read_file(options.request.parents.front().folder() / "experiment.yaml");
    return start_runs(project, {RunDirectory::create_imported(project.folder(), info, text)}, options.start);
}

}  // namespace

void add_merge_command(Cli& cli) {
    auto options = std::make_shared<MergeOptions>();
    CLI::App* command =
        add_command(cli, cli.app, "merge", "A run made of finished runs: weights' mean, soup or arithmetic",
                    "  faceter merge study-ic-s1 study-ic-s2 study-ic-s3 --how soup --project p\n"
                    "  faceter merge IC-retrieval IC-clustering --how task_arithmetic --weight 0.5 --project p\n"
                    "  faceter merge MoTE --fold-experts --project p   one dense model of a run's experts\n"
                    "The new run is scored as its first parent was, and is compared, exported and embedded with as any\nrun.",
                    [options] { return merge(*options); });
    command->add_option("RUN", options->runs, "name of a run, the beginning of one, or a variant (its newest run, those of --smoke last)")
        ->required();
    add_project_option(*command, options->project);
    command
        ->add_option(
            "--how", options->request.how,
            "mean of the weights; soup: of those that do not lower the validation score; task_arithmetic: start model plus differences")
        ->check(CLI::IsMember({"mean", "soup", "task_arithmetic"}))
        ->default_str("mean");
    command
        ->add_option("--weight", options->weight,
                     "task_arithmetic: what each difference counts (default: 1; below 0 takes away what was learned)")
        ->type_name("NUMBER")
        ->check(finite_number(-10, 10));
    command->add_flag("--fold-experts", options->request.fold_experts,
                      "then average task experts into one dense block a layer (MoTE's EA)");
    command->add_option("--name", options->request.name, "name of the new run's variant; default: merged-HOW")->type_name("NAME");
    command->add_flag("--detach", options->start.detach, "return at once; the run goes on by itself");
    command->add_flag("--json", options->start.json, "print as JSON");
}

}  // namespace faceter::cli
