#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "common/command.h"
#include "common/error.h"
#include "common/file_name.h"
#include "compare/mteb_results.h"
#include "record/journal.h"
#include "record/state.h"
#include "record/trash_folders.h"

namespace faceter {
namespace {

/// Runs of the very same results of a model.
struct Known {
    std::string whole;  ///< empty: none
    std::vector<std::string> cut_short;
};
using KnownRuns = std::map<std::vector<std::string>, Known>;

std::vector<std::string> key_of(const std::string& model, const Json& revision, const Json& fingerprint) {
    return {model, revision.dump(), fingerprint.dump()};
}

/// Nothing where the run was not imported.
std::optional<std::vector<std::string>> key_of(const RunDirectory& run) {
    if (!run.info().is_imported()) return {};
    const Json found = run.settings().value("imported", Json::object());
    if (!found.is_object()) return {};
    return key_of(run.info().variant, found.value("revision", Json()), found.value("fingerprint", Json()));
}

KnownRuns known_runs(const Project& project) {
    KnownRuns known;
    project.each_run([&](const RunDirectory& run) {
        const auto key = key_of(run);
        if (!key) return;
        Known& same = known[*key];
        if (read_state(run).phase != RunPhase::done)
            same.cut_short.push_back(run.info().id);
        else if (same.whole.empty())
            same.whole = run.info().id;
    });
    return known;
}

/// What was deleted can still be restored; imported anew the project would have it twice then.
void check_not_in_trash(const Project& project, const KnownRuns& known, const std::vector<ImportedModel>& models) {
    for (const TrashedRun& trashed : project.trashed()) {
        const RunDirectory run(find_in_trash(project, trashed.info.id));
        const auto key = key_of(run);
        if (!key || read_state(run).phase != RunPhase::done) continue;
        if (const auto same = known.find(*key); same != known.end() && !same->second.whole.empty()) continue;
        for (const ImportedModel& model : models)
            if (key_of(model.model, model.revision, model.fingerprint) == *key)
                throw usage_error("{}: the very same results are in the trash as {}; to bring them back: faceter restore {} --project {}",
                                  model.model, run.info().shown_name(), run.info().shown_name(), shell_word(project.folder().string()));
    }
}

/// What an import left that was killed; one that is still at work keeps its run.
void remove_cut_short(const Project& project, const std::vector<std::string>& runs) {
    for (const std::string& run : runs) try {
            project.remove(run);
        } catch (const Error& error) {
            if (error.code() != ExitCode::usage) throw;
        }
}

RunInfo info_of(const ImportedModel& model, const fs::path& folder, bool several_revisions) {
    RunInfo info;
    info.experiment = "mteb";
    info.variant = model.model;
    info.method = "imported";
    info.plugin = "core";
    info.point = several_revisions ? "revision=" + model.revision.substr(0, 12) : "";
    info.settings = {{"name", "mteb"},
                     {"description", "Results that somebody else computed with MTEB"},
                     {"model", model.model},
                     {"seed", 1},
                     {"tasks", Json::object()},
                     {"variant", {{"name", model.model}, {"method", "imported"}}},
                     {"imported",
                      {{"format", "mteb"},
                       {"folder", absolute_path(folder).string()},
                       {"revision", model.revision},
                       {"files", model.num_files},
                       {"fingerprint", model.fingerprint}}}};
    return info;
}

/// A file each, also where two names would have one: they are read by the name inside.
void write_results(const RunDirectory& run, const ImportedModel& model) {
    std::set<std::string> taken{"_model"};  // what is measured of a model
    for (const Json& result : model.results) {
        const std::string wanted = safe_file_name(result.at("name").get<std::string>());
        std::string file = wanted;
        for (int number = 2; !taken.insert(file).second; ++number) file = fmt::format("{}-{}", wanted.substr(0, 90), number);
        run.write_result(file, result);
    }
}

}  // namespace

std::vector<ImportedRun> import_models(const Project& project, const fs::path& folder, const std::vector<ImportedModel>& models) {
    std::map<std::string, int> revisions;
    for (const ImportedModel& model : models) ++revisions[model.model];
    KnownRuns all_known = known_runs(project);
    check_not_in_trash(project, all_known, models);
    std::vector<ImportedRun> imported;
    for (const ImportedModel& model : models) {
        Known& known = all_known[key_of(model.model, model.revision, model.fingerprint)];
        if (!known.whole.empty()) {
            imported.push_back({known.whole, model.model, model.results.size(), false});
            continue;
        }
        remove_cut_short(project, known.cut_short);
        const RunDirectory run =
            RunDirectory::create_imported(project.folder(), info_of(model, folder, revisions[model.model] > 1),
                                          "# Not an experiment: results of MTEB that 'faceter import mteb' took over.\n");
        JournalWriter journal(run, run.begin_attempt(), {});  // from here on others see that it is at work
        write_results(run, model);
        for (const std::string& note : model.notes) journal.event("warning", {{"message", note}});
        journal.event("finished");
        known = {run.info().id, {}};
        imported.push_back({run.info().id, model.model, model.results.size(), true});
    }
    return imported;
}

}  // namespace faceter
