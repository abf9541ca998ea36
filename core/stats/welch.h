#pragma once
#include <span>
#include <string>

#include "common/json.h"
#include "stats/alternative.h"
#include "stats/descriptive.h"

namespace faceter {

/// Welch's unequal-variances t-test (Welch 1947; MoTE, section 5.2): t = (mean_a - mean_b) / sqrt(va/na + vb/nb),
/// degrees of freedom after Welch-Satterthwaite.
struct WelchResult {
    double t = 0, df = 0, p = 0;
    double mean_a = 0, mean_b = 0;
    double std_a = 0, std_b = 0;  ///< divisor n - 1
    std::size_t n_a = 0, n_b = 0;
    Alternative alternative = Alternative::two_sided;
    /// Why t, df or p is not an ordinary number; empty where all is well.
    std::string note;
    Json to_json() const;
};

/// `less`: the alternative is mean(a) < mean(b). Degenerate cases are SciPy's:
///  - a sample with fewer than two values, or a NaN among the values: t, df and p are NaN;
///  - both samples constant and their means equal: t and p are NaN; means different: t = +-inf, df = 1, p = 0 or 1.
/// The note says which.
WelchResult welch(std::span<const double> a, std::span<const double> b, Alternative alternative = Alternative::two_sided);

/// Two-sided confidence interval of mean(a) - mean(b) with Welch-Satterthwaite's degrees of freedom; NaN where the test has none.
Interval welch_interval(std::span<const double> a, std::span<const double> b, double confidence = 0.95);

}  // namespace faceter
