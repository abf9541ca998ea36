#include "record/models_by_run.h"

#include <cstdlib>

#include "experiment/run_models.h"
#include "record/run_directory.h"
#include "record/run_names.h"

namespace faceter {
namespace {

bool is_project(const fs::path& folder) {
    std::error_code ignored;
    return fs::is_directory(folder / "runs", ignored);
}

/// By whole names alone: what an experiment means must not change with the next run.
fs::path folder_of_run(const fs::path& folder, const std::string& name) {
    if (!is_project(folder)) return {};
    const Project project(folder, false);
    project.name_runs();
    std::error_code ignored;
    const bool is_id = fs::is_regular_file(project.runs_folder() / name / "run.json", ignored);
    return is_id || id_of_name(project.folder(), name) ? project.find_run(name).folder() : fs::path();
}

std::vector<std::string> names_in(const fs::path& folder) {
    if (!is_project(folder)) return {};
    const Project project(folder, false);
    return names_of_runs(project.folder(), project.run_ids());
}

}  // namespace

fs::path project_at_hand() {
    const char* set = std::getenv("FACETER_PROJECT");
    return set && *set ? set : ".";
}

void use_runs_as_models(const fs::path& project) {
    const fs::path folder = absolute_path(project.empty() ? project_at_hand() : project);
    use_run_models({[folder](const std::string& name) { return folder_of_run(folder, name); }, [folder] { return names_in(folder); }});
}

}  // namespace faceter
