#pragma once
#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "compare/compare.h"
#include "stats/descriptive.h"
#include "stats/number.h"

namespace faceter {

/// What the stars of a comparison rest on. Which one is right depends on what one wants to speak for: other data sets, other seeds, other
/// examples.
enum class CompareTest { paired_sets, paired_seeds, bootstrap, randomisation, welch_seeds, wilcoxon_sets, wilcoxon_seeds, welch_sets };

struct CompareTestInfo {
    CompareTest test;
    std::string_view name;        ///< on the command line: "paired-sets"
    std::string_view title;       ///< "Paired t over data sets"
    std::string_view speaks_for;  ///< one sentence
    std::string_view assumption;  ///< one sentence
    bool needs_examples = false;
};
std::span<const CompareTestInfo> compare_tests();
const CompareTestInfo& compare_test_info(CompareTest test);
/// A usage error for any other word.
CompareTest parse_compare_test(std::string_view name);

/// Scores of single examples (percent), for each group and data set the mean over its seeds.
struct ExampleScores {
    struct Of {
        std::vector<double> values;  ///< empty: there are none, and `reason` says why
        std::string reason;
        std::string fingerprint{};  ///< of the data; empty: not recorded

        bool is_of_other_data(const Of& other) const {
            return !fingerprint.empty() && !other.fingerprint.empty() && fingerprint != other.fingerprint;
        }
    };
    std::vector<std::map<std::string, Of>> groups;
};
/// Reads what the runs stored. Data sets whose metric is no mean over examples (correlations, average precision) have none.
ExampleScores read_examples(Store& store, const Comparison& comparison);

/// One group against the baseline, on one data set or on the mean over data sets (points, two-sided).
struct TestOutcome {
    double p = not_a_number, p_adjusted = not_a_number;
    double difference = not_a_number;               ///< mean difference that the test saw
    Interval interval{not_a_number, not_a_number};  ///< of the difference, 95 %
    std::size_t n = 0;             ///< observations: data sets, seeds, examples (of the smaller sample where they are not paired)
    std::string reason;            ///< why there is no p; empty: there is one
    double effect = not_a_number;  ///< standardised size of the difference
    std::string effect_name{};     ///< which: "d_z" (paired), "g" (Hedges, two samples), "r" (matched-pairs rank-biserial); empty: none
    std::string method{};          ///< how p was computed where there are several ways: "exact", "normal approximation"
    std::string warning{};         ///< where n is too small for what the test assumes; empty: it is not
    bool has_p() const { return reason.empty(); }
    bool is_significant() const { return has_p() && p_adjusted < 0.05; }
    int stars() const;
};

struct ResamplingOptions {
    std::size_t bootstrap = 20000, randomisation = 20000;  ///< enough for three stars after Holm over a dozen data sets
    std::uint64_t seed = 1;
    std::stop_token stop{};  ///< asked between resamples; what is stopped has no p
};

/// On one data set. `paired_sets` has no outcome here: it speaks of the mean only.
TestOutcome test_on_set(CompareTest test, const Comparison& comparison, const ExampleScores& examples, std::size_t group,
                        const std::string& set, const ResamplingOptions& options = {});
/// On the mean over the data sets that every group has. Examples are drawn within each data set, and every data set counts once.
TestOutcome test_on_mean(CompareTest test, const Comparison& comparison, const ExampleScores& examples, std::size_t group,
                         const ResamplingOptions& options = {});
/// What keeps many tests from finding something by chance: Holm bounds the chance of one false claim, Benjamini and Hochberg the share of
/// false claims.
enum class Correction { holm, benjamini_hochberg };
std::string_view correction_name(Correction correction);  ///< "Holm", "Benjamini-Hochberg"
/// "holm" or "bh"; a usage error for any other word.
Correction parse_correction(std::string_view name);
/// Adjusts those that have a p.
void adjust(std::span<TestOutcome*> family, Correction correction);
inline void adjust_holm(std::span<TestOutcome*> family) { adjust(family, Correction::holm); }

/// "difference +1.14 [-0.39, 2.67], p = 0.0985, adjusted 0.0985, d_z = 1.18, n = 4 data sets", and the warning; or the reason why there is
/// no p.
std::string describe_outcome(CompareTest test, const TestOutcome& outcome);
/// What n counts in a test's outcome: data sets, seeds or examples.
std::string_view observations_of(CompareTest test);
/// Why n observations are too few for the test; empty where they are enough.
std::string small_sample_warning(CompareTest test, std::size_t n, bool exact = true);

}  // namespace faceter
