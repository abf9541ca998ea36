#pragma once
#include <memory>
#include <string>
#include <vector>

#include "pages/trained_run.h"
#include "widgets/report_cards.h"

namespace faceter::desktop {

/// What a run's token routers did over training. All vectors are as long as `steps`; NaN where a step lacks a value.
struct ExpertHistory {
    struct Block {
        int block = 0;
        std::vector<std::vector<double>> load;  ///< of each expert: its share of the assignments
        std::vector<double> entropy;            ///< nats
    };
    static constexpr int several = -1;
    std::vector<std::int64_t> steps;
    std::vector<int> task;           ///< of each step: place in `tasks`, or `several`
    std::vector<std::string> tasks;  ///< that some step was of alone
    std::vector<Block> blocks;       ///< ascending
    std::vector<double> dropped;     ///< assignments
    std::size_t numExperts = 0;

    /// Places in `steps` of one task; with `several`: all.
    std::vector<std::size_t> placesOf(int ofTask) const;
    bool hasDropped() const;
    /// Mean of the newest values at these places up to `last`, at most `window` of them that are there; NaN where there is none.
    static double recent(const std::vector<double>& values, const std::vector<std::size_t>& places, std::size_t last, std::size_t window);
};

struct ExpertsRun {
    TrainedRun request;
    std::string folder;
    std::vector<std::string> tasks;  ///< "retrieval.query" ...: what a text can be asked under
    ExpertHistory history;
    Report report;  ///< expert_load, router_entropy, mote_moved, mote_between, mote_experts
};
/// Runs that have experts: a history, a report, or a method whose models have them.
using ExpertsDataPtr = std::shared_ptr<const std::vector<ExpertsRun>>;

ExpertsDataPtr loadExperts(Store& store, const std::filesystem::path& project, const std::vector<TrainedRun>& requests);

/// Rows: blocks; columns: experts; the mean over the last steps of a task up to place `last` of placesOf(task).
Figure loadFigure(const ExpertHistory& history, int task, std::size_t last);
/// A block's load over the steps of a task: a line an expert, smoothed over the same window, the values behind it.
Figure loadCurves(const ExpertHistory& history, std::size_t block, int task);
Figure entropyCurves(const ExpertHistory& history, int task);
Figure droppedCurve(const ExpertHistory& history, int task);

}  // namespace faceter::desktop
