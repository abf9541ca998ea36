#include "stats/effect_size.h"

#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <vector>

#include "stats/correlation.h"
#include "stats/descriptive.h"
#include "stats/number.h"
#include "stats/paired.h"

namespace faceter {

double cohens_d(std::span<const double> a, std::span<const double> b) {
    const auto na = static_cast<double>(a.size()), nb = static_cast<double>(b.size());
    const double pooled = ((na - 1) * variance(a) + (nb - 1) * variance(b)) / (na + nb - 2);
    return mean_difference(a, b) / std::sqrt(pooled);
}

double hedges_g(std::span<const double> a, std::span<const double> b) {
    const double d = cohens_d(a, b);
    if (std::isnan(d)) return d;
    const double m = static_cast<double>(a.size() + b.size()) - 2;
    return d / std::sqrt(m / 2) / boost::math::tgamma_ratio((m - 1) / 2, m / 2);
}

double paired_effect_size(std::span<const double> a, std::span<const double> b) {
    const PairedTResult test = paired_t(a, b);  // its differences are equal where only rounding sets them apart
    return test.mean_difference / test.std_difference;
}

double rank_biserial(std::span<const double> differences) {
    std::vector<double> sizes;
    for (const double d : differences)
        if (d != 0) sizes.push_back(std::abs(d));
    if (sizes.empty()) return not_a_number;
    const auto ranks = average_ranks(sizes);
    double balance = 0, total = 0;
    std::size_t at = 0;
    for (const double d : differences) {
        if (d == 0) continue;
        balance += d > 0 ? ranks[at] : -ranks[at];
        total += ranks[at++];
    }
    return balance / total;
}

}  // namespace faceter
