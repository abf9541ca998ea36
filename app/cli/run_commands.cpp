#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <map>

#include "cli/checks.h"
#include "cli/cluster.h"
#include "cli/experiment_arguments.h"
#include "cli/named_runs.h"
#include "common/cancel.h"
#include "common/error.h"
#include "common/printable.h"
#include "common/strings.h"
#include "experiment/batch_negatives.h"
#include "experiment/chosen_runs.h"
#include "experiment/experiment.h"
#include "experiment/machine.h"
#include "experiment/noise_rates.h"
#include "experiment/processes.h"
#include "launch/elsewhere.h"
#include "launch/follow.h"
#include "launch/remote.h"
#include "launch/slurm.h"
#include "record/launch.h"
#include "record/staged_runs.h"
#include "store/store.h"

namespace faceter::cli {
namespace {

struct RunOptions : ExperimentArguments {
    std::string project;
    std::string staged;   ///< a folder of faceter stage, in place of the file
    std::string profile;  ///< where; empty: where they ran before; "here": this machine
    std::vector<std::string> run_names;
    ChosenRuns only;
    StartOptions start;
    bool dry_run = false, take_over = false, memory = false;
};

/// An experiment file, or a folder in which everything is decided.
void add_experiment_options(Cli& cli, CLI::App& command, RunOptions& options) {
    add_experiment_arguments(cli, command, options);
    command.add_flag("--json", options.start.json, "print as JSON");
    command
        .add_option("--only", options.only,
                    "of its runs only this, as in --only MoTE or --only MoTE/seed=2 (faceter check lists them); can be given several times")
        ->check(not_empty())
        ->type_name("RUN")
        ->allow_extra_args(false);
}

void add_staged_option(CLI::App& command, RunOptions& options) {
    command.get_option("FILE")->required(false);
    command.add_option("--staged", options.staged, "run what faceter stage wrote into this folder, and read nothing else")
        ->check(not_empty())
        ->type_name("DIR");
}

/// True for a staged folder. Usage errors: both, neither, or changes to what was decided.
bool is_staged(const RunOptions& options) {
    if (options.staged.empty() == options.file.empty())
        throw usage_error("name an experiment file, or --staged DIR{}", options.file.empty() ? "" : ", not both");
    if (options.staged.empty()) return false;
    if (!options.overrides.empty() || !options.seeds.empty() || options.smoke)
        throw usage_error("what is staged is decided: give --set, --seeds and --smoke to faceter stage");
    return true;
}

/// The staged folder, of its runs those that --only names.
StagedExperiment open_chosen(const Catalogue& catalogue, const RunOptions& options, int processes) {
    StagedExperiment staged = open_staged_here(options.staged, catalogue, processes);
    const auto is_meant = [](const ResolvedRun& run, const std::string& name) {
        return name == run.variant || name == name_of(run) || fmt::format("{}/seed={}", name, run.seed) == name_of(run);
    };
    std::vector<std::string> known;
    for (const ResolvedRun& run : staged.runs) known.push_back(name_of(run));
    for (const std::string& name : options.only)
        if (std::none_of(staged.runs.begin(), staged.runs.end(), [&](const ResolvedRun& run) { return is_meant(run, name); }))
            throw usage_error("{} has no run {}; its runs are {}", options.staged, faceter::quoted(name), join(known, ", "));
    std::erase_if(staged.runs, [&](const ResolvedRun& run) {
        const auto names_it = [&](const std::string& name) { return is_meant(run, name); };
        return !options.only.empty() && std::none_of(options.only.begin(), options.only.end(), names_it);
    });
    return staged;
}

std::vector<RunDirectory> make_runs(const Project& project, const Experiment& experiment, const RunOptions& options) {
    const std::vector<const ResolvedRun*> chosen = chosen_runs(experiment, options.only);
    Store store(project.folder());
    return make_all_or_none(project, [&](std::vector<RunDirectory>& runs) {
        for (const ResolvedRun* run : chosen) runs.push_back(RunDirectory::create(project.folder(), experiment, *run, options.smoke));
    });
}

int run_staged(const Catalogue& catalogue, const RunOptions& options) {
    const StagedExperiment staged = open_chosen(catalogue, options, options.start.devices);
    worker_program();
    const Project project(options.project, true);
    const Store store(project.folder());
    const auto make = [&](std::vector<RunDirectory>& runs) { create_staged_runs(project, staged, runs); };
    return start_runs(project, make_all_or_none(project, make), options.start);
}

int run_experiment(const Cli& cli, const RunOptions& options) {
    const Catalogue catalogue = load_catalogue(cli);
    if (is_staged(options)) return run_staged(catalogue, options);
    const Experiment experiment = load_experiment(catalogue, options);
    check_everything(experiment, catalogue, options.start.devices);
    chosen_runs(experiment, options.only);
    print_missing(experiment);
    worker_program();
    const Project project(options.project, true);
    return start_runs(project, make_runs(project, experiment, options), options.start);
}

std::string describe_submission(const Profile& profile, const Experiment& experiment, const ExperimentOptions& choices,
                                const RunOptions& options) {
    const std::size_t runs = chosen_runs(experiment, options.only).size();
    if (profile.kind != "ssh") return describe_slurm_job(options.project, profile, experiment.name(), runs);
    return fmt::format("{}\n# {}\n", remote_submission(profile, experiment, choices, options.only), join(ssh_command(profile), " "));
}

int print_dry_run(const std::string& submission, bool json) {
    if (json)
        print_json({{"submission", submission}});
    else
        print_document(submission);
    return 0;
}

int submit_staged_folder(const Catalogue& catalogue, const Profile& profile, const RunOptions& options) {
    const StagedExperiment staged = open_chosen(catalogue, options, profile.processes());
    if (options.dry_run && profile.kind != "ssh")
        return print_dry_run(describe_slurm_job(options.project, profile, staged.name, staged.runs.size()), options.start.json);
    const Project project(options.project, true);
    return print_submitted(project, profile, submit_staged(project, profile, staged), options.start.json);
}

int submit(const Cli& cli, const RunOptions& options) {
    const Profile profile = read_profile(options.profile);
    const Catalogue catalogue = load_catalogue(cli);
    if (is_staged(options)) return submit_staged_folder(catalogue, profile, options);
    const Experiment experiment = load_experiment(catalogue, options);
    if (profile.kind != "ssh") {  // over there, its own faceter looks for data and models
        check_everything(experiment, catalogue, profile.processes());
        print_missing(experiment);
    }
    const ExperimentOptions choices{options.overrides, options.seeds, options.smoke};
    if (options.dry_run) return print_dry_run(describe_submission(profile, experiment, choices, options), options.start.json);
    chosen_runs(experiment, options.only);
    const Project project(options.project, true);
    return print_submitted(project, profile, submit_experiment(project, profile, experiment, choices, options.only), options.start.json);
}

/// `faceter memory` of what was checked.
int forecast_memory(const RunOptions& options) {
    fmt::print("\n");
    std::fflush(stdout);
    std::vector<std::string> words{"faceter", "memory", options.file};
    for (const std::string& change : options.overrides) words.insert(words.end(), {"--set", change});
    if (options.start.devices > 1) words.insert(words.end(), {"--devices", std::to_string(options.start.devices)});
    become_program(worker_program().string(), std::move(words));
}

Json noise_json(const Json& settings) {
    Json list = Json::array();
    for (const NoiseRate& noise : noise_rates(settings))
        list.push_back({{"task", noise.task}, {"data_set", noise.set}, {"noise_rate", noise.rate}});
    return list;
}

Json checked_json(const Experiment& experiment, const std::vector<const ResolvedRun*>& runs, int processes) {
    Json list = Json::array();
    for (const ResolvedRun* run : runs)
        list.push_back({{"name", name_of(*run)},
                        {"variant", run->variant},
                        {"method", run->method},
                        {"plugin", run->plugin},
                        {"point", run->point},
                        {"seed", run->seed},
                        {"negatives", negatives_json(batch_negatives(run->settings), processes)},
                        {"noise", noise_json(run->settings)},
                        {"settings", run->settings}});
    return {{"name", experiment.name()}, {"runs", list}};
}

void drop_empty_columns(Table& table, const std::vector<std::string>& unless) {
    for (std::size_t c = table.columns.size(); c-- > 0;) {
        if (std::find(unless.begin(), unless.end(), table.columns[c].name) != unless.end()) continue;
        if (!std::all_of(table.rows.begin(), table.rows.end(), [&](const Row& row) { return row.cells[c].text.empty(); })) continue;
        table.columns.erase(table.columns.begin() + static_cast<std::ptrdiff_t>(c));
        for (Row& row : table.rows) row.cells.erase(row.cells.begin() + static_cast<std::ptrdiff_t>(c));
    }
}

void print_runs(const std::vector<const ResolvedRun*>& runs) {
    Table table;
    for (const char* name : {"variant", "method", "plugin", "seed", "point"}) table.add_column(name, ColumnKind::text);
    for (const ResolvedRun* run : runs)
        table.add_row({Cell::of(run->variant), Cell::of(run->method), Cell::of(run->plugin), Cell::of(std::to_string(run->seed)),
                       Cell::of(run->point)});
    drop_empty_columns(table, {"variant", "method", "plugin", "seed"});
    print_table(table, "text");
}

std::string number_or(const std::optional<std::int64_t>& number, std::string_view otherwise) {
    return number ? std::to_string(*number) : std::string(otherwise);
}

Row negatives_row(const std::string& runs, const BatchNegatives& batch, int processes) {
    const std::string limit = batch.most_tokens > 0 ? fmt::format(", {} tokens", batch.most_tokens) : "";
    return {{Cell::of(runs), Cell::of(batch.stage), Cell::of(join(batch.tasks, ", ")), Cell::of(std::string(words(batch.from))),
             Cell::of(fmt::format("{}{}", batch.pairs, limit)),
             Cell::of(processes > 1 ? std::to_string((batch.pairs + processes - 1) / processes) : ""),
             Cell::of(batch.chunk > 0 ? std::to_string(batch.chunk) : ""), Cell::of(number_or(batch.in_batch, batch.objective + "'s")),
             Cell::of(number_or(batch.hard, batch.in_batch ? "as given" : batch.objective + "'s"))}};
}

void print_negatives(const std::vector<const ResolvedRun*>& runs, int processes) {
    const std::vector<AlikeRuns> alike = alike_runs(runs);
    if (alike.empty()) return;
    Table table;
    for (const char* name : {"runs", "stage", "tasks", "pairs of", "batch", "a process", "chunk", "in-batch", "hard"})
        table.add_column(name, ColumnKind::text);
    for (const AlikeRuns& group : alike)
        for (const BatchNegatives& batch : group.batches)
            table.rows.push_back(negatives_row(alike.size() > 1 ? join(group.names, ", ") : "", batch, processes));
    drop_empty_columns(table, {});
    fmt::print("\nnegatives of each query, at most\n\n");
    print_table(table, "text");
}

/// Each data set and rate once, of whichever runs.
void print_noise(const std::vector<const ResolvedRun*>& runs) {
    std::vector<NoiseRate> all;
    for (const ResolvedRun* run : runs)
        for (const NoiseRate& noise : noise_rates(run->settings))
            if (std::find(all.begin(), all.end(), noise) == all.end()) all.push_back(noise);
    if (all.empty()) return;
    Table table;
    table.add_column("task", ColumnKind::text);
    table.add_column("data set", ColumnKind::text);
    table.add_column("of its pairs", ColumnKind::text);
    for (const NoiseRate& noise : all)
        table.add_row({Cell::of(noise.task), Cell::of(noise.set), Cell::of(format_double(100 * noise.rate) + " %")});
    fmt::print("\nnoise: pairs that get another's positive (noise_rate)\n\n");
    print_table(table, "text");
}

int check_experiment(const Cli& cli, const RunOptions& options) {
    const Catalogue catalogue = load_catalogue(cli);
    const Experiment experiment = load_experiment(catalogue, options);
    const std::vector<const ResolvedRun*> runs = chosen_runs(experiment, options.only);
    if (options.memory && !options.only.empty()) throw usage_error("--memory is of the whole experiment; leave --only out");
    check_everything(experiment, catalogue, options.start.devices);
    print_missing(experiment);
    if (options.start.json) {
        print_json(checked_json(experiment, runs, options.start.devices));
        return 0;
    }
    say(stdout, "{}: {} makes {}\n\n", options.file, experiment.name(), counted_runs(runs.size()));
    print_runs(runs);
    print_negatives(runs, options.start.devices);
    print_noise(runs);
    return options.memory ? forecast_memory(options) : 0;
}

std::vector<RunDirectory> named_runs(const Project& project, const RunOptions& options) {
    std::vector<RunDirectory> runs = find_runs(project, options.run_names);
    refuse_imported(runs);
    const Catalogue catalogue = Catalogue::load(plugin_folders());
    for (const RunDirectory& run : runs) check_processes(run.settings(), catalogue, options.start.devices);
    return runs;
}

void resume_elsewhere(const Project& project, const Profile& profile, const std::vector<RunDirectory>& runs, const StartOptions& options) {
    const std::string said = resume_through(project, profile, runs);
    if (!said.empty()) say(stderr, "{}\n", said);
    const bool is_followed = profile.kind == "ssh" && !options.detach;
    if (options.prints && (!is_followed || options.json)) print_submitted(project, profile, runs, options.json);
}

/// Of runs that a profile starts, it says that.
void refuse_processes(const std::string& profile, const StartOptions& options) {
    if (!profile.empty() && (options.jobs > 1 || options.devices > 1))
        throw usage_error("--jobs and --devices are for runs on this machine; profile '{}' says how many start there", profile);
}

int resume(const RunOptions& options) {
    const Project project = open_project(options.project);
    refresh_jobs(project);
    const std::vector<RunDirectory> named = named_runs(project, options);
    if (options.take_over) take_over_runs(named);
    const Destinations destinations = destinations_of(named, options.profile);
    for (const auto& [name, runs] : destinations) refuse_processes(name, options.start);
    StartOptions start = options.start;
    start.prints = !start.json || destinations.size() == 1;  // else all of them at the end
    std::vector<RunDirectory> followed;
    for (const auto& [name, runs] : destinations) {  // first those for which nobody waits here
        if (name.empty()) continue;
        const Profile profile = read_profile(name);
        resume_elsewhere(project, profile, runs, start);
        if (profile.kind == "ssh" && !start.detach) followed.insert(followed.end(), runs.begin(), runs.end());
    }
    int code = 0;
    if (const auto here = destinations.find(""); here != destinations.end()) code = start_runs(project, here->second, start, here->second);
    if (!followed.empty() && stop_requested() == StopRequest::none) code = std::max(code, follow_anywhere(project, followed));
    if (!start.prints) print_json(runs_json(named));
    return code;
}

int rerun(const RunOptions& options) {
    const Project project = open_project(options.project);
    const std::string profile = options.profile == "here" ? "" : options.profile;
    refuse_processes(profile, options.start);
    if (!profile.empty() && read_profile(profile).kind == "ssh")
        throw usage_error("a run of this machine is not carried to another; 'faceter submit FILE --profile {}' starts its experiment there",
                          profile);
    const std::vector<RunDirectory> named = named_runs(project, options);
    for (const RunDirectory& run : named)
        if (const auto there = profile_of_mirror(run))
            throw usage_error("{} ran where profile '{}' leads, and so do its paths; 'faceter submit' starts its experiment there anew",
                              run.info().shown_name(), *there);
    if (profile.empty()) return start_runs(project, make_alike(project, named), options.start);
    const Profile through = read_profile(profile);
    return print_submitted(project, through, submit_alike(project, through, named), options.start.json);
}

int stop(const RunOptions& options) {
    const Project project = open_project(options.project);
    refresh_jobs(project);
    const std::vector<RunDirectory> runs = named_runs(project, options);
    Json json = runs_json(runs);
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const RunState state = read_state(runs[i]);
        const bool over = is_over(state.phase);
        const std::string said = over ? fmt::format("is {} already", run_phase_name(state.phase)) : stop_run(runs[i]);
        say(stderr, "{} {}\n", runs[i].info().shown_name(), said);
        json["runs"][i].update({{"was_over", over}, {"said", said}});
    }
    if (options.start.json) print_json(json);
    return 0;
}

void add_names(CLI::App& command, RunOptions& options) {
    command
        .add_option("RUN", options.run_names,
                    "name of a run (MoTE-1), the beginning of its id, or a variant (its newest run, those of --smoke last)")
        ->required();
    add_project_option(command, options.project);
}

void add_devices_option(CLI::App& command, RunOptions& options) {
    command
        .add_option("--devices", options.start.devices,
                    "processes of each run that train together, sharing its cores; the results are the same")
        ->type_name("N")
        ->check(CLI::Range(1, 1024).description(""))
        ->capture_default_str();
}

void add_start_options(CLI::App& command, RunOptions& options) {
    command.add_flag("--detach", options.start.detach, "return at once; the runs go on by themselves");
    command.add_option("--jobs", options.start.jobs, "runs at the same time")
        ->type_name("N")
        ->check(CLI::Range(1, 1024).description(""))
        ->capture_default_str();
    add_devices_option(command, options);
}

/// On a terminal; elsewhere the flag is the answer.
bool is_agreed(const std::string& question) {
    if (!::isatty(STDIN_FILENO)) return true;
    say(stderr, "{}\nIs it gone, and shall this machine have the run? [y/N] ", question);
    std::string answer;
    std::getline(std::cin, answer);
    return answer == "y" || answer == "Y" || answer == "yes";
}

void add_run(Cli& cli, const std::shared_ptr<RunOptions>& options) {
    CLI::App* run = add_command(cli, cli.app, "run", "Run an experiment: train, evaluate and compare its variants",
                                "  faceter run experiments/quickstart.yaml --project ~/quickstart\n"
                                "  faceter run mine.yaml --project p --set training.batch_size=16 --seeds 1,2,3 --detach\n"
                                "  faceter run mine.yaml --project p --only MoTE --only EM/seed=1\n"
                                "  faceter run --staged /scratch/me/mine --project p   on a node without network\n"
                                "Ctrl-C stops with a checkpoint (exit code 6); faceter resume goes on.",
                                [&cli, options] { return run_experiment(cli, *options); });
    add_experiment_options(cli, *run, *options);
    add_staged_option(*run, *options);
    add_new_project_option(*run, options->project);
    add_start_options(*run, *options);
}

void add_check(Cli& cli, const std::shared_ptr<RunOptions>& options) {
    CLI::App* check = add_command(cli, cli.app, "check", "Check an experiment file; list its runs and their negatives",
                                  "  faceter check experiments/quickstart.yaml\n"
                                  "  faceter check mine.yaml --devices 4   as it is to be run\n"
                                  "  faceter check mine.yaml --only MoTE   of its runs those of one variant\n"
                                  "  faceter check mine.yaml --memory      and what it takes of a GPU",
                                  [&cli, options] { return check_experiment(cli, *options); });
    add_experiment_options(cli, *check, *options);
    check->add_flag("--memory", options->memory, "say what training takes of a GPU's memory, too (faceter memory)")
        ->excludes("--json")
        ->excludes("--smoke");
    add_devices_option(*check, *options);
}

void add_submit(Cli& cli, const std::shared_ptr<RunOptions>& options) {
    CLI::App* submitted = add_command(cli, cli.app, "submit", "Run an experiment on a cluster, through a profile",
                                      "  mkdir -p ~/.config/faceter/profiles\n"
                                      "  faceter profile template slurm > ~/.config/faceter/profiles/gpu.yaml\n"
                                      "  faceter submit mine.yaml --project p --profile gpu --seeds 1,2,3 --dry-run\n"
                                      "  faceter submit mine.yaml --project p --profile gpu --seeds 1,2,3\n"
                                      "  faceter follow --project p\n"
                                      "Every run is one element of a job array. It writes a checkpoint when its time is up or\n"
                                      "another job takes its place, and goes on from there.",
                                      [&cli, options] { return submit(cli, *options); });
    add_experiment_options(cli, *submitted, *options);
    add_staged_option(*submitted, *options);
    add_new_project_option(*submitted, options->project);
    submitted->add_option("--profile", options->profile, "a profile (faceter profile list)")->required()->type_name("NAME");
    submitted->add_flag("--dry-run", options->dry_run, "print what would be submitted, and make nothing");
}

/// Of runs that are there: resume, rerun and stop.
void add_resume(Cli& cli, const std::shared_ptr<RunOptions>& options) {
    CLI::App* resumed = add_command(cli, cli.app, "resume", "Go on with stopped, failed or dead runs from their last checkpoint",
                                    "  faceter resume quickstart-mote-s1 --project ~/quickstart\n"
                                    "  faceter resume quickstart-mote-s1 --take-over",
                                    [options] { return resume(*options); });
    CLI::App* again = add_command(cli, cli.app, "rerun", "A new run with the same resolved settings as an older one",
                                  "  faceter rerun MoTE --project ~/quickstart", [options] { return rerun(*options); });
    CLI::App* stopped = add_command(cli, cli.app, "stop", "Stop runs with a checkpoint",
                                    "  faceter stop quickstart-mote-s1 --project ~/quickstart", [options] { return stop(*options); });
    for (CLI::App* command : {resumed, again, stopped}) add_names(*command, *options);
    for (CLI::App* command : {resumed, again, stopped}) command->add_flag("--json", options->start.json, "print as JSON");
    add_take_over_option(*resumed, options->take_over);
    for (CLI::App* command : {resumed, again}) {
        add_start_options(*command, *options);
        command->add_option("--profile", options->profile, "a profile to start through, or 'here' for this machine")->type_name("NAME");
    }
}

void add_supervise(Cli& cli) {
    auto queue = std::make_shared<std::string>();
    CLI::App* hidden = add_command(cli, cli.app, "supervise", "", "", [queue] { return supervise(*queue); });
    hidden->group("");
    hidden->add_option("QUEUE", *queue)->required();
}

/// Behind a Ctrl-C: of the runs that have stopped, were killed, or were never begun.
void say_how_to_go_on(const Project& project, const std::vector<RunDirectory>& runs) {
    std::string names;
    for (const RunDirectory& run : runs) {
        std::error_code ignored;
        if (!fs::exists(run.folder() / "run.json", ignored)) continue;
        const RunPhase phase = read_state(run).phase;
        if (phase == RunPhase::stopped || phase == RunPhase::dead) names += " " + typed(run.info().shown_name());
    }
    if (!names.empty()) say(stderr, "go on with: faceter resume{} --project {}\n", names, typed(project.folder().string()));
}

}  // namespace

