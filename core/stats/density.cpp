#include "stats/density.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "common/error.h"
#include "stats/descriptive.h"

namespace faceter {
namespace {

constexpr double furthest = 38.7;  // kernel deviations beyond which exp(-u^2 / 2) is zero even as a denormal

double bandwidth_factor(Bandwidth bandwidth, std::size_t n) {
    const auto count = static_cast<double>(n);
    return std::pow(bandwidth == Bandwidth::scott ? count : count * 3 / 4, -0.2);
}

}  // namespace

GaussianDensity::GaussianDensity(std::span<const double> values, Bandwidth bandwidth)
    : GaussianDensity(values, bandwidth_factor(bandwidth, values.size())) {}

GaussianDensity::GaussianDensity(std::span<const double> values, double factor) : values_(values.begin(), values.end()), factor_(factor) {
    if (values_.size() < 2) throw data_error("a density needs at least two values, found {}", values_.size());
    for (const double v : values_)
        if (!std::isfinite(v)) throw data_error("a density needs finite values, found {}", v);
    std::sort(values_.begin(), values_.end());
    sd_ = factor * standard_deviation(values_);
    if (!(sd_ > 0))
        throw data_error("a density needs values that differ and a positive bandwidth factor (factor {}, all values {})", factor,
                         values_[0]);
}

double GaussianDensity::operator()(double at) const {
    const auto first = std::lower_bound(values_.begin(), values_.end(), at - furthest * sd_);
    const auto last = std::upper_bound(first, values_.end(), at + furthest * sd_);
    double sum = 0;
    for (auto v = first; v != last; ++v) {
        const double u = (at - *v) / sd_;
        sum += std::exp(-0.5 * u * u);
    }
    return sum / (static_cast<double>(values_.size()) * sd_ * std::sqrt(2 * std::numbers::pi));
}

std::vector<double> GaussianDensity::operator()(std::span<const double> grid) const {
    std::vector<double> density;
    density.reserve(grid.size());
    for (const double at : grid) density.push_back((*this)(at));
    return density;
}

std::vector<double> GaussianDensity::grid(std::size_t points, double cut) const {
    return linear_grid(values_.front() - cut * sd_, values_.back() + cut * sd_, points);
}

std::vector<double> linear_grid(double low, double high, std::size_t points) {
    std::vector<double> grid(points, low);
    for (std::size_t i = 1; i < points; ++i) grid[i] = low + (high - low) * (static_cast<double>(i) / static_cast<double>(points - 1));
    return grid;
}

}  // namespace faceter
