#include "cli/commands.h"
#include "common/error.h"
#include "run/store.h"

namespace faceter::cli {
namespace {

struct RecordOptions {
    std::string project, run, text;
    std::vector<std::string> runs, tags;
    bool rebuild = false, remove = false, yes = false, json = false;
};

int ingest(const RecordOptions& options) {
    const Project project = open_project(options.project);
    const std::vector<std::string> warnings = options.rebuild ? Store::rebuild(project.folder()) : Store(project.folder()).ingest_all();
    for (const std::string& warning : warnings) fmt::print(stderr, "warning: {}\n", warning);
    Store store(project.folder());
    if (options.json)
        print_json({{"store", store.file().string()}, {"runs", store.runs().size()}, {"warnings", warnings}});
    else
        fmt::print("{}: {} runs\n", store.file().string(), store.runs().size());
    return 0;
}

int tag(const RecordOptions& options) {
    const RunDirectory run = open_project(options.project).find_run(options.run);
    for (const std::string& tag : options.tags) run.append_user_event({{options.remove ? "untag" : "tag", tag}});
    return 0;
}

int note(const RecordOptions& options) {
    open_project(options.project).find_run(options.run).append_user_event({{"note", options.text}});
    return 0;
}

int archive(const RecordOptions& options) {
    const Project project = open_project(options.project);
    for (const std::string& name : options.runs) project.find_run(name).append_user_event({{"archived", !options.remove}});
    return 0;
}

/// Runs go to PROJECT/deleted/, so that a wrong word costs nothing; --now removes them for good.
int remove_runs(const RecordOptions& options) {
    const Project project = open_project(options.project);
    std::vector<RunDirectory> runs;
    for (const std::string& name : options.runs) {
        runs.push_back(project.find_run(name));
        if (read_state(runs.back()).phase == RunPhase::running) throw usage_error("{} is running; stop it first", runs.back().info().id);
    }
    for (const RunDirectory& run : runs) {
        if (options.yes) {
            fs::remove_all(run.folder());
            continue;
        }
        const fs::path place = project.folder() / "deleted" / run.info().id;
        make_directories(place.parent_path());
        rename_synced(run.folder(), place);
        fmt::print(stderr, "moved to {}\n", place.string());
    }
    Store(project.folder()).ingest_all();
    return 0;
}

void add_run(CLI::App& command, RecordOptions& options) {
    command.add_option("RUN", options.run, "name of a run, or the beginning of one")->required();
    add_project_option(command, options.project);
}

}  // namespace

void add_record_commands(Cli& cli) {
    auto options = std::make_shared<RecordOptions>();
    CLI::App* ingested = add_command(cli, cli.app, "ingest", "Bring the store up to date with the run directories",
                                     "  faceter ingest --project ~/quickstart --rebuild", [options] { return ingest(*options); });
    add_project_option(*ingested, options->project);
    ingested->add_flag("--rebuild", options->rebuild, "make the store anew; it holds nothing that the run directories do not");
    ingested->add_flag("--json", options->json, "print as JSON");

    CLI::App* tagged = add_command(cli, cli.app, "tag", "Tag a run", "  faceter tag quickstart-mote-s1 paper --project ~/quickstart", [options] { return tag(*options); });
    add_run(*tagged, *options);
    tagged->add_option("TAG", options->tags, "tags")->required();
    tagged->add_flag("--remove", options->remove, "take the tags away");

    CLI::App* noted = add_command(cli, cli.app, "note", "Write a note to a run (replaces the one before)", "  faceter note quickstart-mote-s1 'best so far'",
                                  [options] { return note(*options); });
    add_run(*noted, *options);
    noted->add_option("TEXT", options->text, "the note")->required();

    CLI::App* archived = add_command(cli, cli.app, "archive", "Leave runs out of lists and comparisons", "  faceter archive quickstart-mote-s1",
                                     [options] { return archive(*options); });
    CLI::App* deleted = add_command(cli, cli.app, "delete", "Move runs to PROJECT/deleted", "  faceter delete quickstart-mote-s1 --project ~/quickstart",
                                    [options] { return remove_runs(*options); });
    for (CLI::App* command : {archived, deleted}) {
        command->add_option("RUN", options->runs, "names of runs, or the beginnings of some")->required();
        add_project_option(*command, options->project);
    }
    archived->add_flag("--undo", options->remove, "show them again");
    deleted->add_flag("--now", options->yes, "remove them from the disk for good");
}

}  // namespace faceter::cli
