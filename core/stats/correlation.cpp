#include "stats/correlation.h"

#include <algorithm>
#include <boost/math/special_functions/beta.hpp>
#include <cmath>
#include <numeric>

#include "common/error.h"
#include "stats/descriptive.h"
#include "stats/distributions.h"
#include "stats/number.h"

namespace faceter {
namespace {

void check_sizes(std::span<const double> x, std::span<const double> y) {
    if (x.size() != y.size()) throw usage_error("a correlation needs as many x as y, found {} and {}", x.size(), y.size());
}

bool constant(std::span<const double> values) {
    return std::all_of(values.begin(), values.end(), [&](double v) { return v == values.front(); });
}

/// Values less their mean, the largest of them 1 or -1, so that squares neither overflow nor vanish.
std::vector<double> centred(std::span<const double> values) {
    const double centre = mean(values);
    std::vector<double> result(values.begin(), values.end());
    double largest = 0;
    for (double& v : result) largest = std::max(largest, std::abs(v -= centre));
    for (double& v : result) v /= largest;
    return result;
}

double dot(std::span<const double> u, std::span<const double> v) { return std::inner_product(u.begin(), u.end(), v.begin(), 0.0); }

double product_moment(std::span<const double> x, std::span<const double> y) {
    if (x.size() < 2 || constant(x) || constant(y)) return not_a_number;
    const auto u = centred(x), v = centred(y);
    // One root: of vectors that are alike, or opposite, exactly 1 and -1 come out.
    return std::clamp(dot(u, v) / std::sqrt(dot(u, u) * dot(v, v)), -1.0, 1.0);
}

}  // namespace

CorrelationResult pearson(std::span<const double> x, std::span<const double> y) {
    check_sizes(x, y);
    CorrelationResult result{product_moment(x, y), not_a_number, x.size()};
    if (std::isnan(result.r)) return result;
    if (result.n == 2) return {result.r > 0 ? 1.0 : -1.0, 1.0, 2};
    // (r + 1) / 2 is Beta(n/2 - 1, n/2 - 1) under H0; the lower tail at (1 - |r|) / 2, twice
    const double shape = static_cast<double>(result.n) / 2 - 1;
    result.p = std::min(1.0, 2 * boost::math::ibeta(shape, shape, (1 - std::abs(result.r)) / 2));
    return result;
}

CorrelationResult spearman(std::span<const double> x, std::span<const double> y) {
    check_sizes(x, y);
    CorrelationResult result{product_moment(average_ranks(x), average_ranks(y)), not_a_number, x.size()};
    if (std::isnan(result.r) || result.n < 3) return result;
    const double df = static_cast<double>(result.n) - 2;
    const double t = result.r * std::sqrt(df / ((1 + result.r) * (1 - result.r)));
    result.p = 2 * student_t_upper_tail(std::abs(t), df);
    return result;
}

std::vector<double> average_ranks(std::span<const double> values) {
    if (std::any_of(values.begin(), values.end(), [](double v) { return std::isnan(v); }))
        return std::vector<double>(values.size(), not_a_number);
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) { return values[i] < values[j]; });
    std::vector<double> ranks(values.size());
    for (std::size_t first = 0; first < order.size();) {
        std::size_t end = first + 1;
        while (end < order.size() && values[order[end]] == values[order[first]]) ++end;
        const double rank = static_cast<double>(first + 1 + end) / 2;  // mean of first + 1 ... end
        for (; first < end; ++first) ranks[order[first]] = rank;
    }
    return ranks;
}

Json CorrelationResult::to_json() const { return {{"r", number_to_json(r)}, {"p", number_to_json(p)}, {"n", n}}; }

}  // namespace faceter
