#pragma once
#include <string>
#include <vector>

#include "figure/table.h"
#include "plan.h"
#include "report.h"

namespace faceter::data_cube {

/// Whether difficulties find noise that was injected at a known rate (`noise_rate` of a data entry), in one task.
struct NoiseFound {
    std::string task;
    std::size_t examples = 0, noisy = 0;                         ///< that were measured
    double before = 0, after = 0;                                ///< separation() under the start model, under the trained one
    bool planned = false;                                        ///< whether the run has a plan with this task
    std::size_t masked = 0, masked_noisy = 0, noisy_in_all = 0;  ///< of all examples that the plan has
};

/// The share of pairs of a noisy and another example of which the noisy one is the more difficult (the area under the ROC curve): 1 finds
/// all, 0.5 is chance. Equal ones count half; what has no negative or is not finite is left out. NaN: one of the kinds is missing.
double separation(const TaskDifficulty& task, const std::vector<char>& noisy);

/// `noisy`: for each of `fits`, of all of its task's examples; tasks that have none (empty) are left out. Tasks of one name stand in the
/// plan's order. `plan`: null where the run has none.
std::vector<NoiseFound> find_noise(const std::vector<TaskFit>& fits, const std::vector<std::vector<char>>& noisy, const Plan* plan);
/// Over all tasks; a task's separation counts as often as it has noisy examples.
NoiseFound all_noise(const std::vector<NoiseFound>& tasks);
Table noise_table(const std::vector<NoiseFound>& tasks, const std::string& run);
Json noise_json(const std::vector<NoiseFound>& tasks);

}  // namespace faceter::data_cube
