#pragma once
#include "common/file_name.h"
#include "support/sample_runs.h"

namespace faceter::testing {

/// A run of the sample experiment that says what it begins with.
inline RunDirectory run_from(const fs::path& project, const std::string& variant, const std::string& model, const std::string& parent = "",
                             const std::function<void(Json&)>& change = {}) {
    RunInfo info;
    info.experiment = "quick";
    info.variant = variant;
    info.method = "dense";
    info.plugin = "demo";
    info.parent = parent;
    info.settings = parse_sample().runs()[1].settings;
    info.settings["model"] = model;
    if (change) change(info.settings);
    return RunDirectory::create_imported(project, info, "name: quick\n");
}

/// The folder of a run's model, as settings name it once they are resolved.
inline std::string model_of(const RunDirectory& run) { return (run.folder() / "model").string(); }

inline RunDirectory merged_from(const fs::path& project, const std::vector<std::string>& folders, const std::string& model) {
    RunInfo info;
    info.experiment = "quick";
    info.variant = "merged-mean";
    info.method = "merged";
    info.plugin = "core";
    info.settings = parse_sample().runs()[1].settings;
    info.settings["model"] = model;
    info.settings["variant"] = {{"name", "merged-mean"}, {"method", "merged"}, {"runs", folders}, {"how", "mean"}};
    info.settings["stages"] = Json::array();
    return RunDirectory::create_imported(project, info, "name: quick\n");
}

/// A chain and a diamond: IC and EM from one start model; a rerun of IC; a run that begins with IC's model and is taught by EM; a merge of
/// IC and EM; one that uses a gate of the merge.
struct LineageProject {
    explicit LineageProject(const fs::path& folder) {
        const std::string start = (folder / "start-model").string();
        make_directories(start);
        ic = run_from(folder, "IC", start).info();
        em = run_from(folder, "EM", start).info();
        again = run_from(folder, "IC", start, ic.id).info();
        tuned = run_from(folder, "Tuned", (folder / "runs" / ic.id).string(), "", [&](Json& settings) {
                    settings["objective"] = {{"method", "infonce"}, {"teacher", (folder / "runs" / em.id / "model").string()}};
                    settings["stages"] = {{{"name", "pretrain"}}, {{"name", "finetune"}}};
                }).info();
        merged = merged_from(folder, {(folder / "runs" / ic.id).string(), (folder / "runs" / em.id).string()}, start).info();
        gated = run_from(folder, "Gated", start, "", [&](Json& settings) {
                    settings["variant"]["gates"] = {{"sql", (folder / "runs" / merged.id / "gates/sql").string()}};
                }).info();
    }
    RunInfo ic, em, again, tuned, merged, gated;
};

}  // namespace faceter::testing
