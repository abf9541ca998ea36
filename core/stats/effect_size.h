#pragma once
#include <span>

namespace faceter {

// NaN for n < 2, for a NaN among the values and for a zero spread without a difference; +-inf for a zero spread with one.

/// Cohen's d: (mean(a) - mean(b)) / pooled standard deviation.
double cohens_d(std::span<const double> a, std::span<const double> b);
/// Hedges' g: Cohen's d times the exact small-sample correction Gamma(m/2) / (sqrt(m/2) Gamma((m-1)/2)), m = na + nb - 2.
double hedges_g(std::span<const double> a, std::span<const double> b);
/// Cohen's d_z of pairs: mean(a - b) / standard deviation of a - b.
double paired_effect_size(std::span<const double> a, std::span<const double> b);
/// Matched-pairs rank-biserial correlation, the effect size of Wilcoxon's test: (W+ - W-) / (W+ + W-), zeros dropped; in [-1, 1].
double rank_biserial(std::span<const double> differences);

}  // namespace faceter
