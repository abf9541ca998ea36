#pragma once
#include <span>
#include <string>
#include <vector>

#include "compare/similarity.h"
#include "figure/figure.h"

namespace faceter {

/// What a figure of inter-task similarity shows of one configuration.
struct SimilarityGroup {
    std::string name;
    int colour = 0;     ///< place in the palette
    SimilaritySet set;  ///< one run's, or average_over_seeds
};

/// A figure of densities for each pair of tasks that the first group has, one series a group, all over the same range of x (MoTE, Figure
/// 3): Gaussian kernel, Scott's bandwidth, cut at 1. Values without any spread have no density: they are a line of the figure's height at
/// their place, and a note.
std::vector<Figure> similarity_densities(std::span<const SimilarityGroup> groups);
/// The mean similarity of every two tasks, 1 on the diagonal (MoTE, Figure 1); a pair that the group lacks is empty.
Figure similarity_matrix(const SimilarityGroup& group);
/// "query" for "retrieval.query" where no other task of the list ends so; else the name itself.
std::string short_task_name(const std::string& name, std::span<const std::string> all);
/// Names of the tasks in the order in which the pairs name them.
std::vector<std::string> similarity_tasks(const SimilaritySet& set);

}  // namespace faceter
