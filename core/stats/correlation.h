#pragma once
#include <span>
#include <vector>

#include "common/json.h"

namespace faceter {

/// r and the two-sided p of H0: no correlation.
struct CorrelationResult {
    double r = 0, p = 0;
    std::size_t n = 0;
    Json to_json() const;
};

/// Pearson's r. p from the exact distribution under normality: (1 - r^2)^(n/2 - 2) on [-1, 1] (scipy.stats.pearsonr); n = 2: r = +-1, p
/// = 1. Constant input, a NaN or n < 2: NaN. Different sizes: a usage error.
CorrelationResult pearson(std::span<const double> x, std::span<const double> y);
/// Pearson's r of the average ranks (right under ties, unlike 1 - 6 sum d^2 / ...); p from Student's t with n - 2 degrees of freedom
/// (scipy.stats.spearmanr), NaN for n = 2.
CorrelationResult spearman(std::span<const double> x, std::span<const double> y);
/// Ranks from 1; equal values share the mean of their ranks (scipy.stats.rankdata). A NaN makes all ranks NaN.
std::vector<double> average_ranks(std::span<const double> values);

}  // namespace faceter
