#include "cli/checks.h"
#include "cli/experiment_arguments.h"
#include "cli/named_runs.h"
#include "common/cancel.h"
#include "common/error.h"
#include "common/printable.h"
#include "common/progress.h"
#include "common/strings.h"
#include "data/child_process.h"
#include "experiment/machine.h"

namespace faceter::cli {
namespace {

constexpr std::chrono::hours longest_tokenising{24};

Error stopped() { return Error(ExitCode::stopped, "stopped; nothing of the folder was left"); }

struct StageArguments : ExperimentArguments {
    std::string output;
    bool json = false;
};

/// By the worker, which knows what each variant puts in front of a text. Without it, or without libtorch, the node makes them.
void add_tokens(const Experiment& experiment, const fs::path& folder) {
    Json all = Json::array();
    for (const ResolvedRun& run : experiment.runs()) all.push_back(run.settings);
    const TemporaryDirectory made;
    write_file_atomic(made.path() / "runs.json", all.dump());
    say(stderr, "tokenising the training data\n");
    try {
        const ChildResult result =
            run_child({worker_program().string(), "data", "tokens", (made.path() / "runs.json").string(), "--output", folder.string()},
                      longest_tokenising, 1 << 20);
        if (result.exit_code != 0) throw failure("{}", trim(result.last_lines));
    } catch (const Error& error) {
        if (error.code() == ExitCode::stopped) throw stopped();
        for (const auto& entry : fs::directory_iterator(folder)) remove_tree(entry.path());
        say(stderr, "warning: no token caches are staged, the node will make them: {}\n", error.what());
    }
}

Json report_json(const fs::path& folder, std::size_t runs, const StageReport& report) {
    return {{"folder", folder.string()},
            {"runs", runs},
            {"files", report.num_files},
            {"bytes", report.bytes},
            {"token_caches", report.num_token_caches}};
}

int stage(const Cli& cli, const StageArguments& arguments) {
    const Catalogue catalogue = load_catalogue(cli);
    const Experiment experiment = load_experiment(catalogue, arguments);
    check_everything(experiment, catalogue, 1);
    print_missing(experiment);
    const fs::path folder = absolute_path(arguments.output);
    std::optional<ProgressLine> line;
    StageOptions options;
    options.smoke = arguments.smoke;
    options.add_tokens = [&](const fs::path& tokens) { add_tokens(experiment, tokens); };
    options.progress = [&](std::uint64_t done, std::uint64_t all) {
        if (stop_requested() != StopRequest::none) throw stopped();
        if (!line) line.emplace("copy", all, "B");
        line->update(done);
    };
    install_stop_handlers();
    const StageReport report = stage_experiment(experiment, catalogue, folder, options);
    if (line) line->finish();
    if (arguments.json) {
        print_json(report_json(folder, experiment.runs().size(), report));
        return 0;
    }
    say(stdout, "{}\n", folder.string());
    say(stderr, "{}, {} files, {}, {} token cache{}\nnext, on the node: faceter run --staged {} --project DIR\n",
        counted_runs(experiment.runs().size()), report.num_files, format_bytes(report.bytes), report.num_token_caches,
        report.num_token_caches == 1 ? "" : "s", typed(folder.string()));
    return 0;
}

}  // namespace

void add_stage_command(Cli& cli) {
    auto arguments = std::make_shared<StageArguments>();
    CLI::App* command = add_command(cli, cli.app, "stage", "Put all that an experiment reads into one folder",
                                    "  faceter stage mine.yaml --output /scratch/me/mine --seeds 1,2,3\n"
                                    "  faceter run --staged /scratch/me/mine --project /scratch/me/p\n"
                                    "  faceter submit --staged /scratch/me/mine --project p --profile gpu\n"
                                    "Start models, teachers, data and token caches are copied, with a hash each. The node needs\n"
                                    "Faceter of the same version, and libtorch (faceter setup --from DIR).",
                                    [&cli, arguments] { return stage(cli, *arguments); });
    add_experiment_arguments(cli, *command, *arguments);
    command->add_option("--output", arguments->output, "folder to make")->required()->check(not_empty())->type_name("DIR");
    command->add_flag("--json", arguments->json, "print as JSON");
}

}  // namespace faceter::cli
