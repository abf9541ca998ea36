#include <algorithm>
#include <map>
#include <set>

#include "common/error.h"
#include "common/file_name.h"
#include "compare/mteb_results.h"
#include "record/journal.h"
#include "record/state.h"

namespace faceter {
namespace {

/// The run that holds the very same results of this model; nothing where there is none.
std::optional<std::string> run_with(const Project& project, const ImportedModel& model) {
    std::optional<std::string> same;
    project.each_run([&](const RunDirectory& run) {
        if (same || !run.info().is_imported()) return;
        const Json found = run.settings().value("imported", Json::object());
        const bool is_it = found.is_object() && found.value("fingerprint", Json()) == model.fingerprint &&
                           found.value("revision", Json()) == model.revision && run.info().variant == model.model;
        if (is_it && read_state(run).phase == RunPhase::done) same = run.info().id;
    });
    return same;
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
    std::vector<ImportedRun> imported;
    for (const ImportedModel& model : models) {
        if (const auto known = run_with(project, model)) {
            imported.push_back({*known, model.model, model.results.size(), false});
            continue;
        }
        const RunDirectory run =
            RunDirectory::create_imported(project.folder(), info_of(model, folder, revisions[model.model] > 1),
                                          "# Not an experiment: results of MTEB that 'faceter import mteb' took over.\n");
        write_results(run, model);
        JournalWriter journal(run, run.begin_attempt(), {});
        for (const std::string& note : model.notes) journal.event("warning", {{"message", note}});
        journal.event("finished");
        imported.push_back({run.info().id, model.model, model.results.size(), true});
    }
    return imported;
}

}  // namespace faceter
