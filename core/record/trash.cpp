#include <sys/stat.h>

#include <algorithm>
#include <chrono>

#include "common/atomic_file.h"
#include "common/command.h"
#include "common/error.h"
#include "common/stable_order.h"
#include "common/strings.h"
#include "record/launch.h"
#include "record/run_directory.h"
#include "record/run_names.h"
#include "record/state.h"
#include "record/trash_folders.h"

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

/// Whole or gone, never half a run that could be restored: empty_trash() finishes what is cut short. The name changes where the run lies,
/// which also works on a full disk. False where another program was faster: it restored the run, or removes it.
bool remove_at_once(const fs::path& run) {
    const fs::path place = run.parent_path() / (std::string(removing_prefix) + run.filename().string());
    remove_tree(place);  // of a run of this name that was removed before, and came back
    try {
        rename_synced(run, place);
    } catch (const Error&) {
        if (std::error_code ignored; fs::exists(run, ignored)) throw;
        return false;
    }
    remove_tree(place);
    return true;
}

/// Since when it lies there. A full disk does not keep a run from the trash: without a date of its own it has that of its folder.
void note_trashed(const RunDirectory& run) {
    std::error_code ignored;
    try {
        run.append_user_event({{"trashed", now_seconds()}});
    } catch (const Error&) {
        if (!fs::exists(run.folder(), ignored)) throw usage_error("{}: another program has just deleted it", run.info().shown_name());
        if (run.user_state().trashed > 0) throw;  // it was here before, and would seem to be as old as that
    }
}

Error gone_from_trash(const std::string& run) {
    return usage_error("{}: another program has just removed it for good, or restored it", run);
}

double trashed_when(const RunDirectory& run) {
    struct stat info {};
    if (const double noted = run.user_state().trashed; noted > 0 || ::stat(run.folder().c_str(), &info) != 0) return noted;
    return static_cast<double>(info.st_ctim.tv_sec);
}

std::vector<fs::path> entries_of(const fs::path& folder) {
    std::vector<fs::path> entries;
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) entries.push_back(it->path());
    return entries;
}

}  // namespace

std::vector<fs::path> trash_folders(const fs::path& project) { return {project / "trash", project / "runs/.trash"}; }

fs::path find_in_trash(const Project& project, const std::string& id) {
    std::error_code ignored;
    for (const fs::path& folder : trash_folders(project.folder()))
        if (fs::exists(folder / id / "run.json", ignored)) return folder / id;
    return {};
}

std::vector<fs::path> unfinished_removals(const Project& project) {
    std::vector<fs::path> folders = trash_folders(project.folder()), found;
    folders.push_back(project.runs_folder());
    for (const fs::path& folder : folders)
        for (const fs::path& entry : entries_of(folder))
            if (entry.filename().string().starts_with(removing_prefix)) found.push_back(entry);
    return found;
}

RunDirectory Project::idle_run(const std::string& run) const {
    RunDirectory directory(runs_folder() / run);
    if (directory.folder().parent_path() != runs_folder()) throw usage_error("{}: no run of {}", run, folder_.string());
    check_idle(directory);
    return directory;
}

void Project::trash(const std::string& run) const {
    const RunDirectory directory = idle_run(run);
    if (const fs::path place = find_in_trash(*this, run); !place.empty())
        throw usage_error("{}: already there; restore or remove it first", place.string());
    note_trashed(directory);  // before the rename, so that what lies in the trash always says since when
    for (const fs::path& trash : trash_folders(folder_)) {
        make_directories(trash);
        if (rename_on_one_disk(directory.folder(), trash / run)) return sync_directory(runs_folder());
    }
    throw failure("{}: cannot be renamed on its disk; 'faceter delete --now' removes it for good", directory.folder().string());
}

void Project::remove(const std::string& run) const {
    if (const RunDirectory idle = idle_run(run); !remove_at_once(idle.folder()))
        throw usage_error("{}: another program has just deleted it", idle.info().shown_name());
    sync_directory(runs_folder());
}

std::string Project::restore(std::string_view name) const {
    std::vector<std::string> found, of_variant;
    name_runs();
    const std::string named = id_of_name(folder_, name).value_or("");
    for (const TrashedRun& run : trashed()) {
        const bool exact = run.info.id == name || run.info.id == named;
        if (exact) found = {run.info.id};
        if (exact) break;
        if (!name.empty() && run.info.id.starts_with(name)) found.push_back(run.info.id);
        if (is_called(run.info, name)) of_variant.push_back(run.info.id);
    }
    if (found.empty()) found = std::move(of_variant);  // `faceter delete EM` took it too
    if (found.size() != 1)
        throw usage_error("{}: {} run {}{}", trash_folder().string(), found.empty() ? "no" : "more than one", faceter::quoted(name),
                          found.empty() ? "; faceter trash lists what is there" : ": " + join(found, ", "));
    const fs::path place = runs_folder() / found.front();
    std::error_code ignored;
    if (fs::exists(place, ignored))
        throw usage_error(
            "{}: a run of this name is there; faceter delete --now {} --project {} removes it for good, and this can be restored then",
            place.string(), found.front(), shell_word(folder_.string()));
    const fs::path trashed = find_in_trash(*this, found.front());
    if (trashed.empty()) throw gone_from_trash(found.front());
    try {
        rename_synced(trashed, place);
    } catch (const Error&) {
        if (fs::exists(trashed, ignored)) throw;
        throw gone_from_trash(found.front());
    }
    sync_directory(trashed.parent_path());
    return found.front();
}

std::vector<TrashedRun> Project::trashed() const {
    std::vector<TrashedRun> runs;
    for (const fs::path& folder : trash_folders(folder_)) {
        for (const fs::path& entry : entries_of(folder)) {
            if (entry.filename().string().starts_with('.')) continue;
            try {
                const RunDirectory run(entry);
                runs.push_back({run.info(), trashed_when(run)});
            } catch (const Error&) {
                continue;  // no run, a copy of one, or one that cannot be read: left alone
            }
        }
    }
    std::sort(runs.begin(), runs.end(),
              [](const TrashedRun& a, const TrashedRun& b) { return a.when != b.when ? a.when > b.when : is_older(b.info, a.info); });
    return runs;
}

int Project::empty_trash(double older_than_s) const {
    for (const fs::path& folder : unfinished_removals(*this)) remove_tree(folder);
    int removed = 0;
    for (const TrashedRun& run : trashed()) {
        if (!(now_seconds() - run.when >= older_than_s)) continue;  // nan is no age
        const fs::path place = find_in_trash(*this, run.info.id);
        removed += !place.empty() && remove_at_once(place);
    }
    return removed;
}

}  // namespace faceter
