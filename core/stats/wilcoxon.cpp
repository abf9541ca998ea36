#include <algorithm>
#include <cmath>

#include "common/error.h"
#include "stats/correlation.h"
#include "stats/distributions.h"
#include "stats/number.h"
#include "stats/paired.h"

namespace faceter {
namespace {

constexpr std::size_t largest_automatic_exact = 50;
constexpr std::size_t largest_exact = 1000;

/// The differences as the test sees them: absolute ranks, and what the zeros' treatment makes of them.
struct SignedRanks {
    std::vector<double> differences, ranks;
    double plus = 0, minus = 0;
    double split = 0;  ///< rank sum of zeros that each side got (zsplit)
    std::size_t zeros = 0;
};

SignedRanks signed_ranks(std::span<const double> differences, ZeroMethod zeros) {
    SignedRanks s;
    s.zeros = static_cast<std::size_t>(std::count(differences.begin(), differences.end(), 0.0));
    for (const double d : differences)
        if (d != 0 || zeros != ZeroMethod::wilcox) s.differences.push_back(d);
    std::vector<double> sizes;
    for (const double d : s.differences) sizes.push_back(std::abs(d));
    s.ranks = average_ranks(sizes);
    for (std::size_t i = 0; i < s.ranks.size(); ++i) {
        if (s.differences[i] > 0) s.plus += s.ranks[i];
        if (s.differences[i] < 0) s.minus += s.ranks[i];
        if (s.differences[i] == 0 && zeros == ZeroMethod::zsplit) s.split += s.ranks[i] / 2;
    }
    s.plus += s.split;
    s.minus += s.split;
    return s;
}

/// Sum of t^3 - t over groups of equal ranks; `skip_zeros`: the zeros are no group (Pratt drops their ranks).
double tie_term(const SignedRanks& s, bool skip_zeros) {
    std::vector<double> ranks;
    for (std::size_t i = 0; i < s.ranks.size(); ++i)
        if (!skip_zeros || s.differences[i] != 0) ranks.push_back(s.ranks[i]);
    std::sort(ranks.begin(), ranks.end());
    double sum = 0;
    for (auto at = ranks.begin(); at != ranks.end();) {
        const auto end = std::upper_bound(at, ranks.end(), *at);
        const auto size = static_cast<double>(end - at);
        sum += size * size * size - size;
        at = end;
    }
    return sum;
}

void approximate(const SignedRanks& s, const WilcoxonOptions& options, WilcoxonResult& result) {
    const auto n = static_cast<double>(s.ranks.size()), zeros = static_cast<double>(s.zeros);
    const bool pratt = options.zeros == ZeroMethod::pratt;
    double centre = n * (n + 1) / 4;
    double variance24 = n * (n + 1) * (2 * n + 1);
    if (pratt) {
        centre -= zeros * (zeros + 1) / 4;
        variance24 -= zeros * (zeros + 1) * (2 * zeros + 1);
    }
    const double se = std::sqrt((variance24 - tie_term(s, pratt) / 2) / 24);
    double z = (s.plus - centre) / se;
    if (options.continuity_correction) {
        const double side = options.alternative == Alternative::greater ? 1
                            : options.alternative == Alternative::less  ? -1
                                                                        : (z > 0) - (z < 0);
        z -= side * 0.5 / se;
    }
    result.p = std::min(1.0, tail_probability(z, options.alternative, normal_upper_tail));
    result.z = options.alternative == Alternative::two_sided ? -std::abs(z) : z;
}

/// P(W+ = k / 2) over all sign patterns. Ranks are doubled, so that average ranks of ties are whole.
std::vector<double> null_distribution(const SignedRanks& s) {
    std::vector<double> probability{1.0};
    for (std::size_t i = 0; i < s.ranks.size(); ++i) {
        if (s.differences[i] == 0) continue;
        const auto step = static_cast<std::size_t>(std::llround(2 * s.ranks[i]));
        const std::size_t old_size = probability.size();
        probability.resize(old_size + step);
        for (double& p : probability) p *= 0.5;
        for (std::size_t k = old_size; k-- > 0;) probability[k + step] += probability[k];
    }
    return probability;
}

void exact(const SignedRanks& s, Alternative alternative, WilcoxonResult& result) {
    const auto probability = null_distribution(s);
    const auto at = static_cast<std::size_t>(std::llround(2 * (s.plus - s.split)));
    double lower = 0, upper = 0;
    for (std::size_t k = 0; k <= at; ++k) lower += probability[k];
    for (std::size_t k = probability.size(); k-- > at;) upper += probability[k];
    result.z = not_a_number;
    result.exact = true;
    result.p = alternative == Alternative::less ? lower : alternative == Alternative::greater ? upper : 2 * std::min(lower, upper);
    result.p = std::min(1.0, result.p);
}

}  // namespace

WilcoxonResult wilcoxon(std::span<const double> differences, const WilcoxonOptions& options) {
    WilcoxonResult result;
    result.n = differences.size();
    result.alternative = options.alternative;
    result.statistic = result.z = result.p = not_a_number;
    const bool has_nan = std::any_of(differences.begin(), differences.end(), [](double d) { return std::isnan(d); });
    const SignedRanks s = has_nan ? SignedRanks{} : signed_ranks(differences, options.zeros);
    result.n_nonzero = result.n - s.zeros;
    if (has_nan || result.n_nonzero == 0) {
        result.note =
            has_nan ? "a sample holds a value that is not a number" : "no difference is other than zero: there is nothing to test";
        return result;
    }
    result.statistic = options.alternative == Alternative::two_sided ? std::min(s.plus, s.minus) : s.plus;
    const bool take_exact = options.method == WilcoxonMethod::exact ||
                            (options.method == WilcoxonMethod::automatic && result.n_nonzero <= largest_automatic_exact);
    if (take_exact && result.n_nonzero > largest_exact)
        throw usage_error("the exact signed-rank test takes at most {} differences, found {}; use the approximation", largest_exact,
                          result.n_nonzero);
    if (take_exact)
        exact(s, options.alternative, result);
    else
        approximate(s, options, result);
    return result;
}

Json WilcoxonResult::to_json() const {
    Json json = {{"statistic", number_to_json(statistic)},
                 {"z", number_to_json(z)},
                 {"p", number_to_json(p)},
                 {"n", n},
                 {"n_nonzero", n_nonzero},
                 {"method", exact ? "exact" : "approximate"},
                 {"alternative", alternative_name(alternative)}};
    if (!note.empty()) json["note"] = note;
    return json;
}

}  // namespace faceter
