#include "stats/equivalence.h"

#include <algorithm>
#include <cmath>

#include "common/error.h"
#include "stats/distributions.h"
#include "stats/number.h"
#include "stats/paired.h"
#include "stats/welch.h"

namespace faceter {
namespace {

void check(double margin) {
    if (!(margin > 0 && std::isfinite(margin))) throw usage_error("the margin is {}; it must be a number above 0", margin);
}

/// From `difference` and `df`: t = (difference -+ margin) / error. `constant`: what it is to have no error.
EquivalenceResult tested(EquivalenceResult r, double error, const char* constant) {
    if (std::isnan(r.difference) || std::isnan(error) || r.n_a < 2 || r.n_b < 2) {
        r.p_lower = r.p_upper = r.p = r.df = not_a_number;
        r.interval = {not_a_number, not_a_number};
        r.note = r.n_a < 2 || r.n_b < 2     ? "a sample has fewer than two values"
                 : std::isnan(r.difference) ? "a sample holds a value that is not a number"
                                            : "the values are so large that their variance is no number";
        return r;
    }
    r.p_lower = student_t_upper_tail((r.difference + r.margin) / error, r.df);
    r.p_upper = student_t_upper_tail((r.margin - r.difference) / error, r.df);
    r.p = std::isnan(r.p_lower) || std::isnan(r.p_upper) ? not_a_number : std::max(r.p_lower, r.p_upper);
    const double half = error > 0 ? error * student_t_upper_quantile(0.05, r.df) : 0;
    r.interval = {r.difference - half, r.difference + half};
    if (error == 0) r.note = fmt::format("{}{}", constant, std::isnan(r.p) ? " and apart by the margin" : ": t is infinite");
    return r;
}

}  // namespace

EquivalenceResult equivalence(std::span<const double> a, std::span<const double> b, double margin) {
    check(margin);
    const WelchResult w = welch(a, b);
    EquivalenceResult r;
    r.difference = mean_difference(a, b);
    r.df = w.df;
    r.margin = margin;
    r.n_a = a.size();
    r.n_b = b.size();
    return tested(r, std::sqrt(variance(a) / static_cast<double>(a.size()) + variance(b) / static_cast<double>(b.size())),
                  "the samples are constant");
}

EquivalenceResult paired_equivalence(std::span<const double> a, std::span<const double> b, double margin) {
    check(margin);
    const PairedTResult t = paired_t(a, b);
    EquivalenceResult r;
    r.difference = t.mean_difference;
    r.df = t.df;
    r.margin = margin;
    r.n_a = r.n_b = t.n;
    return tested(r, t.std_difference / std::sqrt(static_cast<double>(t.n)), "all differences are equal");
}

Json EquivalenceResult::to_json() const {
    Json json = {{"difference", number_to_json(difference)},
                 {"df", number_to_json(df)},
                 {"p", number_to_json(p)},
                 {"p_lower", number_to_json(p_lower)},
                 {"p_upper", number_to_json(p_upper)},
                 {"margin", margin},
                 {"interval", {number_to_json(interval.low), number_to_json(interval.high)}},
                 {"n_a", n_a},
                 {"n_b", n_b}};
    if (!note.empty()) json["note"] = note;
    return json;
}

}  // namespace faceter
