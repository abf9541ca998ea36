#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "cli/checks.h"
#include "cli/cluster.h"
#include "cli/plugin_command.h"
#include "cli/version.h"
#include "common/command.h"
#include "common/error.h"
#include "common/json_text.h"
#include "common/printable.h"
#include "common/progress.h"
#include "common/strings.h"
#include "figure/help_formatter.h"
#include "figure/table_export.h"
#include "figure/text_width.h"
#include "figure/usage_message.h"
#include "record/models_by_run.h"

namespace faceter::cli {
namespace {

constexpr const char* footer = R"(
Examples:
  faceter run experiments/quickstart.yaml --project ~/quickstart
  faceter compare --project ~/quickstart --format latex
  faceter embed --model minilm --output texts.npy texts.txt

Exit codes: 0 done, 2 wrong usage, 3 wrong experiment or settings, 4 wrong data or checkpoint,
5 failed while running, 6 stopped (a run with a checkpoint: faceter resume), 7 out of memory, 8 a
peer was lost.
Help of a command: faceter help COMMAND, or faceter COMMAND --help)";

/// Of commands that make no run: where names of runs stand for their models.
void add_project_of_models(CLI::App& command) {
    const std::string description = "project whose runs may be named as models (default: FACETER_PROJECT, else this folder)";
    command.add_option("--project", description)->check(not_empty())->type_name("DIR");
}

/// Experiment files may name runs of the project at hand; a worker that reads one finds the project in its environment.
void use_models_of_project(const CLI::App& app) {
    const CLI::Option* option = chosen_command(app).get_option_no_throw("--project");
    if (option && !option->empty()) ::setenv("FACETER_PROJECT", absolute_path(option->as<std::string>()).c_str(), 1);
    use_runs_as_models();
}

/// In the order of the help.
void add_commands(Cli& cli) {
    add_run_commands(cli);
    add_cluster_commands(cli);
    add_queue_commands(cli);
    add_list_commands(cli);
    add_names_command(cli);
    add_compare_commands(cli);
    add_examples_command(cli);
    add_lineage_commands(cli);
    add_series_command(cli);
    for (const auto& [name, summary] : worker_commands()) cli.app.add_subcommand(name, summary)->group("Commands");
    add_tokenize_command(cli);
    add_stats_commands(cli);
    add_study_commands(cli);
    add_data_commands(cli);
    add_record_commands(cli);
    add_import_commands(cli);
    add_report_command(cli);
    add_machine_commands(cli);
    add_conform_command(cli);
    add_plugin_commands(cli);
    add_merge_command(cli);
    add_reference_command(cli);
    add_setup_command(cli);
    add_init_command(cli);
    add_stage_command(cli);
    add_bundle_commands(cli);
    for (const char* name : {"check", "stage", "tokenize", "conform"}) add_project_of_models(*cli.app.get_subcommand(name));
}

void refuse_unknown(const CLI::App& app, const std::string& word) {
    std::vector<std::string> names = command_names(app);
    std::sort(names.begin(), names.end());
    const std::vector<std::string> hidden{"supervise", "attend", "feed", "names"};  // what faceter itself and shells call
    if (std::find(hidden.begin(), hidden.end(), word) == hidden.end() && std::find(names.begin(), names.end(), word) == names.end())
        throw usage_error("unknown command {}{}", faceter::quoted(word), suggestion(word, names));
}

int parse_and_run(int argc, char** argv);

/// `faceter help stats welch` is `faceter stats welch --help`.
int print_help(int argc, char** argv) {
    std::string flag = "--help";
    std::vector<char*> words{argv[0]};
    words.insert(words.end(), argv + 2, argv + argc);
    words.push_back(flag.data());
    return parse_and_run(static_cast<int>(words.size()), words.data());
}

int parse_and_run(int argc, char** argv) {
    if (argc > 1 && argv[1] == std::string_view("help")) return print_help(argc, argv);
    if (is_worker_command(argc, argv)) return run_worker_command(argc, argv);
    CLI::App app("Faceter: a workbench for task-specialised text embeddings.", "faceter");
    Cli cli{app, {}, {}};
    app.require_subcommand(1);
    app.set_version_flag(
        "--version", [] { return version_text(find_plugins(plugin_folders())); }, "Version, commit, libtorch, compiler and plugins");
    app.footer(footer);
    app.formatter(std::make_shared<HelpFormatter>());
    add_commands(cli);
    if (argc > 1 && argv[1][0] != '-') refuse_unknown(app, argv[1]);
    try {
        parse_as_typed(app, argc, argv);
    } catch (const CLI::Success& asked_for_help) {
        std::ostringstream help;
        const int code = app.exit(asked_for_help, help, help);
        fmt::print("{}", help.str());  // which says why it could not be written; std::cout forgets it
        return code;
    } catch (const CLI::ParseError& error) {
        if (argc == 1 && print_overview()) return 0;
        if (argc == 1) {
            put(stderr, app.help());
            return static_cast<int>(ExitCode::usage);
        }
        throw usage_error("{}", usage_message(app, error));
    }
    use_models_of_project(app);
    return cli.action ? cli.action() : 0;
}

}  // namespace

