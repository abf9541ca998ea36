#include "cli/checks.h"
#include "cli/commands.h"
#include "cli/named_runs.h"
#include "common/error.h"
#include "common/printable.h"
#include "launch/queue_order.h"
#include "record/run_names.h"

namespace faceter::cli {
namespace {

struct QueueOptions {
    std::string project, run;
    std::vector<std::string> queues;
    std::size_t place = 1;
    bool json = false;
};

std::string name_of(const QueueState& state) { return state.queue.folder.filename().string(); }

Json json_of(const QueueState& state) {
    return {{"queue", name_of(state)},        {"paused", state.paused},   {"jobs", state.queue.jobs},
            {"devices", state.queue.devices}, {"running", state.running}, {"waiting", state.waiting}};
}

/// By the names that tables show.
void print_queue(const fs::path& project, const QueueState& state) {
    const auto shown = [&](const std::string& id) {
        const std::string name = name_of_run(project, id, "");
        return name.empty() ? id : name;
    };
    say(stdout, "{}  {} at once{}{}\n", name_of(state), state.queue.jobs,
        state.queue.devices > 1 ? fmt::format(", {} processes each", state.queue.devices) : "", state.paused ? "  paused" : "");
    for (const std::string& run : state.running) say(stdout, "     running  {}\n", shown(run));
    for (std::size_t i = 0; i < state.waiting.size(); ++i) say(stdout, "{:>4} waiting  {}\n", i + 1, shown(state.waiting[i]));
}

/// A run whose queue was killed goes on by itself, and other projects have queues of their own.
void say_no_queue(const Project& project) {
    say(stderr, "no queue of {} is being worked off on this machine (faceter list shows what runs)\n", project.folder().string());
}

int list(const QueueOptions& options) {
    const Project project = open_project(options.project);
    const std::vector<QueueState> states = live_queues(project);
    if (states.empty() && !options.json) say_no_queue(project);
    if (options.json) {
        Json queues = Json::array();
        for (const QueueState& state : states) queues.push_back(json_of(state));
        print_json({{"queues", queues}});
        return 0;
    }
    for (const QueueState& state : states) print_queue(project.folder(), state);
    return 0;
}

/// Those named, or all that live.
int pause(const QueueOptions& options, bool paused) {
    const Project project = open_project(options.project);
    const std::vector<QueueState> states = live_queues(project);
    std::vector<std::string> known;
    for (const QueueState& state : states) known.push_back(name_of(state));
    for (const std::string& wanted : options.queues)
        if (std::find(known.begin(), known.end(), wanted) == known.end())
            throw usage_error("{}: no queue of this name is being worked off; see faceter queue list", wanted);
    Json json = {{"queues", Json::array()}};
    for (const QueueState& state : states) {
        if (!options.queues.empty() && std::find(options.queues.begin(), options.queues.end(), name_of(state)) == options.queues.end())
            continue;
        set_paused(state.queue, paused);
        if (options.json) {
            QueueState changed = state;
            changed.paused = paused;
            json["queues"].push_back(json_of(changed));
        } else {
            say(stdout, "{} {}\n", name_of(state), paused ? "is paused: what runs goes on, and nothing more starts" : "goes on");
        }
    }
    if (options.json) print_json(json);
    if (states.empty()) say_no_queue(project);
    return 0;
}

int move(const QueueOptions& options) {
    const Project project = open_project(options.project);
    const RunDirectory run = find_run(project, options.run);
    const std::size_t place = move_in_queue(project, run.info().id, options.place - 1) + 1;
    if (!options.json) {
        say(stdout, "{} is number {} of those that wait\n", run.info().shown_name(), place);
        return 0;
    }
    Json json = runs_json({run});  // as other commands that change a run
    json["runs"][0]["place"] = place;
    json.update({{"id", run.info().id}, {"name", run.info().name}, {"place", place}});  // as they stood before
    print_json(json);
    return 0;
}

}  // namespace

void add_queue_commands(Cli& cli) {
    auto options = std::make_shared<QueueOptions>();
    CLI::App* queue = add_command_group(cli, "queue", "Runs that wait for their turn on this machine");
    CLI::App* listed = add_command(cli, *queue, "list", "What runs and what waits, the next one first",
                                   "  faceter queue list --project ~/quickstart --json", [options] { return list(*options); });
    CLI::App* paused = add_command(cli, *queue, "pause", "Start no further run; those that run go on",
                                   "  faceter queue pause --project ~/quickstart", [options] { return pause(*options, true); });
    CLI::App* resumed = add_command(cli, *queue, "continue", "Start runs again", "  faceter queue continue --project ~/quickstart",
                                    [options] { return pause(*options, false); });
    for (CLI::App* command : {paused, resumed}) command->add_option("QUEUE", options->queues, "queues by name; default: all");
    CLI::App* moved = add_command(cli, *queue, "move", "Let a run that waits start earlier or later",
                                  "  faceter queue move MoTE-s2 --project ~/quickstart\n  faceter queue move EM-s1 --place 4",
                                  [options] { return move(*options); });
    moved->add_option("RUN", options->run, "a run that waits")->required();
    moved->add_option("--place", options->place, "its number among those that wait; 1: the next to start")
        ->transform(whole_number(1))
        ->capture_default_str();
    for (CLI::App* command : {listed, paused, resumed, moved}) {
        command->add_flag("--json", options->json, "print as JSON");
        add_project_option(*command, options->project);
    }
}

}  // namespace faceter::cli
