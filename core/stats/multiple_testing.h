#pragma once
#include <span>
#include <vector>

namespace faceter {

/// Holm's step-down adjusted p (Holm 1979): controls the chance of one false claim in the whole family. Capped at 1, in the order given.
/// A NaN stays NaN and does not count as a member of the family.
std::vector<double> holm(std::span<const double> p);
/// Benjamini and Hochberg's step-up adjusted p (1995): controls the expected share of false claims among the claims. NaN as above.
std::vector<double> benjamini_hochberg(std::span<const double> p);
/// 3, 2, 1 or 0 stars: p < 0.001, < 0.01, < 0.05. NaN has none.
int significance_stars(double p);

}  // namespace faceter
