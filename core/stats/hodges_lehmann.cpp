#include "stats/hodges_lehmann.h"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <vector>

#include "stats/number.h"

namespace faceter {
namespace {

constexpr std::size_t most_differences = 2000, most_exact = 50;

/// How many ranks may lie below with at most `tail` probability, plus one: R's qsignrank(tail, n), at least 1.
std::size_t signed_rank_quantile(std::size_t n, double tail) {
    const std::size_t total = n * (n + 1) / 2;
    if (n > most_exact) {
        const double mean = static_cast<double>(total) / 2,
                     sd = std::sqrt(static_cast<double>(total) * (2 * static_cast<double>(n) + 1) / 12);
        const double q = mean + sd * boost::math::quantile(boost::math::normal(), tail);
        return static_cast<std::size_t>(std::max(1.0, std::floor(q + 0.5)));
    }
    std::vector<double> ways(total + 1, 0);  // sign patterns whose positive ranks sum to w
    ways[0] = 1;
    for (std::size_t rank = 1; rank <= n; ++rank)
        for (std::size_t w = total; w >= rank; --w) ways[w] += ways[w - rank];
    const double patterns = std::exp2(static_cast<double>(n));
    double below = 0;
    for (std::size_t w = 0; w <= total; ++w) {
        below += ways[w];
        if (below >= tail * patterns) return std::max<std::size_t>(1, w);
    }
    return total;
}

}  // namespace

HodgesLehmann hodges_lehmann(std::span<const double> differences, double confidence) {
    HodgesLehmann result{not_a_number, {not_a_number, not_a_number}, confidence};
    const bool any_nan = std::any_of(differences.begin(), differences.end(), [](double d) { return std::isnan(d); });
    if (differences.empty() || any_nan || differences.size() > most_differences) return result;
    std::vector<double> averages;
    averages.reserve(differences.size() * (differences.size() + 1) / 2);
    for (std::size_t i = 0; i < differences.size(); ++i)
        for (std::size_t j = i; j < differences.size(); ++j) averages.push_back((differences[i] + differences[j]) / 2);
    std::sort(averages.begin(), averages.end());
    result.estimate = median(averages);
    const std::size_t place = signed_rank_quantile(differences.size(), (1 - confidence) / 2);
    result.interval = {averages[place - 1], averages[averages.size() - place]};
    return result;
}

}  // namespace faceter
