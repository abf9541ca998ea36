#pragma once
#include <span>
#include <string>

#include "common/json.h"
#include "stats/descriptive.h"

namespace faceter {

/// Two one-sided tests (Schuirmann 1987): whether the means differ by less than a margin in either direction. What a test of difference
/// cannot show, since not to find one is no evidence that there is none.
struct EquivalenceResult {
    double difference = 0;            ///< mean(a) - mean(b)
    double df = 0;                    ///< n - 1 of pairs, Welch-Satterthwaite's of two groups
    double p_lower = 0, p_upper = 0;  ///< against a difference of at most -margin, and of at least +margin
    double p = 0;                     ///< the larger of the two: small says that the means are equivalent
    double margin = 0;
    Interval interval;  ///< 90 % of the difference: within the margins just where p < 0.05
    std::size_t n_a = 0, n_b = 0;
    std::string note;  ///< why a value is NaN; empty where all is well
    Json to_json() const;
};

/// Groups of unequal variances. A usage error where `margin` is not above zero; fewer than two values, or a NaN: p is NaN.
EquivalenceResult equivalence(std::span<const double> a, std::span<const double> b, double margin);
/// Pairs; a usage error where the sizes differ.
EquivalenceResult paired_equivalence(std::span<const double> a, std::span<const double> b, double margin);

}  // namespace faceter
