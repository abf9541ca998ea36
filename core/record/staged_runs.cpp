#include "record/staged_runs.h"

namespace faceter {

void create_staged_runs(const Project& project, const StagedExperiment& staged, std::vector<RunDirectory>& made) {
    for (const ResolvedRun& run : staged.runs) {
        RunInfo info;
        info.experiment = staged.name;
        info.variant = run.variant;
        info.method = run.method;
        info.plugin = run.plugin;
        info.point = run.point;
        info.seed = run.seed;
        info.smoke = staged.smoke;
        info.settings = run.settings;
        made.push_back(RunDirectory::create_imported(project.folder(), std::move(info), staged.text));
    }
}

}  // namespace faceter
