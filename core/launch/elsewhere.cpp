#include "launch/elsewhere.h"

#include <functional>

#include "common/error.h"
#include "common/printable.h"
#include "experiment/processes.h"
#include "launch/remote.h"
#include "launch/slurm.h"
#include "launch/supervisor.h"
#include "record/launch.h"
#include "record/staged_runs.h"
#include "settings/core_settings.h"

namespace faceter {
namespace {

void check_destination(const Profile& profile, const std::vector<RunDirectory>& runs) {
    for (const RunDirectory& run : runs) {
        const std::string at = profile_of_mirror(run).value_or("");
        if (at != (profile.kind == "ssh" ? profile.name : ""))
            throw usage_error("{}: its checkpoints are {}; it can only go on there", run.info().id,
                              at.empty() ? "on this machine" : "where profile '" + at + "' leads");
    }
}

/// `make` adds the runs; where they are refused, none stays.
std::vector<RunDirectory> submit_made(const Project& project, const Profile& profile,
                                      const std::function<void(std::vector<RunDirectory>&)>& make) {
    std::vector<RunDirectory> runs = make_all_or_none(project, make);
    try {
        submit_to_slurm(project, profile, runs);
    } catch (const JobMayWait&) {
        throw;
    } catch (const std::exception&) {
        take_back(project, runs);
        throw;
    }
    return runs;
}

void add_alike(const Project& project, const std::vector<RunDirectory>& runs, std::vector<RunDirectory>& made) {
    refuse_imported(runs);
    for (const RunDirectory& run : runs) made.push_back(RunDirectory::create_like(project.folder(), run));
}

/// Threads that its settings leave open are the cores that the job asks of a node for all processes; where the profile names none they
/// stay open: this machine is not the one that trains.
ResolvedRun for_job(ResolvedRun run, const Profile& profile) {
    const Json& cores = profile.settings["cpus_per_task"];
    if (cores.is_number_integer() && head_setting(run.settings, "threads") == 0)
        run.settings["threads"] = cores.get<std::int64_t>() * profile.settings["tasks_per_node"].get<std::int64_t>();
    return run;
}

std::vector<RunDirectory> submit_here(const Project& project, const Profile& profile, const Experiment& experiment, bool smoke,
                                      const ChosenRuns& chosen) {
    experiment.check_files();
    check_processes(experiment, Catalogue::load(plugin_folders()), profile.processes());
    return submit_made(project, profile, [&](std::vector<RunDirectory>& runs) {
        for (const ResolvedRun* run : chosen_runs(experiment, chosen))
            runs.push_back(RunDirectory::create(project.folder(), experiment, for_job(*run, profile), smoke, OpenThreads::of_its_node));
    });
}

/// What 'faceter stop' said over there, without the run's name, which is another here and may be another run's. What it warned of before is
/// passed on.
std::string answer_here(const std::string& said, const RunDirectory& run) {
    const std::size_t last_line = said.rfind('\n') + 1;
    if (last_line > 0) say(stderr, "{}\n", said.substr(0, last_line - 1));
    std::string answer = said.substr(last_line);
    const std::string there = answer.substr(0, answer.find(' ')), advice = "faceter resume ";
    if (there.size() == answer.size()) return answer;
    answer.erase(0, there.size() + 1);
    if (const auto at = answer.find(advice + there + " "); at != std::string::npos)
        answer.replace(at + advice.size(), there.size(), run.info().shown_name());
    return answer;
}

}  // namespace

void take_back(const Project& project, const std::vector<RunDirectory>& runs) {
    for (const RunDirectory& run : runs) try {
            project.remove(run.info().id);
        } catch (const Error&) {  // it stays as one that waits; what went wrong first is what is said
        }
}

std::vector<RunDirectory> make_all_or_none(const Project& project, const std::function<void(std::vector<RunDirectory>&)>& make) {
    std::vector<RunDirectory> runs;
    try {
        make(runs);
    } catch (const std::exception&) {
        take_back(project, runs);
        throw;
    }
    return runs;
}

std::vector<RunDirectory> make_alike(const Project& project, const std::vector<RunDirectory>& runs) {
    return make_all_or_none(project, [&](std::vector<RunDirectory>& made) { add_alike(project, runs, made); });
}

std::vector<RunDirectory> submit_experiment(const Project& project, const Profile& profile, const Experiment& experiment,
                                            const ExperimentOptions& options, const ChosenRuns& chosen) {
    if (profile.kind != "ssh") return submit_here(project, profile, experiment, options.smoke, chosen);
    std::vector<RunDirectory> runs;
    for (const std::string& id : submit_through_ssh(project, profile, experiment, options, chosen)) runs.push_back(project.find_run(id));
    return runs;
}

std::vector<RunDirectory> submit_staged(const Project& project, const Profile& profile, const StagedExperiment& staged) {
    if (profile.kind == "ssh")
        throw usage_error(
            "{}: profile '{}' leads through ssh, which does not carry a staged folder; copy it there and call 'faceter run --staged'",
            staged.folder.string(), profile.name);
    StagedExperiment of_job = staged;
    for (ResolvedRun& run : of_job.runs) run = for_job(std::move(run), profile);
    return submit_made(project, profile,
                       [&](std::vector<RunDirectory>& runs) { create_staged_runs(project, of_job, runs, OpenThreads::of_its_node); });
}

std::vector<RunDirectory> submit_alike(const Project& project, const Profile& profile, const std::vector<RunDirectory>& runs) {
    const Catalogue catalogue = Catalogue::load(plugin_folders());
    for (const RunDirectory& run : runs) check_processes(run.settings(), catalogue, profile.processes());
    return submit_made(project, profile, [&](std::vector<RunDirectory>& made) { add_alike(project, runs, made); });
}

Destinations destinations_of(const std::vector<RunDirectory>& runs, const std::string& wanted) {
    Destinations destinations;
    for (const RunDirectory& run : runs) {
        const auto launch = read_launch(run);
        const std::string name = wanted == "here" ? "" : !wanted.empty() ? wanted : launch ? launch->profile : "";
        destinations[name].push_back(run);
    }
    for (const auto& [name, group] : destinations) check_destination(name.empty() ? Profile{} : read_profile(name), group);
    return destinations;
}

std::string resume_through(const Project& project, const Profile& profile, const std::vector<RunDirectory>& runs) {
    if (profile.kind != "ssh") {
        prepare_resume(runs);
        submit_to_slurm(project, profile, runs);
        return "";
    }
    std::vector<std::string> arguments{"resume", "--detach", "--json", "--project", profile.settings["folder"].get<std::string>()};
    if (profile.settings["profile"].get<std::string>().empty())  // else that one says
        for (const char* option : {"jobs", "devices"})
            arguments.insert(arguments.end(), {fmt::format("--{}", option), std::to_string(profile.settings[option].get<int>())});
    for (const RunDirectory& run : runs) arguments.push_back(run.info().id);
    const std::string said = call_through_ssh(profile, arguments);
    for (const RunDirectory& run : runs) run.clear_request("stop");  // of one that was stopped before it began
    return said;
}

std::string stop_run(const RunDirectory& run) {
    const std::string& id = run.info().id;
    const auto launch = read_launch(run);
    if (launch && launch->launcher == "slurm") return stop_slurm_run(run, *launch);
    if (launch && launch->launcher == "ssh") {
        const Profile profile = read_profile(launch->profile);
        return answer_here(call_through_ssh(profile, {"stop", "--project", profile.settings["folder"].get<std::string>(), id}), run);
    }
    run.request("stop");
    return "will stop with a checkpoint; faceter resume " + run.info().shown_name() + " goes on";
}

}  // namespace faceter
