#include "stats/descriptive.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "stats/distributions.h"
#include "stats/number.h"

namespace faceter {
namespace {

bool any_nan(std::span<const double> values) {
    return std::any_of(values.begin(), values.end(), [](double v) { return std::isnan(v); });
}

std::vector<double> sorted(std::span<const double> values) {
    std::vector<double> copy(values.begin(), values.end());
    std::sort(copy.begin(), copy.end());
    return copy;
}

/// numpy's way of interpolating: from the nearer end, so that the result never leaves [a, b].
double interpolate(double a, double b, double t) {
    if (a == b) return a;  // also two infinities
    return t < 0.5 ? a + (b - a) * t : b - (b - a) * (1 - t);
}

double quantile_of_sorted(std::span<const double> ascending, double probability) {
    const double at = std::clamp(probability, 0.0, 1.0) * static_cast<double>(ascending.size() - 1);
    const auto below = static_cast<std::size_t>(at);
    if (below + 1 >= ascending.size()) return ascending.back();
    return interpolate(ascending[below], ascending[below + 1], at - static_cast<double>(below));
}

}  // namespace

double mean(std::span<const double> values) {
    if (values.empty()) return not_a_number;
    const auto n = static_cast<double>(values.size());
    double sum = 0;
    for (const double v : values) sum += v;
    const double first = sum / n;
    if (!std::isfinite(first)) return first;
    double rest = 0;
    for (const double v : values) rest += v - first;
    return first + rest / n;
}

double mean_difference(std::span<const double> a, std::span<const double> b) {
    const double centre = mean(a);
    if (!std::isfinite(centre)) return centre - mean(b);
    const auto mean_from_centre = [&](std::span<const double> values) {
        double sum = 0;
        for (const double v : values) sum += v - centre;
        return sum / static_cast<double>(values.size());
    };
    return mean_from_centre(a) - mean_from_centre(b);
}

double variance(std::span<const double> values) {
    if (values.size() < 2) return not_a_number;
    const double centre = mean(values);
    double squares = 0, rest = 0;
    for (const double v : values) {
        squares += (v - centre) * (v - centre);
        rest += v - centre;  // zero but for rounding
    }
    const auto n = static_cast<double>(values.size());
    return std::max(0.0, squares - rest * rest / n) / (n - 1) + (squares - squares);  // the last term hands a NaN on
}

double standard_deviation(std::span<const double> values) { return std::sqrt(variance(values)); }

double quantile(std::span<const double> values, double probability) {
    if (values.empty() || any_nan(values) || std::isnan(probability)) return not_a_number;
    return quantile_of_sorted(sorted(values), probability);
}

double median(std::span<const double> values) { return quantile(values, 0.5); }

Json Interval::to_json() const { return Json::array({number_to_json(low), number_to_json(high)}); }

Interval mean_interval(std::span<const double> values, double confidence) {
    const double centre = mean(values);
    if (std::isnan(centre)) return {centre, centre};
    if (values.size() == 1) return {-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
    const auto n = static_cast<double>(values.size());
    const double half = student_t_upper_quantile((1 - confidence) / 2, n - 1) * std::sqrt(variance(values) / n);
    return {centre - half, centre + half};
}

Summary summarise(std::span<const double> values, double confidence) {
    Summary s;
    s.n = values.size();
    s.confidence = confidence;
    s.mean = mean(values);
    s.std = standard_deviation(values);
    s.interval = mean_interval(values, confidence);
    if (values.empty() || any_nan(values)) {
        s.min = s.q1 = s.median = s.q3 = s.max = not_a_number;
        return s;
    }
    const auto ascending = sorted(values);
    s.min = ascending.front();
    s.q1 = quantile_of_sorted(ascending, 0.25);
    s.median = quantile_of_sorted(ascending, 0.5);
    s.q3 = quantile_of_sorted(ascending, 0.75);
    s.max = ascending.back();
    return s;
}

Json Summary::to_json() const {
    Json json = {{"n", n}};
    const std::pair<const char*, double> numbers[] = {{"mean", mean},     {"std", std}, {"min", min}, {"q1", q1},
                                                      {"median", median}, {"q3", q3},   {"max", max}};
    for (const auto& [key, value] : numbers) json[key] = number_to_json(value);
    json["mean_interval"] = interval.to_json();
    json["confidence"] = confidence;
    return json;
}

}  // namespace faceter
