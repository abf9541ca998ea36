#include <algorithm>
#include <set>

#include "cli/checks.h"
#include "cli/commands.h"
#include "cli/experiment_arguments.h"
#include "common/error.h"
#include "common/printable.h"
#include "compare/study_exclusions.h"
#include "compare/study_report.h"
#include "experiment/machine.h"
#include "figure/svg.h"
#include "figure/table_export.h"
#include "launch/supervisor.h"
#include "record/models_by_run.h"
#include "record/state.h"

namespace faceter::cli {
namespace {

struct StudyOptions {
    std::string file, project, output;
    StartOptions start;
    bool smoke = false;
};

/// As the other commands of the study take them.
std::string arguments_of(const StudyOptions& options) {
    return fmt::format("{} --project {}{}", typed(options.file), typed(options.project), options.smoke ? " --smoke" : "");
}

constexpr std::size_t most_told = 5;

/// Of records that look like a run's and are none, which would be made again without a word.
void tell_unlike(std::FILE* to, const std::vector<std::string>& unlike) {
    for (std::size_t i = 0; i < std::min(unlike.size(), most_told); ++i) say(to, "{}\n", unlike[i]);
    if (unlike.size() > most_told)
        say(to, "{} further runs do not count; faceter study status --json names them\n", unlike.size() - most_told);
}

/// As faceter run does, those that have runs to do.
void check_missing(const std::vector<Experiment>& experiments, const std::vector<StudyRun>& planned, const Catalogue& catalogue,
                   int processes) {
    for (const Experiment& experiment : experiments)
        if (std::any_of(planned.begin(), planned.end(),
                        [&](const StudyRun& run) { return !run.done && run.experiment_name == experiment.name(); }))
            check_everything(experiment, catalogue, processes);
}

int run_study(const Cli& cli, const StudyOptions& options) {
    const Catalogue catalogue = load_catalogue(cli);
    const Study study = read_study(options.file);
    if (!options.smoke) check_planned(study, options.file);
    const std::vector<Experiment> experiments = study_experiments(study, catalogue, options.smoke);
    check_claims(study, experiments);
    check_exclusions(study, study_names(experiments));
    worker_program();
    std::vector<StudyRun> planned = study_runs(study, catalogue, options.project, options.smoke);
    std::vector<std::string> unlike;
    for (const StudyRun& run : planned)
        if (!run.unlike.empty()) unlike.push_back(run.unlike);
    tell_unlike(stderr, unlike);
    std::set<fs::path> records;
    for (const StudyRun& run : planned) records.insert(run.record);
    check_missing(experiments, planned, catalogue, options.start.devices);
    const Project project(options.project, true);
    if (!options.smoke) record_study(study, project.folder());  // a smoke decides nothing
    const auto [runs, under_way] = begin_study(experiments, std::move(planned), project.folder(), options.smoke);
    for (const std::string& one : under_way) say(stderr, "{}\n", one);
    if (runs.empty()) {
        say(stdout, "every run of {} is done or running; see: faceter study report {}\n", study.name, arguments_of(options));
        return 0;
    }
    std::vector<RunDirectory> begun;
    for (const RunDirectory& run : runs)
        if (records.contains(run.folder())) begun.push_back(run);
    return start_runs(project, runs, options.start, begun);
}

std::string state_name(const StudyRun& run) { return run.record.empty() ? "missing" : std::string(run_phase_name(run.state.phase)); }

/// Where a study stands, run by run.
struct StudyProgress {
    Table table;
    Json runs = Json::array();
    std::vector<std::string> ended_early;  ///< "EM-3 failed: why"
    std::vector<std::string> unlike;       ///< "EM-1 does not count: why"
    std::size_t planned = 0, done = 0;
    double spent_s = 0;

