#pragma once
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace faceter {

enum class Bandwidth { scott, silverman };

/// Kernel density estimate with a Gaussian kernel (scipy.stats.gaussian_kde): kernel sd = factor * sd(x), divisor n - 1; Scott's factor is
/// n^(-1/5), Silverman's (3n/4)^(-1/5).
class GaussianDensity {
  public:
    /// A data error for fewer than two values, a NaN or infinity among them, or no spread at all (there is no density then).
    explicit GaussianDensity(std::span<const double> values, Bandwidth bandwidth = Bandwidth::scott);
    /// With a factor of the caller's own, > 0.
    GaussianDensity(std::span<const double> values, double factor);
    double operator()(double at) const;
    std::vector<double> operator()(std::span<const double> grid) const;
    double factor() const { return factor_; }
    double kernel_standard_deviation() const { return sd_; }
    /// `points` places from `cut` kernel deviations below the smallest value to as many above the largest.
    std::vector<double> grid(std::size_t points = 200, double cut = 3) const;

  private:
    std::vector<double> values_;  // sorted
    double factor_ = 0;
    double sd_ = 0;
};

/// `points` equally spaced values from `low` to `high`, both included.
std::vector<double> linear_grid(double low, double high, std::size_t points);

}  // namespace faceter
