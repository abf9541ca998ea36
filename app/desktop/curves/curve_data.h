#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "figure/figure.h"
#include "store/store.h"

namespace faceter::desktop {

/// One group of runs as a panel draws it: one line for each run, or one with a band over the seeds.
struct CurveGroup {
    std::string label;
    int colour = 0;                    ///< place in the palette
    std::vector<std::string> runs;     ///< ids
    std::vector<std::string> names{};  ///< of the runs, where each has its own line ("MoTE · seed 2")
    /// Of the runs, in order of counting_first: of those of one seed the first that has a series counts in its mean, wherever the panel is
    /// zoomed into. Empty: each run is its own.
    std::vector<std::uint64_t> seeds{};
    bool operator==(const CurveGroup&) const = default;
};

struct CurveRequest {
    std::vector<std::string> series;  ///< each a line for each group
    std::vector<CurveGroup> groups;
    SeriesX x = SeriesX::step;
    double from = 0, to = 0;  ///< of x; from >= to: all there is
    int columns = 800;        ///< as many as the plot has pixels
    double smoothing =
        0;  ///< weight of what came before, 0 to 0.999: the exponential average of TensorBoard, without its bias at the start
    bool logX = false, logY = false;
    bool overSeeds = true;                ///< the mean over a group's seeds with a band of one standard deviation, else a line a run
    std::optional<double> low{}, high{};  ///< ends of the value axis; default: the data's
    bool clipped = false;                 ///< the value axis leaves out what lies beyond the 2nd and the 98th percentile of the lines
};

struct CurveResult {
    Figure figure;
    double from = 0, to = 0;  ///< all that there is on x, over the runs
    bool empty = true;
};

/// Series that some of the runs have, sorted.
std::vector<std::string> curveNames(Store& store, const std::vector<CurveGroup>& groups);

/// Reads what the panel shows: at most `columns` points a line, whatever the length of the series. Where a column holds many points the
/// line is their mean, and where each run has its own line a band reaches from their lowest to their highest; a smoothed line has the raw
/// one faint behind it.
CurveResult readCurve(Store& store, const CurveRequest& request);

/// The exponential average with weight `smoothing`, corrected for its start; an entry that stands for counts[i] points weighs as many.
std::vector<double> smoothed(const std::vector<double>& values, const std::vector<double>& counts, double smoothing);

/// CSV of every stored point of the requested runs, as the workers wrote them (memory in bytes): group, run, seed, step, seconds since
/// 1970, value; of several series, long: a column more names the series. Neither smoothed nor averaged.
std::string curvePointsCsv(Store& store, const CurveRequest& request);

/// A task's loss and the series of it: its own and those of later stages ("loss/sts", "loss/sts@1").
struct TaskLoss {
    std::string name;
    std::vector<std::string> series;
};
/// Of the tasks whose losses are among `names`, by name.
std::vector<TaskLoss> lossByTask(const std::vector<std::string>& names);

/// "loss" -> the axis's label and unit: ("loss", ""), ("tokens_per_s" -> "throughput", "tokens/s") ...
std::pair<std::string, std::string> seriesLabel(const std::string& name);
/// What several have in common ("loss, sts" and "loss, retrieval": "loss"), else all, and their unit where it is one.
std::pair<std::string, std::string> sharedLabel(const std::vector<std::string>& series);
/// What a value is multiplied by to be shown: memory in GiB.
double shownScale(const std::string& series);

}  // namespace faceter::desktop
