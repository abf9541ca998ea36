#include "store/project_findings.h"

#include <set>

#include "common/command.h"
#include "common/error.h"
#include "common/progress.h"
#include "record/final_model.h"
#include "record/journal.h"
#include "record/leftovers.h"
#include "record/run_lock.h"
#include "record/state.h"
#include "store/store.h"
#include "store/store_errors.h"

namespace faceter {
namespace {

DoctorFinding of_leftover(const Leftover& leftover) {
    const fs::path path = leftover.path;
    DoctorFinding finding{fmt::format("{}: {}", path.string(), leftover.what), "rm -r " + shell_word(path.string()), {}};
    if (leftover.removable) {
        finding.mend = [path] { remove_tree(path); };
    } else {
        finding.what += ", of less than a day ago: its process may live";
        finding.command.clear();
    }
    return finding;
}

/// What stands behind a damaged line is not believed, and a run that was done counts as failed.
bool has_damaged_journal(const RunDirectory& run) {
    const std::vector<int> attempts = run.attempts();
    if (attempts.empty()) return false;
    JournalReader journal(run.attempt_journal(attempts.back()));
    while (journal.next()) {
    }
    return !journal.problem().empty();
}

class ProjectSearch {
  public:
    explicit ProjectSearch(const Project& project) : project_(project), argument_("--project " + shell_word(project.folder().string())) {}

    std::vector<DoctorFinding> find() {
        for (const Leftover& leftover : find_leftovers(project_))
            found_.push_back(is_no_run(leftover) ? of_foreign(leftover) : of_leftover(leftover));
        project_.name_runs();
        ProgressLine progress("looking at runs and their models", 0, "runs");  // tens of GiB in a project of many
        project_.each_run([&](const RunDirectory& run) {
            look_at_run(run);
            progress.update(ids_.size(), run.info().shown_name());
        });
        look_at_store();
        return std::move(found_);
    }

  private:
    bool is_no_run(const Leftover& leftover) const {
        return leftover.path.parent_path() == project_.runs_folder() && !leftover.path.filename().string().starts_with('.');
    }
    DoctorFinding of_foreign(const Leftover& leftover) const {
        const std::string there = shell_word((project_.folder() / leftover.path.filename()).string());
        return {fmt::format("{}: {}", leftover.path.string(), leftover.what),
                fmt::format("mv {} {}", shell_word(leftover.path.string()), there),
                {}};
    }

    void look_at_run(const RunDirectory& run) {
        ids_.insert(run.info().id);
        const RunState state = read_state(run);
        const std::string name = run.info().shown_name();
        if (has_dead_lock(run))
            found_.push_back({fmt::format("{}: the lock of a process that is gone", (run.control() / "lock.held").string()),
                              "rm " + shell_word((run.control() / "lock.held").string()), [run] { remove_dead_lock(run); }});
        if (state.phase == RunPhase::done) look_at_model(run, name);
        if (state.phase == RunPhase::dead || (state.phase == RunPhase::failed && has_damaged_journal(run)))
            found_.push_back({fmt::format("{}: {}", name, state.cause),
                              run.info().is_imported() ? "" : fmt::format("faceter resume {} {}", name, argument_),
                              {}});
        if (state.phase == RunPhase::silent)
            found_.push_back(
                {fmt::format("{}: {}", name, state.cause), fmt::format("faceter resume --take-over {} {}", name, argument_), {}});
    }

    /// Its scores are of what it wrote.
    void look_at_model(const RunDirectory& run, const std::string& name) {
        const std::vector<std::string> changes = changes_of_final_model(run, noted_final_model(run), ModelLook::thorough);
        if (changes.empty()) return;
        found_.push_back({fmt::format("{}: its model is not what the run wrote and its scores are of: {}{}", name,
                                      (run.folder() / changes.front()).string(),
                                      changes.size() == 1 ? "" : fmt::format(" (and {} more)", changes.size() - 1)),
                          fmt::format("faceter rerun {} {}", name, argument_),
                          {}});
    }

    /// A project whose store is missing is well: the next list makes it.
    void look_at_store() {
        try {
            look_at_store(Store::location(project_.folder()));
        } catch (const Unwritable& no_place) {
            found_.push_back({no_place.what(), "", {}});
        }
    }
    void look_at_store(const fs::path& file) {
        const fs::path folder = project_.folder();
        std::error_code ignored;
        if (!fs::exists(file, ignored)) return;
        const auto make_anew = [&](const std::string& why) {
            found_.push_back({file.string() + ": " + why, "faceter ingest --rebuild " + argument_, [folder] { Store::rebuild(folder); }});
        };
        const auto damaged = [&] { make_anew("the store is damaged"); };
        if (const std::string closed = why_closed(file); !closed.empty()) return make_anew("the store " + closed);
        try {
            Store store(folder);
            if (store.integrity() != "ok")
                damaged();
            else
                compare_with_store(store);
        } catch (const DamagedStore&) {
            damaged();
        } catch (const BusyStore& busy) {
            found_.push_back({busy.what(), "", {}});
        } catch (const Error& error) {  // a newer Faceter's, or another program's
            found_.push_back({error.what(), fmt::format("mv {} {}", shell_word(file.string()), shell_word(file.string() + ".other")), {}});
        }
    }
    void compare_with_store(Store& store) {
        std::set<std::string> stored;
        for (const RunRow& row : store.runs()) stored.insert(row.info.id);
        if (stored == ids_) return;
        found_.push_back({fmt::format("{}: the store has other runs than the folder", store.file().string()), "faceter ingest " + argument_,
                          [folder = project_.folder()] { Store(folder).ingest_all(); }});
    }

    const Project& project_;
    std::string argument_;
    std::set<std::string> ids_;
    std::vector<DoctorFinding> found_;
};

}  // namespace

std::vector<DoctorFinding> find_in_project(const Project& project) { return ProjectSearch(project).find(); }

std::vector<DoctorFinding> find_in_cache() {
    std::vector<DoctorFinding> found;
    for (const Leftover& leftover : find_cache_leftovers()) found.push_back(of_leftover(leftover));
    return found;
}

}  // namespace faceter
