#pragma once
#include <cstddef>
#include <span>

#include "common/json.h"

namespace faceter {

// A NaN among the values makes every result here NaN (SciPy's nan_policy "propagate"); so does an empty input.

/// Arithmetic mean, corrected in a second pass: the offset of the data costs no digits.
double mean(std::span<const double> values);
/// mean(a) - mean(b); an offset that both share costs no digits.
double mean_difference(std::span<const double> a, std::span<const double> b);
/// Unbiased variance (divisor n - 1); NaN for fewer than two values.
double variance(std::span<const double> values);
/// Square root of `variance`.
double standard_deviation(std::span<const double> values);
/// Quantile by linear interpolation between order statistics (numpy.percentile's default); `probability` in [0, 1].
double quantile(std::span<const double> values, double probability);
double median(std::span<const double> values);

struct Interval {
    double low = 0, high = 0;
    Json to_json() const;
};

/// Student t confidence interval of the mean. One value gives (-inf, inf).
Interval mean_interval(std::span<const double> values, double confidence = 0.95);

/// What a table prints of a sample. `std` has divisor n - 1 and is NaN for n = 1.
struct Summary {
    std::size_t n = 0;
    double mean = 0, std = 0, min = 0, q1 = 0, median = 0, q3 = 0, max = 0;
    Interval interval;  ///< of the mean, at `confidence`
    double confidence = 0.95;
    Json to_json() const;
};

Summary summarise(std::span<const double> values, double confidence = 0.95);

}  // namespace faceter
