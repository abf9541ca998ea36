#pragma once
#include <set>
#include <string>
#include <vector>

namespace faceter {
class Store;
}

namespace faceter::desktop {

class Workspace;

/// A run that a page on one run at a time can show.
struct TrainedRun {
    std::string run, label;   ///< id; its group and seed
    bool isDone = false;      ///< its model is here to be asked
    bool isImported = false;  ///< results alone: it never has one here
};
/// The trained runs of the shown groups (start models are not trained) in their order, as many as a page reads at once. Of more, those of
/// `methods` come first, then those with a model, then one of each group before a second one.
std::vector<TrainedRun> shownTrainedRuns(const Workspace& workspace, const std::set<std::string>& methods = {});
/// How many there are that a page does not read.
std::size_t unreadTrainedRuns(const Workspace& workspace);
/// Names of a run's series without those of later stages ("loss/clustering@1"), which have steps of their own. A task may be called
/// "user@host", and its series with it.
std::vector<std::string> seriesOfFirstStage(Store& store, const std::string& run);

}  // namespace faceter::desktop