CLI::App* add_command_group(Cli& cli, const std::string& name, const std::string& summary) {
    CLI::App* group = cli.app.add_subcommand(name, summary)->group("Commands");
    group->require_subcommand(1);
    group->footer(fmt::format("\nExamples and options of each: faceter {} COMMAND --help", name));
    return group;
}

CLI::App* add_command(Cli& cli, CLI::App& parent, const std::string& name, const std::string& summary, const std::string& example,
                      std::function<int()> run) {
    CLI::App* command = parent.add_subcommand(name, summary)->group("Commands");
    command->footer("\nExample:\n" + example);
    command->callback([&cli, run = std::move(run)] { cli.action = run; });
    return command;
}

void add_project_option(CLI::App& command, std::string& project) {
    command.add_option("--project", project, "folder of the project (default: FACETER_PROJECT, else this folder)")
        ->check(not_empty())
        ->type_name("DIR");
}

void add_new_project_option(CLI::App& command, std::string& project) {
    command.add_option("--project", project, "folder of the project; made when it is missing")
        ->required()
        ->check(not_empty())
        ->type_name("DIR");
}

Project open_project(const std::string& project) {
    if (!project.empty()) return Project(project, false);
    if (const char* set = std::getenv("FACETER_PROJECT"); set && *set) return Project(set, false);
    if (fs::is_directory("runs")) return Project(".", false);
    throw usage_error("no project: give --project DIR, or set FACETER_PROJECT");
}

void add_plugin_option(Cli& cli, CLI::App& command) {
    command.add_option("--plugin-dir", cli.plugin_folders, "a further folder with plugins; may be given several times")
        ->type_name("DIR")
        ->allow_extra_args(false);  // the words behind it are the command's
}

Catalogue load_catalogue(const Cli& cli) {
    if (!cli.plugin_folders.empty()) {
        // The worker, which a supervisor starts later, finds the same folders in its environment.
        std::string all = std::getenv("FACETER_PLUGIN_DIR") ? std::getenv("FACETER_PLUGIN_DIR") : "";
        for (const std::string& folder : cli.plugin_folders) all += (all.empty() ? "" : ":") + absolute_path(folder).string();
        ::setenv("FACETER_PLUGIN_DIR", all.c_str(), 1);
    }
    return Catalogue::load(plugin_folders());
}

std::string typed(const std::string& path) {
    constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/-";
    const bool needs_none = !path.empty() && path.front() != '-' && path.find_first_not_of(plain) == std::string::npos;
    return needs_none ? path : shell_file(path);
}

void print_document(const std::string& text) { fmt::print("{}", is_terminal(stdout) ? printable_lines(text) : text); }

/// The same, and the tabs between fields stay.
void print_fields(const std::string& text) {
    std::string before;
    for (const std::string_view field : split(text, '\t')) {
        fmt::print("{}", std::exchange(before, "\t"));
        print_document(std::string(field));
    }
}

