#include "stats/paired.h"

#include <algorithm>
#include <cmath>

#include "common/error.h"
#include "stats/distributions.h"
#include "stats/number.h"

namespace faceter {

std::vector<double> paired_differences(std::span<const double> a, std::span<const double> b) {
    if (a.size() != b.size()) throw usage_error("a paired test needs samples of one size, found {} and {} values", a.size(), b.size());
    std::vector<double> differences(a.size());
    std::transform(a.begin(), a.end(), b.begin(), differences.begin(), std::minus<>());
    return differences;
}

namespace {

std::string paired_note(const PairedTResult& r) {
    if (std::isinf(r.t)) return "all differences are equal: t is infinite";
    if (!std::isnan(r.t)) return {};
    if (r.n < 2) return "there are fewer than two pairs";
    if (std::isnan(r.mean_difference)) return "a sample holds a value that is not a number";
    if (!std::isfinite(r.std_difference)) return "the differences are so large that their variance is no number";
    return "all differences are zero: there is nothing to test";
}

}  // namespace

PairedTResult paired_t(std::span<const double> a, std::span<const double> b, Alternative alternative) {
    const auto differences = paired_differences(a, b);
    PairedTResult r;
    r.alternative = alternative;
    r.n = differences.size();
    r.df = static_cast<double>(r.n) - 1;
    r.mean_difference = mean(differences);
    r.std_difference = standard_deviation(differences);
    r.interval = mean_interval(differences);
    r.t = r.mean_difference / (r.std_difference / std::sqrt(static_cast<double>(r.n)));
    r.p = tail_probability(r.t, alternative, [&](double t) { return student_t_upper_tail(t, r.df); });
    r.note = paired_note(r);
    return r;
}

Json PairedTResult::to_json() const {
    Json json = {{"t", number_to_json(t)},
                 {"df", number_to_json(df)},
                 {"p", number_to_json(p)},
                 {"mean_difference", number_to_json(mean_difference)},
                 {"std_difference", number_to_json(std_difference)},
                 {"interval", interval.to_json()},
                 {"n", n},
                 {"alternative", alternative_name(alternative)}};
    if (!note.empty()) json["note"] = note;
    return json;
}

}  // namespace faceter