    void add(const StudyRun& run) {
        ++planned;
        done += run.done;
        spent_s += run.done ? run.state.active_s : 0;
        if (run.ended_early())
            ended_early.push_back(fmt::format("{} {}: {}", run.record_name, run_phase_name(run.state.phase), run.state.cause));
        if (!run.unlike.empty()) unlike.push_back(run.unlike);
        table.add_row({Cell::of(run.experiment_name), Cell::of(run.wanted.variant), Cell::of(run.wanted.point),
                       Cell::of(std::to_string(run.wanted.seed)), Cell::of(state_name(run))});
        runs.push_back({{"experiment", run.experiment_name},
                        {"variant", run.wanted.variant},
                        {"point", run.wanted.point},
                        {"seed", run.wanted.seed},
                        {"run", run.record.empty() ? Json(nullptr) : Json(run.record_name)},
                        {"state", state_name(run)},
                        {"cause", run.state.cause},
                        {"unlike", run.unlike.empty() ? Json(nullptr) : Json(run.unlike)}});
    }
};

/// FACETER_PROJECT may name a project that the study makes when it is run.
StudyOptions at_hand(StudyOptions options) {
    if (!options.project.empty()) return options;
    const fs::path project = project_at_hand();
    options.project = (project == "." ? open_project("").folder() : project).string();
    return options;
}

int study_status(const Cli& cli, const StudyOptions& given) {
    const StudyOptions options = at_hand(given);
    const Study study = read_study(options.file);
    StudyProgress progress;
    for (const char* name : {"experiment", "variant", "point", "seed", "state"}) progress.table.add_column(name, ColumnKind::text);
    StudyNames names;
    each_study_run(study, load_catalogue(cli), options.project, options.smoke, [&](const StudyRun& run) {
        if (!study.exclusions.empty()) names.add(run.wanted.settings);
        progress.add(run);
    });
    check_exclusions(study, names);
    if (!fs::is_directory(options.project)) say(stderr, "{} is not there yet; faceter study run makes it\n", options.project);
    const std::size_t planned = progress.planned, done = progress.done;
    const double left_s = done ? progress.spent_s / static_cast<double>(done) * static_cast<double>(planned - done) : 0;
    if (options.start.json) {
        print_json({{"study", study.name},
                    {"done", done},
                    {"planned", planned},
                    {"spent_s", progress.spent_s},
                    {"left_s", done ? Json(left_s) : Json(nullptr)},
                    {"runs", progress.runs}});
        return 0;
    }
    print_table(progress.table, "text");
    for (const std::string& one : progress.ended_early) fmt::print("{}\n", printable(one));
    if (!progress.ended_early.empty()) say(stdout, "to go on with them: faceter study run {}\n", arguments_of(options));
    tell_unlike(stdout, progress.unlike);
    fmt::print("{} of {} runs are done{}\n", done, planned,
               done && done < planned ? "; about " + format_duration(left_s) + " are left" : "");
    return 0;
}

int report_on_study(const Cli& cli, const StudyOptions& given) {
    const StudyOptions options = at_hand(given);
    if (!options.output.empty()) make_directories(options.output);  // where it cannot be is said now, not after the work
    const StudyReport report = report_study(read_study(options.file), load_catalogue(cli), options.project, options.smoke);
    if (options.start.json)
        print_json(report.to_json());
    else
        print_document(report.to_markdown());
    if (options.output.empty()) return 0;
    const fs::path folder = options.output;
    write_file_atomic(folder / "report.md", report.to_markdown());
    write_file_atomic(folder / "report.json", report.to_json().dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
    for (const Figure& figure : report.figures) write_file_atomic(folder / (figure.name + ".svg"), figure_to_svg(figure));
    for (const Table& table : report.tables) write_file_atomic(folder / (table.name + ".csv"), table_to_csv(table));
    say(stderr, "{}\n", (folder / "report.md").string());
    return 0;
}

void add_study_options(Cli& cli, CLI::App& command, StudyOptions& options) {
    command.add_option("FILE", options.file, "study file")->required()->type_name("FILE.yaml");
    command.add_flag("--smoke", options.smoke, "the runs of faceter run --smoke instead: every stage with a few steps");
    command.add_flag("--json", options.start.json, "print as JSON");
    add_plugin_option(cli, command);
}

}  // namespace

void add_study_commands(Cli& cli) {
    auto options = std::make_shared<StudyOptions>();
    CLI::App* group = add_command_group(cli, "study", "Studies: what is asked is decided in a file before it is run");
    CLI::App* run =
        add_command(cli, *group, "run", "Run what a study lacks; runs that are done count, those that ended early go on",
                    "  faceter study run experiments/studies/mote.yaml --project ~/mote\nThe same command goes on after a reboot.",
                    [&cli, options] { return run_study(cli, *options); });
    CLI::App* status = add_command(cli, *group, "status", "Which runs of a study are done, and how long the others will take",
                                   "  faceter study status experiments/studies/mote.yaml --project ~/mote",
                                   [&cli, options] { return study_status(cli, *options); });
    CLI::App* report =
        add_command(cli, *group, "report", "What a study found: verdicts, effects with intervals, power, equivalence, figures",
                    "  faceter study report experiments/studies/mote.yaml --project ~/mote --output report",
                    [&cli, options] { return report_on_study(cli, *options); });
    for (CLI::App* command : {run, status, report}) add_study_options(cli, *command, *options);
    add_new_project_option(*run, options->project);
    for (CLI::App* command : {status, report}) add_project_option(*command, options->project);
    run->add_flag("--detach", options->start.detach, "return at once; the runs go on by themselves");
    run->add_option("--jobs", options->start.jobs, "runs at the same time")
        ->type_name("N")
        ->check(CLI::Range(1, 1024).description(""))
        ->capture_default_str();
    report->add_option("--output", options->output, "folder for report.md, report.json, tables (CSV) and figures (SVG)")->type_name("DIR");
}

}  // namespace faceter::cli
