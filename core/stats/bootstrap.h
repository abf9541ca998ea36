#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <vector>

#include "common/json.h"
#include "stats/alternative.h"
#include "stats/descriptive.h"

namespace faceter {

// Resampling over examples (queries, texts): seeded by a random stream of its own ("stats.bootstrap", "stats.randomisation"), so that the
// same seed gives the same interval on every machine and thread count. NaN among the values makes the results NaN.

struct BootstrapOptions {
    std::size_t resamples = 10000;
    double confidence = 0.95;
    std::uint64_t seed = 1;
    std::stop_token stop{};  ///< asked before every resample; a stopped bootstrap's results are NaN
};

/// A percentile interval of the mean over examples (Efron and Tibshirani 1993, chapter 13).
struct BootstrapResult {
    double estimate = 0;   ///< of the sample itself
    double std_error = 0;  ///< standard deviation of the resampled estimates
    Interval interval;
    std::size_t n = 0, resamples = 0;
    double confidence = 0.95;
    Json to_json() const;
};
BootstrapResult bootstrap_mean(std::span<const double> values, const BootstrapOptions& options = {});

/// The same for the mean difference a - b of pairs, with the two-sided bootstrap p of H0 "no difference": twice the smaller share of
/// resampled differences on either side of zero, counting (k + 1) / (resamples + 1), so that it is never 0.
struct PairedBootstrapResult : BootstrapResult {
    double p = 0;
    Json to_json() const;
};
PairedBootstrapResult paired_bootstrap(std::span<const double> a, std::span<const double> b, const BootstrapOptions& options = {});

/// Pairs that share texts are not independent (many pairs would make every p 0): whole groups are drawn instead. `groups[i]` names the text
/// of example i.
PairedBootstrapResult paired_bootstrap_by_group(std::span<const double> a, std::span<const double> b, std::span<const std::uint32_t> groups,
                                                const BootstrapOptions& options = {});

/// Mean over strata (data sets) of the mean difference within each: examples are drawn within their stratum, and every stratum counts once,
/// as in a mean over data sets. One stratum is the paired bootstrap. `n` counts all examples. An empty stratum makes the results NaN.
PairedBootstrapResult stratified_bootstrap(std::span<const std::vector<double>> differences, const BootstrapOptions& options = {});

/// The bootstrap of any statistic: `statistic` gets the drawn indices of one resample (n of them).
BootstrapResult bootstrap_statistic(std::size_t n, const std::function<double(std::span<const std::uint32_t>)>& statistic,
                                    const BootstrapOptions& options = {});
/// The percentile interval of given resampled estimates.
Interval percentile_interval(std::span<const double> estimates, double confidence);

/// Paired randomisation test (Fisher; Smucker, Allan and Carterette, CIKM 2007): signs of the differences a - b are flipped at random.
/// All 2^n patterns where n <= 20, else `resamples` random ones with p = (k + 1) / (resamples + 1).
struct RandomisationResult {
    double mean_difference = 0, p = 0;
    std::size_t n = 0, resamples = 0;
    bool exact = false;
    Alternative alternative = Alternative::two_sided;
    Json to_json() const;
};
RandomisationResult paired_randomisation(std::span<const double> a, std::span<const double> b,
                                         Alternative alternative = Alternative::two_sided, std::size_t resamples = 100000,
                                         std::uint64_t seed = 1);

}  // namespace faceter
