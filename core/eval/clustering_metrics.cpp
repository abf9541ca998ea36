#include "eval/clustering_metrics.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "common/error.h"

namespace faceter {
namespace {

/// - sum n_i/n log(n_i/n)
template <typename Counts>
double entropy(const Counts& counts, double n) {
    double sum = 0;
    for (const auto& [key, count] : counts) sum -= count / n * std::log(count / n);
    return sum;
}

}  // namespace

ClusterAgreement cluster_agreement(std::span<const std::int32_t> truth, std::span<const std::int32_t> predicted) {
    if (truth.size() != predicted.size())
        throw usage_error("a clustering is compared with as many labels, found {} and {}", truth.size(), predicted.size());
    if (truth.empty()) return {1, 1, 1};
    std::map<std::int32_t, double> classes, clusters;
    std::map<std::pair<std::int32_t, std::int32_t>, double> cells;
    for (std::size_t i = 0; i < truth.size(); ++i) {
        classes[truth[i]] += 1;
        clusters[predicted[i]] += 1;
        cells[{truth[i], predicted[i]}] += 1;
    }
    const auto n = static_cast<double>(truth.size());
    double information = 0;  // I(class, cluster)
    for (const auto& [cell, count] : cells) information += count / n * std::log(count * n / (classes[cell.first] * clusters[cell.second]));
    ClusterAgreement result{1, 1, 0};
    // Sums of logarithms end a rounding beyond these bounds.
    if (classes.size() > 1) result.homogeneity = std::clamp(information / entropy(classes, n), 0.0, 1.0);
    if (clusters.size() > 1) result.completeness = std::clamp(information / entropy(clusters, n), 0.0, 1.0);
    const double sum = result.homogeneity + result.completeness;
    result.v_measure = sum > 0 ? 2 * result.homogeneity * result.completeness / sum : 0;
    return result;
}

}  // namespace faceter
