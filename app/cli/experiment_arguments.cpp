#include "cli/experiment_arguments.h"

#include "cli/checks.h"
#include "common/error.h"
#include "common/printable.h"
#include "common/progress.h"
#include "common/strings.h"
#include "experiment/before_start.h"
#include "experiment/processes.h"
#include "experiment/suite.h"

namespace faceter::cli {
namespace {

/// A cache is never a reason to fail: what cannot be kept is made anew.
void keep_token_caches(const StagedExperiment& staged) {
    try {
        const fs::path folder = cache_directory() / "tokens";
        make_directories(folder);
        for (const fs::path& cache : staged.token_caches)
            if (!fs::exists(folder / cache.filename())) copy_file_atomic(cache, folder / cache.filename());
    } catch (const Error&) {
    }
}

/// CLI11's own delimiter passes over what is missing between two commas: a variable of the shell that was never set.
std::vector<std::uint64_t> seeds_of(const std::vector<std::string>& lists) {
    std::vector<std::uint64_t> seeds;
    for (const std::string& list : lists)
        for (const std::string_view word : split(list, ',')) {
            std::string seed(word);
            if (const std::string wrong = whole_number(0)(seed); !wrong.empty()) throw CLI::ValidationError("--seeds", wrong);
            seeds.push_back(static_cast<std::uint64_t>(*parse_int(seed)));
        }
    return seeds;
}

}  // namespace

void add_experiment_arguments(Cli& cli, CLI::App& command, ExperimentArguments& arguments) {
    command.add_option("FILE", arguments.file, "experiment file")->required()->type_name("FILE.yaml");
    command.add_option("--set", arguments.overrides, "override a setting, as in --set training.batch_size=16")
        ->type_name("KEY=VALUE")
        ->allow_extra_args(false);
    command
        .add_option_function<std::vector<std::string>>(
            "--seeds", [&arguments](const std::vector<std::string>& lists) { arguments.seeds = seeds_of(lists); },
            "seeds instead of the file's, as in --seeds 1,2,3")
        ->type_name("N")
        ->allow_extra_args(false);  // the word behind them is the file
    command.add_flag("--smoke", arguments.smoke, "every stage with a few steps on a sample of the data, in at most two minutes");
    add_plugin_option(cli, command);
}

Experiment load_experiment(const Catalogue& catalogue, const ExperimentArguments& arguments) {
    return Experiment::load(arguments.file, catalogue, {arguments.overrides, arguments.seeds, arguments.smoke});
}

void check_everything(const Experiment& experiment, const Catalogue& catalogue, int processes) {
    for (const std::string& remark : check_before_start(experiment, catalogue, processes)) say(stderr, "warning: {}\n", remark);
}

void print_missing(const Experiment& experiment) {
    const Json& evaluation = experiment.runs().front().settings["evaluation"];
    const std::string name = evaluation["suite"].is_string() ? evaluation["suite"].get<std::string>() : "";
    if (name.empty()) return;
    const Suite suite = name.ends_with(".yaml") ? read_suite(absolute_path(experiment.file()).parent_path() / name) : find_suite(name);
    const fs::path root = evaluation["data_root"].get<std::string>();
    const std::string missing = describe_missing(suite, plan_suite(suite, root, false), root);
    if (!missing.empty()) say(stderr, "{}\n", missing);
}

StagedExperiment open_staged_here(const std::string& folder, const Catalogue& catalogue, int processes) {
    std::optional<ProgressLine> line;
    StagedExperiment staged = open_staged(folder, catalogue, [&](std::uint64_t done, std::uint64_t all) {
        if (!line) line.emplace("hashes of " + folder, all, "B");
        line->update(done);
    });
    if (line) line->finish();
    for (const ResolvedRun& run : staged.runs) check_processes(run.settings, catalogue, processes);
    keep_token_caches(staged);
    return staged;
}

}  // namespace faceter::cli
