#pragma once
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "figure/figure.h"
#include "figure/table.h"
#include "pages/trained_run.h"
#include "store/store.h"

namespace faceter::desktop {

/// A batch, or the part of one that is of one task.
struct TrainedBatch {
    std::int64_t step = 0;
    int task = 0;     ///< place in TrainedOrder::tasks
    double loss = 0;  ///< NaN: the batch is planned
};

/// What was trained when, from the series loss/<task> of the first stage.
struct TrainedOrder {
    std::vector<std::string> tasks;
    std::vector<TrainedBatch> batches;  ///< by step
};

struct TourTask {
    std::string name;
    double toNext = 0;  ///< similarity to the task after it; NaN: unknown
};

/// What one run stored of its curriculum.
struct CurriculumRun {
    TrainedRun request;
    std::vector<TourTask> tour;             ///< in the tour's order; empty: no plan is stored
    std::string summary;                    ///< of the plan, one line
    std::map<std::string, Figure> figures;  ///< similarity, energy, tour, difficulty, underfitting
    std::map<std::string, Table> tables;    ///< plan, tour, underfitting
    TrainedOrder order;
    bool isUnderWay = false;              ///< it is not done, and has several tasks to train
    bool isUnbegun = false;               ///< the same, and it logged no step yet
    bool isByDataSet = false;             ///< its curriculum planned the data sets of one task: `order` is empty until it is drawn again
    std::vector<std::string> problems{};  ///< documents that cannot be read, one sentence each
    /// The live worker draws its order.
    bool isToPlan() const { return isUnbegun || isByDataSet; }
    bool hasReport() const { return !figures.empty() || !tables.empty(); }
};
/// Runs that have a report, an order of tasks or a curriculum's plan, or will have one.
using CurriculumDataPtr = std::shared_ptr<const std::vector<CurriculumRun>>;

/// `project`: the folder in which the runs lie.
std::vector<CurriculumRun> loadCurriculum(Store& store, const std::filesystem::path& project, const std::vector<TrainedRun>& requests);

/// What a run would meet when, as the live worker draws it (session method "planned_order"). Errors (data): an answer that is none.
TrainedOrder plannedOrder(const Json& answer);

/// A colour's place for each task, the same in ring and strips: the first tour's order, then what it lacks by name.
std::map<std::string, int> taskColours(const std::vector<CurriculumRun>& runs);

/// "run,step,task,loss" of every batch; one that is planned has no loss.
std::string batchesCsv(const std::vector<CurriculumRun>& runs);

}  // namespace faceter::desktop
