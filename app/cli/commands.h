#pragma once
#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "common/json.h"
#include "experiment/catalogue.h"
#include "figure/table.h"
#include "record/run_directory.h"

namespace faceter {
class Store;
}

namespace faceter::cli {

/// The command line being built: commands declare themselves on `app` and the chosen one sets `action`.
struct Cli {
    CLI::App& app;
    std::function<int()> action;
    std::vector<std::string> plugin_folders;  ///< --plugin-dir
};

/// A command that is followed by one of its own: `faceter stats welch`.
CLI::App* add_command_group(Cli& cli, const std::string& name, const std::string& summary);
/// A subcommand with an example under its help. `run` is called after parsing; its result is the exit code.
CLI::App* add_command(Cli& cli, CLI::App& parent, const std::string& name, const std::string& summary, const std::string& example,
                      std::function<int()> run);
/// --project DIR (default: FACETER_PROJECT, else this folder where it is a project).
void add_project_option(CLI::App& command, std::string& project);
/// The same of a command that makes the project: --project DIR has no default.
void add_new_project_option(CLI::App& command, std::string& project);
Project open_project(const std::string& project);
/// Brings the store up to date with the run directories, and warns of what cannot be read.
void take_in(Store& store);
void take_in(const Project& project);
/// --plugin-dir DIR.
void add_plugin_option(Cli& cli, CLI::App& command);
Catalogue load_catalogue(const Cli& cli);

/// A path in a command that somebody may copy: in quotes where a shell needs them.
std::string typed(const std::string& path);
/// A document as it is; on a terminal with what would take it over replaced.
void print_document(const std::string& text);
void print_json(const Json& json);
/// What becomes of a text table that is wider than the terminal: it goes on in further blocks, or its rows become columns.
enum class WideTable { blocks, turn };
/// A sentence over as many lines as the terminal's width takes; lines after the first stand in.
void print_wrapped(const std::string& sentence);
/// In the format asked for, at the width of the terminal.
void print_table(const Table& table, const std::string& format, WideTable wide = WideTable::blocks);
/// --format text|csv|tsv|md|latex|json, and --json for the last.
void add_format_option(CLI::App& command, std::string& format);
/// --where EXPR (core/store/filter.h).
void add_where_option(CLI::App& command, std::string& where);
/// --columns, --sort and --descending, by the names of --where; the helps say of the first two what they are of.
struct ColumnOptions {
    std::vector<std::string> columns;
    std::string sort;
    bool descending = false;
};
void add_column_options(CLI::App& command, ColumnOptions& options, const std::string& columns_help, const std::string& sort_help);

/// `faceter` alone: what is in this folder, what runs, what could be done next. False where there is nothing of ours.
bool print_overview();

void add_run_commands(Cli& cli);      // run check resume rerun stop supervise
void add_queue_commands(Cli& cli);    // queue list, pause, continue, move
void add_list_commands(Cli& cli);     // list show
void add_names_command(Cli& cli);     // names, which completion of shells calls
void add_compare_commands(Cli& cli);  // compare similarity
void add_examples_command(Cli& cli);  // examples
void add_lineage_commands(Cli& cli);  // lineage diff
void add_series_command(Cli& cli);    // series
void add_stats_commands(Cli& cli);    // stats welch
void add_study_commands(Cli& cli);    // study run, status, report
void add_tokenize_command(Cli& cli);
void add_data_commands(Cli& cli);      // data overlap, data show
void add_record_commands(Cli& cli);    // ingest tag note archive pin delete restore trash
void add_import_commands(Cli& cli);    // import mteb
void add_report_command(Cli& cli);     // report
void add_machine_commands(Cli& cli);   // doctor plugins schema
void add_conform_command(Cli& cli);    // conform
void add_merge_command(Cli& cli);      // merge
void add_reference_command(Cli& cli);  // reference
void add_setup_command(Cli& cli);      // setup
void add_init_command(Cli& cli);       // init
void add_stage_command(Cli& cli);      // stage
void add_bundle_commands(Cli& cli);    // bundle open

/// This process goes on as another program, looked for in PATH where it has no slash; its name stands first among the words. Error (failed)
/// where it cannot.
[[noreturn]] void become_program(const std::string& program, std::vector<std::string> words);
/// embed, evaluate, export, describe and others that need the model: faceter-worker gets the same arguments, and does not return where it
/// is one.
bool is_worker_command(int argc, char** argv);
int run_worker_command(int argc, char** argv);
const std::vector<std::pair<std::string, std::string>>& worker_commands();
/// Those of the group "data".
const std::vector<std::pair<std::string, std::string>>& worker_data_commands();

struct StartOptions {
    int jobs = 1, devices = 1;  ///< runs at a time; processes of each
    bool detach = false, json = false;
    bool prints = true;  ///< false: whoever starts them prints which they were
};
/// Starts the runs, of which some may go on (start_queue), follows them, ingests, and prints their summary (run, resume, rerun).
int start_runs(const Project& project, const std::vector<RunDirectory>& runs, const StartOptions& options,
               const std::vector<RunDirectory>& resumed = {});
/// --take-over, of commands that need runs to stand still.
void add_take_over_option(CLI::App& command, bool& take_over);
/// Asks about each run that is silent, on a terminal, and gives its process up. Usage error where the answer is no.
void take_over_runs(const std::vector<RunDirectory>& runs);
/// A small table of some runs and what it says, in sentences (compare/summary.h), on standard output.
void print_summary(const Project& project, const std::vector<std::string>& run_ids);

}  // namespace faceter::cli