void add_take_over_option(CLI::App& command, bool& take_over) {
    command.add_flag("--take-over", take_over,
                     "give up processes of silent runs, which cannot be looked for from here; asks on a terminal. One that lives after "
                     "all ends at its next checkpoint");
}

void take_over_runs(const std::vector<RunDirectory>& runs) {
    for (const RunDirectory& run : runs) {
        const std::string question = take_over_question(run);
        if (question.empty()) continue;  // nothing stands in the way
        if (!is_agreed(question)) throw usage_error("{} was not taken over; nothing was changed", run.info().shown_name());
        take_over(run);
        say(stderr, "took over {}\n", question);
    }
}

int start_runs(const Project& project, const std::vector<RunDirectory>& runs, const StartOptions& options,
               const std::vector<RunDirectory>& resumed) {
    install_stop_handlers();
    const Queue queue = start_queue(project, runs, options.jobs, options.devices, resumed);
    if (options.detach) {
        if (options.json && options.prints) print_json(runs_json(runs));
        for (const RunDirectory& run : runs)
            if (!options.json) say(stdout, "{}\n", run.info().shown_name());
        say(stderr, "started; see: faceter list --project {}\n", typed(project.folder().string()));
        return 0;
    }
    say(stderr, "{} in {}\n", counted_runs(runs.size()), project.runs_folder().string());
    const int code = follow_queue(queue);
    take_in(project);
    std::vector<std::string> ids;
    for (const RunDirectory& run : runs) ids.push_back(run.info().id);
    if (!options.json)
        print_summary(project, ids);
    else if (options.prints)
        print_json(runs_json(runs));
    say_how_to_go_on(project, runs);
    return code;
}

void add_run_commands(Cli& cli) {
    const auto options = std::make_shared<RunOptions>();
    add_run(cli, options);
    add_check(cli, options);
    add_submit(cli, options);
    add_resume(cli, options);
    add_supervise(cli);
}

}  // namespace faceter::cli
