#include "actions/run_work.h"

#include <map>

#include "common/command.h"
#include "common/error.h"
#include "experiment/before_start.h"
#include "experiment/machine.h"
#include "launch/elsewhere.h"
#include "launch/slurm.h"
#include "launch/supervisor.h"
#include "project/runs_snapshot.h"
#include "record/launch.h"

namespace faceter::desktop {
namespace {

/// A supervisor of their own, on this machine.
void startHere(const Project& project, const std::vector<RunDirectory>& runs, const LaunchPlace& place = {},
               const std::vector<RunDirectory>& resumed = {}) {
    start_queue(project, runs, place.jobs, place.devices, resumed);
}

/// Those that are trained first: what is launched is shown by its first run, and a start model has nothing to follow.
QStringList idsOf(const std::vector<RunDirectory>& runs) {
    QStringList trained, baselines;
    for (const RunDirectory& run : runs) (run.info().is_baseline() ? baselines : trained) << qs(run.info().id);
    return trained + baselines;
}

/// What was said of the runs before they began, to be held against what they take.
void keepForecasts(const std::vector<RunDirectory>& runs, const LaunchPlace& place) {
    for (std::size_t i = 0; i < runs.size() && place.forecasts.size() == runs.size(); ++i)
        if (place.forecasts[i]) write_forecast(runs[i], *place.forecasts[i]);
}

std::vector<RunDirectory> launchHere(const Project& project, const Experiment& experiment, bool smoke, const LaunchPlace& place) {
    worker_program();
    const std::vector<RunDirectory> runs = make_all_or_none(project, [&](std::vector<RunDirectory>& made) {
        for (const ResolvedRun* run : chosen_runs(experiment, place.only))
            made.push_back(RunDirectory::create(project.folder(), experiment, *run, smoke));
        keepForecasts(made, place);
    });
    startHere(project, runs, place);
    return runs;
}

/// Profile of a run's last start; empty: this machine.
std::string profileOf(const RunDirectory& run) {
    const auto launch = read_launch(run);
    if (launch && launch->launcher == "ssh")
        throw usage_error("{} ran where profile '{}' leads, and so do its paths; launch its experiment there anew, from Compose",
                          run.info().shown_name(), launch->profile);
    return launch ? launch->profile : "";
}

/// New ones with the settings of these, submitted as one job or started here; none stays where that is refused.
std::vector<RunDirectory> startAnew(const Project& project, const std::string& profile, const std::vector<RunDirectory>& runs) {
    if (!profile.empty()) return submit_alike(project, read_profile(profile), runs);
    const std::vector<RunDirectory> made = make_alike(project, runs);
    startHere(project, made);
    return made;
}

/// Before the next one of several: what was done stays done.
void heedCancel() {
    if (abandon_requested()) throw failure("what was not asked for before is as it was");
}

/// `move` for each run; where one fails, `back` for those before it.
template <typename Move, typename Back>
void moveAll(const QStringList& runs, Move move, Back back) {
    QStringList moved;
    try {
        for (const QString& run : runs) {
            move(run.toStdString());
            moved << run;
        }
    } catch (...) {
        for (const QString& run : moved) back(run.toStdString());
        throw;
    }
}

}  // namespace

std::vector<RunDirectory> openRuns(const std::filesystem::path& project, const QStringList& runs) {
    const Project opened(project, false);
    std::vector<RunDirectory> all;
    for (const QString& run : runs) all.emplace_back(opened.runs_folder() / run.toStdString());
    return all;
}

Launched launchRuns(const std::filesystem::path& folder, const Experiment& experiment, bool smoke, const LaunchPlace& place) {
    const Project project(folder, false);  // one that is gone is not made anew where its disk was
    const bool here = place.profile.isEmpty();
    const Profile profile = here ? Profile{} : read_profile(place.profile.toStdString());
    Launched launched;
    if (here || profile.kind != "ssh")  // over there, its own faceter looks
        launched.remarks = check_before_start(experiment, Catalogue::load(plugin_folders()), here ? place.devices : profile.processes());
    if (here) {
        launched.runs = idsOf(launchHere(project, experiment, smoke, place));
    } else {
        const auto runs = submit_experiment(project, profile, experiment, {{}, {}, smoke}, place.only);
        keepForecasts(runs, place);
        launched.runs = idsOf(runs);
    }
    return launched;
}

QString stopRuns(const std::filesystem::path& project, const QStringList& runs) {
    QString said;
    for (const RunDirectory& run : openRuns(project, runs)) {
        heedCancel();
        if (!is_over(read_state(run).phase)) said = qs(stop_run(run));
    }
    return said;
}

void resumeRuns(const std::filesystem::path& folder, const QStringList& runs) {
    const Project project(folder, false);
    for (const auto& [profile, group] : destinations_of(openRuns(folder, runs), "")) {
        heedCancel();
        if (profile.empty()) {
            startHere(project, group, {}, group);
        } else {
            resume_through(project, read_profile(profile), group);
        }
    }
}

QStringList rerunRuns(const std::filesystem::path& folder, const QStringList& runs) {
    const Project project(folder, false);
    std::map<std::string, std::vector<RunDirectory>> byProfile;
    for (const RunDirectory& run : openRuns(folder, runs)) byProfile[profileOf(run)].push_back(run);
    QStringList made;
    for (const auto& [profile, group] : byProfile) try {
            heedCancel();
            made += idsOf(startAnew(project, profile, group));
        } catch (const Error& error) {
            if (made.isEmpty()) throw;
            throw JobMayWait(error.code(), fmt::format("{}. {} of them were started before, and go on", error.what(), made.size()));
        }
    return made;
}

void trashRuns(const std::filesystem::path& folder, const QStringList& runs) {
    const Project project(folder, false);
    moveAll(
        runs, [&](const std::string& run) { project.trash(run); }, [&](const std::string& run) { project.restore(run); });
}

void restoreRuns(const std::filesystem::path& folder, const QStringList& runs) {
    const Project project(folder, false);
    moveAll(
        runs, [&](const std::string& run) { project.restore(run); }, [&](const std::string& run) { project.trash(run); });
}

QStringList trashedOf(const std::filesystem::path& folder, const QStringList& runs) {
    QStringList there;
    for (const TrashedRun& run : Project(folder, false).trashed())
        if (const QString id = qs(run.info.id); runs.contains(id)) there << id;
    return there;
}

}  // namespace faceter::desktop
