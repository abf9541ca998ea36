#include "record/staged_runs.h"

namespace faceter {

void create_staged_runs(const Project& project, const StagedExperiment& staged, std::vector<RunDirectory>& made, OpenThreads threads) {
    for (const ResolvedRun& run : staged.runs)
        made.push_back(RunDirectory::create_imported(project.folder(), info_of(run, staged.name, staged.smoke, threads), staged.text));
}

}  // namespace faceter
