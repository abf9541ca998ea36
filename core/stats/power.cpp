#include "stats/power.h"

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/non_central_t.hpp>
#include <cmath>

#include "common/error.h"
#include "stats/distributions.h"

namespace faceter {
namespace {

constexpr std::int64_t most = 1'000'000'000;
/// Beyond it Boost's series has more terms than an int counts, and the normal part of T is a rounding error.
constexpr double largest_noncentrality = 5e4;

void check(const PowerPlan& plan) {
    if (!std::isfinite(plan.effect)) throw usage_error("the effect must be a finite number");
    if (!(plan.alpha > 0 && plan.alpha < 1)) throw usage_error("alpha is {}; it must lie between 0 and 1", plan.alpha);
}

/// P(T > t) where T = (Z + delta) / S and |Z| is nothing beside |delta|: delta / S > t, with df S^2 chi-squared.
double upper_tail_far_out(double t, double df, double noncentrality) {
    if (t == 0 || (noncentrality > 0) != (t > 0)) return noncentrality > 0 ? 1 : 0;
    const double ratio = std::min(std::abs(noncentrality / t), 1e100);
    const boost::math::chi_squared squared(df);
    const double within = df * ratio * ratio;
    return noncentrality > 0 ? boost::math::cdf(squared, within) : boost::math::cdf(boost::math::complement(squared, within));
}

/// P(T > t) of the noncentral t.
double upper_tail(double t, double df, double noncentrality) {
    if (noncentrality == 0) return student_t_upper_tail(t, df);
    if (std::abs(noncentrality) > largest_noncentrality) return upper_tail_far_out(t, df, noncentrality);
    // Far out in the other tail its rounding errors are below 0, or above 1.
    return std::clamp(boost::math::cdf(boost::math::complement(boost::math::non_central_t(df, noncentrality), t)), 0.0, 1.0);
}

}  // namespace

double PowerPlan::df(std::int64_t n) const { return static_cast<double>(design == PowerDesign::paired_t ? n - 1 : 2 * n - 2); }

double PowerPlan::noncentrality(std::int64_t n) const {
    return effect * std::sqrt(static_cast<double>(n) / (design == PowerDesign::paired_t ? 1 : 2));
}

double power_of(const PowerPlan& plan, std::int64_t n) {
    check(plan);
    if (n < 2) throw usage_error("n is {}; a t-test needs two observations at least", n);
    const double df = plan.df(n), nc = plan.noncentrality(n);
    switch (plan.alternative) {
        case Alternative::greater:
            return upper_tail(student_t_upper_quantile(plan.alpha, df), df, nc);
        case Alternative::less:
            return upper_tail(student_t_upper_quantile(plan.alpha, df), df, -nc);
        default:
            break;
    }
    const double critical = student_t_upper_quantile(plan.alpha / 2, df);
    return std::min(1.0, upper_tail(critical, df, nc) + upper_tail(critical, df, -nc));
}

std::int64_t sample_size_for(const PowerPlan& plan, double power) {
    check(plan);
    if (!(power > 0 && power < 1)) throw usage_error("power is {}; it must lie between 0 and 1", power);
    const double towards = plan.alternative == Alternative::less ? -plan.effect : plan.effect;
    const bool reachable = plan.alternative == Alternative::two_sided ? plan.effect != 0 : towards > 0;
    if (!reachable && power_of(plan, 2) < power)
        throw usage_error("no number of observations gives a power of {}: the effect {} is not what the alternative '{}' looks for", power,
                          plan.effect, alternative_name(plan.alternative));
    std::int64_t high = 2;
    std::int64_t low = 1;  // too few, as far as is known
    while (power_of(plan, high) < power) {
        if (high == most) throw usage_error("more than {} observations would be needed: the effect {} is too small", most, plan.effect);
        low = high;
        high = std::min(2 * high, most);
    }
    while (high - low > 1) {
        const std::int64_t middle = low + (high - low) / 2;
        (power_of(plan, middle) < power ? low : high) = middle;
    }
    return high;
}

}  // namespace faceter
