#pragma once
#include "compare/compare.h"
#include "stats/paired.h"

namespace faceter {

/// Spreads below it, in points, are those of rounding.
constexpr double no_spread = 1e-9;

/// The paired t-test of scores. Differences that are all equal have no p, where SciPy's is 0: two or three of them are a chance of scores
/// that are shares of few examples, and do not say how others would vary.
PairedTResult paired_t_of_scores(std::span<const double> a, std::span<const double> b);

/// A group against the baseline: paired over the data sets that every group has.
struct GroupTest {
    std::size_t group = 0;
    PairedTResult result;
    double p_holm = 0;
    /// Cohen's d_z: the mean difference in units of the differences' standard deviation.
    double effect() const { return result.mean_difference / result.std_difference; }
};
/// Empty without a baseline or with fewer than two common data sets.
std::vector<GroupTest> tests_against_baseline(const Comparison& comparison);

/// Data sets that every run of every group has.
std::vector<ComparedSet> common_sets(const Comparison& comparison);
/// One mean for each run (seed) of the group, over the common sets.
std::vector<double> means_over_sets(const Comparison& comparison, const RunGroup& group);
/// The same with every task type counting once.
std::vector<double> means_over_types(const Comparison& comparison, const RunGroup& group);

}  // namespace faceter
