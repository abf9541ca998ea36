#pragma once
#include <cstdint>

#include "common/json.h"
#include "stats/alternative.h"

namespace faceter {

/// What a planned comparison is: one sample of paired differences, or two groups of equal size.
enum class PowerDesign { paired_t, welch };

/// A t-test that is planned. The effect is standardised: of the paired test the mean difference over the differences' standard deviation,
/// of two groups the difference of the means over the standard deviation within a group (Cohen's d); `less` expects it below zero.
struct PowerPlan {
    PowerDesign design = PowerDesign::paired_t;
    double effect = 0;
    double alpha = 0.05;
    Alternative alternative = Alternative::two_sided;

    /// Degrees of freedom: n - 1 (paired), 2 n - 2 (n a group).
    double df(std::int64_t n) const;
    /// Of the noncentral t: effect sqrt(n) (paired), effect sqrt(n / 2).
    double noncentrality(std::int64_t n) const;
};

/// Probability that the test with `n` >= 2 pairs (or n a group) rejects where the effect is as planned (Cohen 1988; statsmodels'
/// TTestPower and TTestIndPower). A usage error where n < 2, alpha is outside (0, 1) or the effect is not finite.
double power_of(const PowerPlan& plan, std::int64_t n);

/// The smallest n whose power is at least `power`. A usage error where none is, up to a billion: an effect of zero, or one against the
/// alternative.
std::int64_t sample_size_for(const PowerPlan& plan, double power);

}  // namespace faceter
