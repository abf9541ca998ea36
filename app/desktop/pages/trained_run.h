#pragma once
#include <string>
#include <vector>

namespace faceter::desktop {

class Workspace;

/// A run that a page on one run at a time can show.
struct TrainedRun {
    std::string run, label;  ///< id; its group and seed
    bool isDone = false;     ///< its model is here to be asked
};
/// The trained runs of the shown groups (start models are not trained), as many as a page reads at once.
std::vector<TrainedRun> shownTrainedRuns(const Workspace& workspace);

}  // namespace faceter::desktop
