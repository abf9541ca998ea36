#include "stats/welch.h"

#include <cmath>

#include "stats/descriptive.h"
#include "stats/distributions.h"
#include "stats/number.h"

namespace faceter {
namespace {

std::string reason_for_nan(const WelchResult& r) {
    if (r.n_a < 2 || r.n_b < 2) return "a sample has fewer than two values";
    if (std::isnan(r.mean_a) || std::isnan(r.mean_b)) return "a sample holds a value that is not a number";
    if (!std::isfinite(r.std_a) || !std::isfinite(r.std_b)) return "the values are so large that their variance is no number";
    return "both samples are constant and equal: there is nothing to test";
}

}  // namespace

WelchResult welch(std::span<const double> a, std::span<const double> b, Alternative alternative) {
    WelchResult r;
    r.alternative = alternative;
    r.n_a = a.size();
    r.n_b = b.size();
    r.mean_a = mean(a);
    r.mean_b = mean(b);
    r.std_a = standard_deviation(a);
    r.std_b = standard_deviation(b);
    // t = (mean_a - mean_b) / sqrt(va + vb), with v = s^2 / n; df = (va + vb)^2 / (va^2 / (na - 1) + vb^2 / (nb - 1))
    const double va = variance(a) / static_cast<double>(r.n_a), vb = variance(b) / static_cast<double>(r.n_b);
    const double total = va + vb;
    r.t = mean_difference(a, b) / std::sqrt(total);
    if (total == 0) {
        r.df = 1;  // SciPy's; t is +-inf or NaN here, so p does not depend on it
    } else {
        const double wa = va / total, wb = vb / total;  // squares of the variances themselves could underflow
        r.df = 1 / (wa * wa / static_cast<double>(r.n_a - 1) + wb * wb / static_cast<double>(r.n_b - 1));
    }
    r.p = tail_probability(r.t, alternative, [&](double t) { return student_t_upper_tail(t, r.df); });
    if (std::isnan(r.t))
        r.note = reason_for_nan(r);
    else if (std::isinf(r.t))
        r.note = "both samples are constant: t is infinite";
    return r;
}

Json WelchResult::to_json() const {
    Json json = {{"t", number_to_json(t)},
                 {"df", number_to_json(df)},
                 {"p", number_to_json(p)},
                 {"mean_a", number_to_json(mean_a)},
                 {"mean_b", number_to_json(mean_b)},
                 {"n_a", n_a},
                 {"n_b", n_b},
                 {"std_a", number_to_json(std_a)},
                 {"std_b", number_to_json(std_b)},
                 {"alternative", alternative_name(alternative)}};
    if (!note.empty()) json["note"] = note;
    return json;
}

Interval welch_interval(std::span<const double> a, std::span<const double> b, double confidence) {
    const WelchResult r = welch(a, b);
    if (std::isnan(r.df) || r.n_a < 2 || r.n_b < 2) return {not_a_number, not_a_number};
    const double difference = mean_difference(a, b);
    const double error = std::sqrt(variance(a) / static_cast<double>(r.n_a) + variance(b) / static_cast<double>(r.n_b));
    const double half = error * student_t_upper_quantile((1 - confidence) / 2, r.df);
    return {difference - half, difference + half};
}

}  // namespace faceter
