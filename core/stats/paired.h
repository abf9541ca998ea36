#pragma once
#include <span>
#include <string>
#include <vector>

#include "common/json.h"
#include "stats/alternative.h"
#include "stats/descriptive.h"

namespace faceter {

/// Student's t-test of paired observations: a one-sample test of the differences a - b.
struct PairedTResult {
    double t = 0, df = 0, p = 0;
    double mean_difference = 0, std_difference = 0;
    Interval interval;  ///< 95% confidence interval of the mean difference (two-sided)
    std::size_t n = 0;
    Alternative alternative = Alternative::two_sided;
    std::string note;  ///< why a value is NaN or infinite; empty where all is well
    Json to_json() const;
};

/// `less`: the alternative is mean(a - b) < 0. Fewer than two pairs, or a NaN: t and p are NaN. All differences equal: t = +-inf and
/// p = 0 or 1, NaN when they are all zero (SciPy's ttest_rel). Samples of different sizes are a usage error.
PairedTResult paired_t(std::span<const double> a, std::span<const double> b, Alternative alternative = Alternative::two_sided);

enum class WilcoxonMethod {
    automatic,   ///< exact for at most 50 differences other than zero, else approximate
    exact,       ///< distribution of W+ over all sign patterns, ties and zeros as they are (SciPy's exact method takes no ties)
    approximate  ///< normal, with the variance corrected for ties
};
/// What to do with differences of zero: drop them; rank them and drop their ranks (Pratt 1959); rank them and give half to each side.
enum class ZeroMethod { wilcox, pratt, zsplit };

struct WilcoxonOptions {
    Alternative alternative = Alternative::two_sided;
    WilcoxonMethod method = WilcoxonMethod::automatic;
    ZeroMethod zeros = ZeroMethod::wilcox;
    bool continuity_correction = false;
};

struct WilcoxonResult {
    double statistic = 0;  ///< min(W+, W-) for two-sided, else W+
    double z = 0;          ///< NaN for the exact method
    double p = 0;
    std::size_t n = 0;  ///< differences given
    std::size_t n_nonzero = 0;
    bool exact = false;
    Alternative alternative = Alternative::two_sided;
    std::string note;
    Json to_json() const;
};

/// Wilcoxon's signed-rank test of `differences` (a - b of pairs), scipy.stats.wilcoxon. A NaN, or no difference left: p is NaN.
/// Exact with more than 1,000 differences is a usage error (the approximation is right there).
WilcoxonResult wilcoxon(std::span<const double> differences, const WilcoxonOptions& options = {});
/// a - b, element by element: sizes that only rounding sets apart are equal, and those of rounding alone zero, so that ranks are of what
/// was measured. A usage error where the samples' sizes differ.
std::vector<double> paired_differences(std::span<const double> a, std::span<const double> b);

}  // namespace faceter
