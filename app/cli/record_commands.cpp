#include <unistd.h>

#include <chrono>

#include "cli/checks.h"
#include "cli/commands.h"
#include "cli/named_runs.h"
#include "common/error.h"
#include "common/printable.h"
#include "common/strings.h"
#include "record/trash_folders.h"
#include "store/store.h"

namespace faceter::cli {
namespace {

struct RecordOptions {
    std::string project, run, text;
    std::vector<std::string> runs, tags;
    bool rebuild = false, remove = false, yes = false, json = false, take_over = false;
    double days = 0;
};

/// --json: the runs, with what became of each.
void print_changed(const RecordOptions& options, const std::vector<RunDirectory>& runs, const Json& change) {
    if (!options.json) return;
    Json json = runs_json(runs);
    for (Json& run : json["runs"]) run.update(change);
    print_json(json);
}

int ingest(const RecordOptions& options) {
    const Project project = open_project(options.project);
    const std::vector<std::string> warnings = options.rebuild ? Store::rebuild(project.folder()) : Store(project.folder()).ingest_all();
    for (const std::string& warning : warnings) say(stderr, "warning: {}\n", warning);
    Store store(project.folder());
    if (store.file().empty())
        throw failure("{}: cannot be written; free some space and try again", Store::location(project.folder()).string());
    if (options.json)
        print_json({{"store", store.file().string()}, {"runs", store.runs().size()}, {"warnings", warnings}});
    else
        fmt::print("{}: {}\n", store.file().string(), counted_runs(store.runs().size()));
    return 0;
}

int tag(const RecordOptions& options) {
    const RunDirectory run = find_run(open_project(options.project), options.run);
    for (const std::string& tag : options.tags) run.append_user_event({{options.remove ? "untag" : "tag", tag}});
    print_changed(options, {run}, {{options.remove ? "untagged" : "tagged", options.tags}});
    return 0;
}

int note(const RecordOptions& options) {
    const RunDirectory run = find_run(open_project(options.project), options.run);
    run.append_user_event({{"note", options.text}});
    print_changed(options, {run}, {{"note", options.text}});
    return 0;
}

int archive(const RecordOptions& options) {
    const Project project = open_project(options.project);
    const std::vector<RunDirectory> runs = find_runs(project, options.runs);
    for (const RunDirectory& run : runs) run.append_user_event({{"archived", !options.remove}});
    print_changed(options, runs, {{"archived", !options.remove}});
    return 0;
}

int pin(const RecordOptions& options) {
    const Project project = open_project(options.project);
    const std::vector<RunDirectory> runs = find_runs(project, options.runs);
    for (const RunDirectory& run : runs) run.append_user_event({{"pinned", !options.remove}});
    print_changed(options, runs, {{"pinned", !options.remove}});
    return 0;
}

/// Who deletes on a full disk wants its space. Where nothing may be written, nothing can be removed either.
void move_to_trash(const Project& project, const std::string& id) {
    try {
        project.trash(id);
    } catch (const Error& error) {
        const bool may_remove = ::access(project.runs_folder().c_str(), W_OK) == 0;
        if (error.code() != ExitCode::failed || !may_remove) throw;
        throw failure("{}; 'faceter delete --now' removes a run for good, without the trash", error.what());
    }
}

/// Runs go to PROJECT/trash/, so that a wrong word costs nothing; --now removes them for good.
int remove_runs(const RecordOptions& options) {
    const Project project = open_project(options.project);
    const std::vector<RunDirectory> runs = find_single_runs(project, options.runs);
    if (options.take_over) take_over_runs(runs);
    const std::string there = options.project.empty() ? "" : " --project " + typed(options.project);
    Json json = runs_json(runs);
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const std::string& id = runs[i].info().id;
        if (options.yes) {
            std::error_code ignored;
            const bool link = fs::is_symlink(runs[i].folder(), ignored);
            const fs::path place = link ? fs::canonical(runs[i].folder(), ignored) : fs::path();
            project.remove(id);
            json["runs"][i]["folder"] = nullptr;
            say(stderr, "removed {} for good{}\n", runs[i].info().shown_name(),
                link ? fmt::format(", which was a link: its files stay in {}", place.string()) : "");
            continue;
        }
        move_to_trash(project, id);
        const std::string trashed = find_in_trash(project, id).string();
        json["runs"][i]["folder"] = trashed;
        say(stderr, "moved to {}; undo with: faceter restore {}{}\n", trashed, typed(runs[i].info().shown_name()), there);
    }
    Store(project.folder()).ingest_all();
    if (options.json) print_json(json);
    return 0;
}

int restore(const RecordOptions& options) {
    const Project project = open_project(options.project);
    std::vector<RunDirectory> runs;
    for (const std::string& name : options.runs) {
        runs.emplace_back(project.runs_folder() / project.restore(name));
        say(stderr, "restored {}\n", runs.back().info().shown_name());
    }
    Store(project.folder()).ingest_all();
    if (options.json) print_json(runs_json(runs));
    return 0;
}

int show_trash(const RecordOptions& options) {
    const Project project = open_project(options.project);
    if (options.yes) {
        const auto removed = project.empty_trash(options.days * 24 * 3600);
        say(stderr, "{} removed for good\n", counted_runs(removed));
        if (options.json) print_json({{"removed", removed}});
        return 0;
    }
    project.name_runs();
    const std::vector<TrashedRun> trashed = project.trashed();
    if (trashed.empty() && !options.json) say(stderr, "the trash is empty\n");
    Json list = Json::array();
    for (const TrashedRun& run : trashed) {
        const double age = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count() - run.when;
        list.push_back(
            {{"id", run.info.id}, {"name", run.info.name}, {"variant", run.info.variant}, {"seed", run.info.seed}, {"trashed_s_ago", age}});
        if (!options.json) say(stdout, "{}  {} ago\n", run.info.shown_name(), format_duration(age));
    }
    if (options.json) print_json(list);
    return 0;
}

void add_run(CLI::App& command, RecordOptions& options) {
    command.add_option("RUN", options.run, "name of a run, or the beginning of one")->required();
    add_project_option(command, options.project);
}

void add_ingest(Cli& cli, const std::shared_ptr<RecordOptions>& options) {
    CLI::App* ingested = add_command(cli, cli.app, "ingest", "Bring the store up to date with the run directories",
                                     "  faceter ingest --project ~/quickstart --rebuild", [options] { return ingest(*options); });
    add_project_option(*ingested, options->project);
    ingested->add_flag("--rebuild", options->rebuild, "make the store anew; it holds nothing that the run directories do not");
    ingested->add_flag("--json", options->json, "print as JSON");
}

/// What is said of one run.
void add_tag_and_note(Cli& cli, const std::shared_ptr<RecordOptions>& options) {
    CLI::App* tagged = add_command(cli, cli.app, "tag", "Tag a run", "  faceter tag quickstart-mote-s1 paper --project ~/quickstart",
                                   [options] { return tag(*options); });
    add_run(*tagged, *options);
    tagged->add_option("TAG", options->tags, "tags")->required()->check(not_empty());
    tagged->add_flag("--remove", options->remove, "take the tags away");

    CLI::App* noted = add_command(cli, cli.app, "note", "Write a note to a run (replaces the one before)",
                                  "  faceter note quickstart-mote-s1 'best so far'", [options] { return note(*options); });
    add_run(*noted, *options);
    noted->add_option("TEXT", options->text, "the note")->required();
    for (CLI::App* command : {tagged, noted}) command->add_flag("--json", options->json, "print as JSON");
}

/// Where runs stand: archive, pin, delete and restore.
void add_places(Cli& cli, const std::shared_ptr<RecordOptions>& options) {
    CLI::App* archived = add_command(cli, cli.app, "archive", "Leave runs out of lists and comparisons",
                                     "  faceter archive quickstart-mote-s1", [options] { return archive(*options); });
    CLI::App* pinned = add_command(cli, cli.app, "pin", "Pin runs: they stand first in the desktop's list",
                                   "  faceter pin quickstart-mote-s1", [options] { return pin(*options); });
    CLI::App* deleted =
        add_command(cli, cli.app, "delete", "Move runs to the project's trash",
                    "  faceter delete quickstart-mote-s1 --project ~/quickstart", [options] { return remove_runs(*options); });
    CLI::App* restored =
        add_command(cli, cli.app, "restore", "Take runs back from the trash", "  faceter restore quickstart-mote-s1 --project ~/quickstart",
                    [options] { return restore(*options); });
    for (CLI::App* command : {archived, pinned, deleted, restored}) {
        command->add_option("RUN", options->runs, "names of runs, or the beginnings of some")->required();
        add_project_option(*command, options->project);
        command->add_flag("--json", options->json, "print as JSON");
    }
    archived->add_flag("--undo", options->remove, "show them again");
    pinned->add_flag("--undo", options->remove, "take the pins away");
    deleted->add_flag("--now", options->yes, "remove them from the disk for good");
    add_take_over_option(*deleted, options->take_over);
}

void add_trash(Cli& cli, const std::shared_ptr<RecordOptions>& options) {
    CLI::App* trash = add_command(cli, cli.app, "trash", "List the project's trash, or empty it",
                                  "  faceter trash --project ~/quickstart\n  faceter trash --empty --older-than 30",
                                  [options] { return show_trash(*options); });
    add_project_option(*trash, options->project);
    CLI::Option* empty = trash->add_flag("--empty", options->yes, "remove for good what is there");
    trash->add_option("--older-than", options->days, "only what was deleted that many days ago")
        ->check(finite_number(0))
        ->type_name("DAYS")
        ->needs(empty);
    trash->add_flag("--json", options->json, "print as JSON");
}

}  // namespace

void take_in(Store& store) {
    for (const std::string& warning : store.ingest_all()) say(stderr, "warning: {}\n", warning);
}

void take_in(const Project& project) {
    Store store(project.folder());
    take_in(store);
}

void add_record_commands(Cli& cli) {
    const auto options = std::make_shared<RecordOptions>();
    add_ingest(cli, options);
    add_tag_and_note(cli, options);
    add_places(cli, options);
    add_trash(cli, options);
}

}  // namespace faceter::cli