void print_json(const Json& json) { print_document(json_text(json, 1) + "\n"); }

void print_wrapped(const std::string& sentence) {
    std::string before;
    for (const std::string& line : wrap(sentence, terminal_columns(stdout) - 2, LongWords::whole)) {
        say(stdout, "{}{}\n", before, line);
        before = "  ";
    }
}

void print_table(const Table& table, const std::string& format, WideTable wide) {
    const TableFormat wanted = parse_table_format(format);
    const TextTableOptions options{terminal_columns(stdout), wanted == TableFormat::text && use_colour(stdout), wide == WideTable::turn};
    const std::string text = export_table(table, wanted, options);
    const std::string ended = text.ends_with('\n') ? text : text + "\n";
    if (wanted == TableFormat::text)
        fmt::print("{}", ended);  // its cells are escaped, and its colours are ours
    else
        wanted == TableFormat::tsv ? print_fields(ended) : print_document(ended);
}

void add_format_option(CLI::App& command, std::string& format) {
    format = "text";
    CLI::Option* named = command.add_option("--format", format, "text, csv, tsv, md, latex or json");
    named->check(CLI::IsMember({"text", "csv", "tsv", "md", "latex", "json"}))->type_name("NAME")->capture_default_str();
    command.add_flag_callback(
        "--json",
        [&format, named] {
            if (named->count() > 0 && format != "json") throw CLI::ExcludesError("--json", "--format " + format);
            format = "json";
        },
        "the same as --format json");
}

void add_where_option(CLI::App& command, std::string& where) {
    command.add_option("--where", where, "only runs that an expression is true of")->type_name("EXPR");
    command.footer(command.get_footer() + R"(

EXPR compares (= != < <= > >=, ~ contains, in) and joins by and, or, not. Names: variant, seed,
state, tag, note, created, score, loss, pinned ...; data sets and task types (percent; up to 1 a
fraction); dotted settings; a value of a series (loss:last, loss:best, loss:100).)");
}

namespace {

/// Names of a list, of which one that has a comma stands in double quotes; a quote within these is doubled.
std::vector<std::string> names_of_list(std::string_view list) {
    std::vector<std::string> names(1);
    bool in_quotes = false, closed = false;
    for (std::size_t i = 0; i < list.size(); ++i) {
        const bool at_start = names.back().empty() && !closed;
        if (list[i] == ',' && !in_quotes) {
            names.emplace_back();
            closed = false;
        } else if (list[i] == '"' && in_quotes && i + 1 < list.size() && list[i + 1] == '"') {
            names.back() += list[i++];
        } else if (list[i] == '"' && (in_quotes || at_start)) {
            closed = in_quotes;
            in_quotes = !in_quotes;
        } else {
            names.back() += list[i];
        }
    }
    if (in_quotes) throw CLI::ValidationError("--columns", fmt::format("a quote of {} is not closed", faceter::quoted(std::string(list))));
    if (std::any_of(names.begin(), names.end(), [](const std::string& name) { return name.empty(); }))
        throw CLI::ValidationError("--columns", "a member of the list is empty");
    return names;
}

}  // namespace

void add_column_options(CLI::App& command, ColumnOptions& options, const std::string& columns_help, const std::string& sort_help) {
    const auto take = [&options](const std::vector<std::string>& lists) {
        for (const std::string& list : lists)
            for (std::string& name : names_of_list(list)) options.columns.push_back(std::move(name));
    };
    command
        .add_option_function<std::vector<std::string>>("--columns", take,
                                                       columns_help + "; a name with a comma stands in double quotes: '\"a, b\",seed'")
        ->allow_extra_args(false)
        ->type_name("NAME,...");
    CLI::Option* sort = command.add_option("--sort", options.sort, sort_help)->type_name("NAME");
    command.add_flag("--descending", options.descending, "the greatest first")->needs(sort);
}

}  // namespace faceter::cli

int main(int argc, char** argv) { return faceter::run_guarded("faceter", faceter::cli::parse_and_run, argc, argv); }
