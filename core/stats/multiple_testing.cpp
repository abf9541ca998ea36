#include "stats/multiple_testing.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace faceter {
namespace {

/// Indices of the values that are numbers, by value, ascending.
std::vector<std::size_t> ascending_order(std::span<const double> p) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < p.size(); ++i)
        if (!std::isnan(p[i])) order.push_back(i);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) { return p[i] < p[j]; });
    return order;
}

}  // namespace

std::vector<double> holm(std::span<const double> p) {
    std::vector<double> adjusted(p.begin(), p.end());
    const auto order = ascending_order(p);
    double highest = 0;
    for (std::size_t rank = 0; rank < order.size(); ++rank) {
        highest = std::max(highest, static_cast<double>(order.size() - rank) * p[order[rank]]);
        adjusted[order[rank]] = std::min(1.0, highest);
    }
    return adjusted;
}

std::vector<double> benjamini_hochberg(std::span<const double> p) {
    std::vector<double> adjusted(p.begin(), p.end());
    const auto order = ascending_order(p);
    double lowest = 1;
    for (std::size_t rank = order.size(); rank > 0; --rank) {
        lowest = std::min(lowest, static_cast<double>(order.size()) / static_cast<double>(rank) * p[order[rank - 1]]);
        adjusted[order[rank - 1]] = lowest;
    }
    return adjusted;
}

int significance_stars(double p) {
    if (std::isnan(p)) return 0;
    return (p < 0.05) + (p < 0.01) + (p < 0.001);
}

}  // namespace faceter
