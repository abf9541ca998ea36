#include "stats/paired.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <numeric>

#include "common/error.h"
#include "stats/distributions.h"
#include "stats/number.h"

namespace faceter {
namespace {

/// By how much differences of these values can be apart by rounding alone: of 0.2 - 0.1 and 0.3 - 0.2 the last digits differ.
double rounding_of(std::span<const double> a, std::span<const double> b) {
    double largest = 0;
    for (const auto& values : {a, b})
        for (const double v : values) largest = std::max(largest, std::abs(v));
    return 4 * std::numeric_limits<double>::epsilon() * largest;
}

/// Sizes that are equal but for rounding are made equal, and zero where zero is as near; signs stay.
void level(std::vector<double>& differences, double rounding) {
    const bool all_finite = std::all_of(differences.begin(), differences.end(), [](double d) { return std::isfinite(d); });
    if (!all_finite || !std::isfinite(rounding)) return;
    for (double& d : differences)
        if (std::abs(d) <= rounding) d = 0;
    const auto size_of = [&](std::size_t place) { return std::abs(differences[place]); };
    std::vector<std::size_t> places(differences.size());
    std::iota(places.begin(), places.end(), std::size_t{0});
    std::sort(places.begin(), places.end(), [&](std::size_t x, std::size_t y) { return size_of(x) < size_of(y); });
    for (auto first = places.begin(); first != places.end();) {
        const double least = size_of(*first);
        const auto end = std::find_if(first, places.end(), [&](std::size_t place) { return size_of(place) - least > rounding; });
        const double size = std::midpoint(least, size_of(*std::prev(end)));
        for (; first != end; ++first) differences[*first] = std::copysign(size, differences[*first]);
    }
}

std::string paired_note(const PairedTResult& r) {
    if (std::isinf(r.t)) return "all differences are equal: t is infinite";
    if (!std::isnan(r.t)) return {};
    if (r.n < 2) return "there are fewer than two pairs";
    if (std::isnan(r.mean_difference)) return "a sample holds a value that is not a number";
    if (!std::isfinite(r.std_difference)) return "the differences are so large that their variance is no number";
    return "all differences are zero: there is nothing to test";
}

}  // namespace

std::vector<double> paired_differences(std::span<const double> a, std::span<const double> b) {
    if (a.size() != b.size()) throw usage_error("a paired test needs samples of one size, found {} and {} values", a.size(), b.size());
    std::vector<double> differences(a.size());
    std::transform(a.begin(), a.end(), b.begin(), differences.begin(), std::minus<>());
    level(differences, rounding_of(a, b));
    return differences;
}

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
