#pragma once
#include <string>
#include <vector>

#include "figure/figure.h"
#include "figure/table.h"
#include "plan_file.h"

namespace faceter::data_cube {

/// One task's examples under the start model and under the trained one: the same examples in both.
struct TaskFit {
    std::string name;
    std::vector<std::uint32_t> examples;  ///< which of the task's
    TaskDifficulty before, after;
    double ratio_before = 0, ratio_after = 0;  ///< of underfitting examples; NaN: none could be judged
};

/// severe > 80%, moderate 50 to 80%, mild < 50% (Data-CUBE, Figure 1); "-" where there is no ratio.
std::string band_of(double ratio);

Table underfitting_table(const std::vector<TaskFit>& tasks, double margin, const std::string& run);
/// Bars a task, or, of more than 40 tasks, a point each.
Figure underfitting_figure(const std::vector<TaskFit>& tasks, double margin, const std::string& run);
/// How phi is spread over all examples, before and after.
Figure difficulty_figure(const std::vector<TaskFit>& tasks, const std::string& run);
Json underfitting_json(const std::vector<TaskFit>& tasks);

/// The plan: tasks in tour order with their batches, masks and oddities.
Table plan_table(const PlanRecord& record, const Plan& plan, const std::string& run);
struct RandomOrders {
    std::vector<double> totals;
    double mean = 0, deviation = 0;
};
RandomOrders random_orders(const Similarities& similarities, std::int64_t count, std::uint64_t seed);
/// The tour's total beside other solvers' and random orders'.
Table tour_table(const PlanRecord& record, const RandomOrders& random, const std::string& run);
Figure tour_figure(const PlanRecord& record, const RandomOrders& random, const std::string& run);
/// Total over annealing steps.
Figure energy_figure(const PlanRecord& record, const RandomOrders& random, const std::string& run);
/// Similarities with rows and columns in tour order; of more than 120 tasks the first 120 of the tour.
Figure similarity_figure(const PlanRecord& record, const std::string& run);

}  // namespace faceter::data_cube
