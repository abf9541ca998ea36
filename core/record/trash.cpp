#include <algorithm>
#include <chrono>

#include "common/error.h"
#include "common/strings.h"
#include "record/launch.h"
#include "record/run_directory.h"
#include "record/run_names.h"
#include "record/state.h"

namespace faceter {
namespace {

double now_seconds() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

/// Refuses where something still writes the run, or will.
void check_idle(const RunDirectory& run) {
    const RunState state = read_state(run);
    const RunPhase phase = state.phase;
    if (phase == RunPhase::silent) throw usage_error("{} may still be running: {}", run.info().shown_name(), state.cause);
    const auto supervisor = read_supervisor(run);
    const auto job = read_job(run);
    const bool waits = phase == RunPhase::queued && ((supervisor && supervisor->on_this_machine() && supervisor->alive()) ||
                                                     (job && !job->is_over()) || is_being_submitted(run));
    if (phase == RunPhase::running || waits)
        throw usage_error("{} is {}; stop it first: faceter stop {}", run.info().shown_name(),
                          waits ? "waiting in a queue" : run_phase_name(phase), run.info().shown_name());
}

/// Whole or gone, never half a run that could be restored: empty_trash() finishes what is cut short. Returns where it is now.
fs::path begin_removal(const fs::path& trash, const fs::path& run) {
    const fs::path place = trash / (std::string(removing_prefix) + run.filename().string());
    remove_tree(place);  // of a run of this name that was removed before, and came back
    rename_synced(run, place);
    return place;
}

}  // namespace

RunDirectory Project::idle_run(const std::string& run) const {
    RunDirectory directory(runs_folder() / run);
    if (directory.folder().parent_path() != runs_folder()) throw usage_error("{}: no run of {}", run, folder_.string());
    check_idle(directory);
    return directory;
}

void Project::trash(const std::string& run) const {
    const RunDirectory directory = idle_run(run);
    std::error_code ignored;
    const fs::path place = trash_folder() / run;
    if (fs::exists(place, ignored)) throw usage_error("{}: already there; restore or remove it first", place.string());
    make_directories(trash_folder());
    // Before the rename, so that what lies in the trash always says since when.
    directory.append_user_event({{"trashed", now_seconds()}});
    rename_synced(directory.folder(), place);
    sync_directory(runs_folder());
}

void Project::remove(const std::string& run) const {
    const RunDirectory directory = idle_run(run);
    make_directories(trash_folder());
    remove_tree(begin_removal(trash_folder(), directory.folder()));
    sync_directory(runs_folder());
}

std::string Project::restore(std::string_view name) const {
    std::vector<std::string> found;
    name_runs();
    const std::string named = id_of_name(folder_, name).value_or("");
    for (const TrashedRun& run : trashed()) {
        const bool exact = run.info.id == name || run.info.id == named;
        if (exact) found = {run.info.id};
        if (exact) break;
        if (!name.empty() && run.info.id.starts_with(name)) found.push_back(run.info.id);
    }
    if (found.size() != 1)
        throw usage_error("{}: {} run {}{}", trash_folder().string(), found.empty() ? "no" : "more than one", faceter::quoted(name),
                          found.empty() ? "; faceter trash lists what is there" : ": " + join(found, ", "));
    const fs::path place = runs_folder() / found.front();
    std::error_code ignored;
    if (fs::exists(place, ignored)) throw usage_error("{}: a run of this name is there; rename or delete it first", place.string());
    rename_synced(trash_folder() / found.front(), place);
    sync_directory(trash_folder());
    return found.front();
}

std::vector<TrashedRun> Project::trashed() const {
    std::vector<TrashedRun> runs;
    std::error_code error;
    for (fs::directory_iterator it(trash_folder(), error), end; !error && it != end; it.increment(error)) {
        if (it->path().filename().string().starts_with('.')) continue;
        try {
            const RunDirectory run(it->path());
            runs.push_back({run.info(), run.user_state().trashed});
        } catch (const Error&) {
            continue;  // no run, a copy of one, or one that cannot be read: left alone
        }
    }
    std::sort(runs.begin(), runs.end(), [](const TrashedRun& a, const TrashedRun& b) { return a.when > b.when; });
    return runs;
}

int Project::empty_trash(double older_than_s) const {
    std::error_code error;
    std::vector<fs::path> doomed;
    for (fs::directory_iterator it(trash_folder(), error), end; !error && it != end; it.increment(error))
        if (it->path().filename().string().starts_with(removing_prefix)) doomed.push_back(it->path());  // a removal that was cut short
    for (const fs::path& folder : doomed) remove_tree(folder);
    int removed = 0;
    for (const TrashedRun& run : trashed()) {
        if (!(now_seconds() - run.when >= older_than_s)) continue;  // nan is no age
        remove_tree(begin_removal(trash_folder(), trash_folder() / run.info.id));
        ++removed;
    }
    return removed;
}

}  // namespace faceter
