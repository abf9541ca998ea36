#include "compare/significance.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "common/error.h"
#include "common/strings.h"
#include "compare/compare_tests.h"
#include "figure/format.h"
#include "stats/bootstrap.h"
#include "stats/effect_size.h"
#include "stats/hodges_lehmann.h"
#include "stats/multiple_testing.h"
#include "stats/paired.h"
#include "stats/welch.h"

namespace faceter {
namespace {

constexpr std::array<CompareTestInfo, 8> tests{{
    {CompareTest::paired_sets, "paired-sets", "Paired t over data sets", "Speaks for other data sets like these.",
     "Differences between groups are roughly normal over data sets.", false},
    {CompareTest::paired_seeds, "paired-seeds", "Paired t over seeds", "Speaks for other seeds on these data sets.",
     "Runs of one seed belong together; their differences are roughly normal.", false},
    {CompareTest::bootstrap, "bootstrap", "Paired bootstrap over examples", "Speaks for other examples of these data sets.",
     "Examples are independent draws; scores are means over seeds, so that the spread over seeds takes no part.", true},
    {CompareTest::randomisation, "randomisation", "Randomisation over examples",
     "Asks whether the two groups' scores could be exchanged example by example.",
     "Under no difference either group could have had either score; the spread over seeds takes no part.", true},
    {CompareTest::welch_seeds, "welch-seeds", "Welch's t over seeds", "Speaks for other seeds on these data sets; seeds are not paired.",
     "Scores are roughly normal over seeds; spreads may differ.", false},
    {CompareTest::wilcoxon_sets, "wilcoxon-sets", "Wilcoxon's signed ranks over data sets", "Speaks for other data sets like these.",
     "Differences between groups are symmetric around their median over data sets; they need not be normal.", false},
    {CompareTest::wilcoxon_seeds, "wilcoxon-seeds", "Wilcoxon's signed ranks over seeds", "Speaks for other seeds on these data sets.",
     "Runs of one seed belong together; their differences are symmetric around their median.", false},
    {CompareTest::welch_sets, "welch-sets", "Welch's t over data sets, unpaired as MoTE publishes it",
     "Speaks for other data sets, as if each group had been scored on its own.",
     "Scores are independent and roughly normal over data sets; here both groups are scored on the same ones, so that the paired tests are "
     "the right ones.",
     false},
}};

TestOutcome without(std::string reason) {
    TestOutcome outcome;
    outcome.reason = std::move(reason);
    return outcome;
}

TestOutcome from_paired(std::span<const double> a, std::span<const double> b, std::string_view observations) {
    if (a.size() < 2) return without(fmt::format("{} in common: {}; a paired test needs two at least", observations, a.size()));
    const PairedTResult result = paired_t_of_scores(a, b);
    TestOutcome outcome{result.p, not_a_number, result.mean_difference, result.interval, result.n, {}};
    outcome.effect = paired_effect_size(a, b);
    outcome.effect_name = "d_z";
    if (std::isnan(result.p)) outcome.reason = result.note;
    return outcome;
}

/// Exact for few pairs, ties and zeros as they are; the difference is the Hodges-Lehmann estimate, which the ranks speak of.
TestOutcome from_wilcoxon(CompareTest test, std::span<const double> a, std::span<const double> b) {
    if (a.size() < 2) return without(fmt::format("{} in common: {}; a paired test needs two at least", observations_of(test), a.size()));
    const std::vector<double> differences = paired_differences(a, b);
    const WilcoxonResult result = wilcoxon(differences);
    const HodgesLehmann shift = hodges_lehmann(differences);
    TestOutcome outcome{result.p, not_a_number, shift.estimate, shift.interval, result.n, {}};
    outcome.effect = rank_biserial(differences);
    outcome.effect_name = "r";
    outcome.method = result.exact ? "exact" : "normal approximation";
    if (std::isnan(result.p)) outcome.reason = result.note;
    const std::size_t equal = result.n - result.n_nonzero;  // have no rank
    outcome.warning = outcome.has_p() ? small_sample_warning(test, result.n_nonzero, result.exact) : "";
    if (equal > 0 && !outcome.warning.empty()) outcome.warning += fmt::format(" ({} have no difference)", equal);
    return outcome;
}

TestOutcome from_welch(std::span<const double> a, std::span<const double> b, std::string_view observations) {
    const std::size_t n = std::min(a.size(), b.size());
    if (n < 2) return without(fmt::format("{} and {} {}; Welch's test needs two of each", a.size(), b.size(), observations));
    const WelchResult result = welch(a, b);
    TestOutcome outcome{result.p, not_a_number, mean_difference(a, b), welch_interval(a, b), n, {}};
    outcome.effect = hedges_g(a, b);
    outcome.effect_name = "g";
    if (std::isnan(result.p)) outcome.reason = result.note;
    if (result.std_a < no_spread && result.std_b < no_spread && !std::isnan(result.p)) {
        outcome.p = not_a_number;
        outcome.reason = "neither group varies, which does not say how others would";
    }
    return outcome;
}

/// Scores on `set` of the runs of both groups that have a seed in common.
struct SeedPairs {
    std::vector<double> a, b;
};

/// The start model is scored once, whatever the seed.
bool has_no_seed(const RunGroup& group) { return group.method == "start" && group.runs.size() == 1; }

/// Whether two runs stand beside one another: a start model's one beside each of the other side's, as in a study.
bool are_paired(const RunGroup& group, std::size_t run, const RunGroup& base, std::size_t other) {
    return group.runs[run].info.seed == base.runs[other].info.seed || has_no_seed(group) != has_no_seed(base);
}

SeedPairs pair_seeds(const RunGroup& group, const RunGroup& base, const std::string& set) {
    SeedPairs pairs;
    const auto found = group.scores.find(set), other = base.scores.find(set);
    if (found == group.scores.end() || other == base.scores.end()) return pairs;
    const auto& mine = group.scored_runs.at(set);
    const auto& theirs = base.scored_runs.at(set);
    for (std::size_t i = 0; i < mine.size(); ++i)
        for (std::size_t j = 0; j < theirs.size(); ++j)
            if (are_paired(group, mine[i], base, theirs[j])) pairs.a.push_back(found->second[i]), pairs.b.push_back(other->second[j]);
    return pairs;
}

SeedPairs pair_means(const Comparison& comparison, const RunGroup& group, const RunGroup& base) {
    const std::vector<double> mine = means_over_sets(comparison, group), theirs = means_over_sets(comparison, base);
    SeedPairs pairs;
    for (std::size_t i = 0; i < mine.size(); ++i)
        for (std::size_t j = 0; j < theirs.size(); ++j)
            if (are_paired(group, i, base, j)) pairs.a.push_back(mine[i]), pairs.b.push_back(theirs[j]);
    return pairs;
}

const ExampleScores::Of& examples_of(const ExampleScores& examples, std::size_t group, const std::string& set) {
    static const ExampleScores::Of none{{}, "scores of single examples were not read"};
    if (group >= examples.groups.size()) return none;
    const auto found = examples.groups[group].find(set);
    return found == examples.groups[group].end() ? none : found->second;
}

/// Differences on one data set, or why there are none.
struct Differences {
    std::vector<double> values;
    std::string reason;
};
Differences example_differences(const ExampleScores& examples, std::size_t group, std::size_t base, const std::string& set) {
    const ExampleScores::Of& a = examples_of(examples, group, set);
    const ExampleScores::Of& b = examples_of(examples, base, set);
    for (const ExampleScores::Of* side : {&a, &b})
        if (side->values.empty()) return {{}, side->reason + "; choose another test"};
    if (a.values.size() != b.values.size())
        return {{}, fmt::format("the groups were scored on {} and {} examples, which cannot be paired", a.values.size(), b.values.size())};
    if (a.is_of_other_data(b)) return {{}, "the groups were scored on different data of this name, whose examples cannot be paired"};
    if (a.values.size() < 2) return {{}, "a test over examples needs two at least"};
    return {paired_differences(a.values, b.values), {}};
}

/// A randomisation test has no interval of its own: the bootstrap's stands in where `with_interval`.
TestOutcome from_examples(CompareTest test, const std::vector<std::vector<double>>& strata, const ResamplingOptions& options,
                          bool with_interval) {
    const bool draw = with_interval || test == CompareTest::bootstrap;
    const PairedBootstrapResult drawn = stratified_bootstrap(strata, {draw ? options.bootstrap : 0, 0.95, options.seed, options.stop});
    TestOutcome outcome{drawn.p, not_a_number, drawn.estimate, drawn.interval, drawn.n, {}};
    if (test == CompareTest::randomisation && !options.stop.stop_requested()) {
        // Flipping signs within data sets: each difference weighs what it adds to the mean over data sets.
        std::vector<double> weighted;
        for (const auto& stratum : strata)
            for (const double d : stratum) weighted.push_back(d / static_cast<double>(stratum.size()));
        const std::vector<double> zeros(weighted.size());
        const RandomisationResult flipped =
            paired_randomisation(weighted, zeros, Alternative::two_sided, options.randomisation, options.seed);
        outcome.p = flipped.p;
        outcome.method = flipped.exact ? "exact" : fmt::format("{} random sign patterns", flipped.resamples);
    }
    if (options.stop.stop_requested()) return without("stopped");
    if (std::isnan(outcome.p)) outcome.reason = "a score is not a number";
    return outcome;
}

std::vector<double> set_means(const Comparison& comparison, const RunGroup& group) {
    std::vector<double> means;
    for (const ComparedSet& set : common_sets(comparison)) means.push_back(mean(group.scores.at(set.name)));
    return means;
}

TestOutcome examples_on_mean(CompareTest test, const Comparison& comparison, const ExampleScores& examples, std::size_t group,
                             const ResamplingOptions& options) {
    std::vector<std::vector<double>> strata;
    for (const ComparedSet& set : common_sets(comparison)) {
        Differences differences = example_differences(examples, group, *comparison.baseline, set.name);
        if (!differences.reason.empty()) return without(fmt::format("{}: {}", set.name, differences.reason));
        strata.push_back(std::move(differences.values));
    }
    if (strata.empty()) return without("there is no data set that all groups have");
    return from_examples(test, strata, options, true);
}

TestOutcome one_set(CompareTest test, const Comparison& comparison, const ExampleScores& examples, std::size_t group,
                    const std::string& set, const ResamplingOptions& options) {
    if (!comparison.baseline || group == *comparison.baseline) return without("this is the baseline");
    const RunGroup& mine = comparison.groups.at(group);
    const RunGroup& base = comparison.groups[*comparison.baseline];
    if (!mine.scores.count(set) || !base.scores.count(set)) return without("not scored in both groups");
    switch (test) {
        case CompareTest::paired_sets:
            return without("a test over data sets speaks of their mean only");
        case CompareTest::paired_seeds: {
            const SeedPairs pairs = pair_seeds(mine, base, set);
            return from_paired(pairs.a, pairs.b, "seeds");
        }
        case CompareTest::welch_seeds:
            return from_welch(mine.scores.at(set), base.scores.at(set), "seeds");
        case CompareTest::wilcoxon_seeds: {
            const SeedPairs pairs = pair_seeds(mine, base, set);
            return from_wilcoxon(test, pairs.a, pairs.b);
        }
        case CompareTest::wilcoxon_sets:
        case CompareTest::welch_sets:
            return without("a test over data sets speaks of their mean only");
        default:
            break;
    }
    Differences differences = example_differences(examples, group, *comparison.baseline, set);
    if (!differences.reason.empty()) return without(differences.reason);
    return from_examples(test, {std::move(differences.values)}, options, false);
}

TestOutcome mean_over_sets(CompareTest test, const Comparison& comparison, const ExampleScores& examples, std::size_t group,
                           const ResamplingOptions& options) {
    if (!comparison.baseline || group == *comparison.baseline) return without("this is the baseline");
    const RunGroup& mine = comparison.groups.at(group);
    const RunGroup& base = comparison.groups[*comparison.baseline];
    switch (test) {
        case CompareTest::paired_sets:
            return from_paired(set_means(comparison, mine), set_means(comparison, base), "data sets");
        case CompareTest::paired_seeds: {
            const SeedPairs pairs = pair_means(comparison, mine, base);
            return from_paired(pairs.a, pairs.b, "seeds");
        }
        case CompareTest::welch_seeds:
            return from_welch(means_over_sets(comparison, mine), means_over_sets(comparison, base), "seeds");
        case CompareTest::welch_sets:
            return from_welch(set_means(comparison, mine), set_means(comparison, base), "data sets");
        case CompareTest::wilcoxon_sets:
            return from_wilcoxon(test, set_means(comparison, mine), set_means(comparison, base));
        case CompareTest::wilcoxon_seeds: {
            const SeedPairs pairs = pair_means(comparison, mine, base);
            return from_wilcoxon(test, pairs.a, pairs.b);
        }
        default:
            return examples_on_mean(test, comparison, examples, group, options);
    }
}

/// With the warning where n is too small.
TestOutcome warned(CompareTest test, TestOutcome outcome) {
    if (outcome.has_p() && outcome.warning.empty()) outcome.warning = small_sample_warning(test, outcome.n, outcome.method == "exact");
    return outcome;
}

std::string interval_text(const Interval& interval) {
    return std::isnan(interval.low) ? std::string() : fmt::format(" [{:.2f}, {:.2f}]", interval.low, interval.high);
}

}  // namespace

std::span<const CompareTestInfo> compare_tests() { return tests; }

const CompareTestInfo& compare_test_info(CompareTest test) {
    return *std::find_if(tests.begin(), tests.end(), [&](const CompareTestInfo& info) { return info.test == test; });
}

CompareTest parse_compare_test(std::string_view name) {
    std::vector<std::string> known;
    for (const CompareTestInfo& info : tests) {
        if (info.name == name) return info.test;
        known.emplace_back(info.name);
    }
    throw usage_error("unknown test {}{}", faceter::quoted(name), suggestion(name, known));
}

int TestOutcome::stars() const { return has_p() ? significance_stars(p_adjusted) : 0; }

TestOutcome test_on_set(CompareTest test, const Comparison& comparison, const ExampleScores& examples, std::size_t group,
                        const std::string& set, const ResamplingOptions& options) {
    return warned(test, one_set(test, comparison, examples, group, set, options));
}

TestOutcome test_on_mean(CompareTest test, const Comparison& comparison, const ExampleScores& examples, std::size_t group,
                         const ResamplingOptions& options) {
    return warned(test, mean_over_sets(test, comparison, examples, group, options));
}

std::string_view correction_name(Correction correction) { return correction == Correction::holm ? "Holm" : "Benjamini-Hochberg"; }

Correction parse_correction(std::string_view name) {
    if (name == "holm") return Correction::holm;
    if (name == "bh") return Correction::benjamini_hochberg;
    throw usage_error("unknown correction {}; it is holm or bh (Benjamini-Hochberg)", faceter::quoted(name));
}

void adjust(std::span<TestOutcome*> family, Correction correction) {
    std::vector<double> p;
    for (const TestOutcome* outcome : family) p.push_back(outcome->has_p() ? outcome->p : not_a_number);
    const std::vector<double> adjusted = correction == Correction::holm ? holm(p) : benjamini_hochberg(p);
    for (std::size_t i = 0; i < family.size(); ++i) family[i]->p_adjusted = adjusted[i];
}

std::string_view observations_of(CompareTest test) {
    switch (test) {
        case CompareTest::paired_sets:
        case CompareTest::wilcoxon_sets:
        case CompareTest::welch_sets:
            return "data sets";
        case CompareTest::bootstrap:
        case CompareTest::randomisation:
            return "examples";
        default:
            return "seeds";
    }
}

std::string small_sample_warning(CompareTest test, std::size_t n, bool exact) {
    constexpr std::size_t few_for_t = 6, few_for_welch = 5, few_for_bootstrap = 30;
    const double smallest_p = n < 60 ? std::exp2(1 - static_cast<double>(n)) : 0;
    switch (test) {
        case CompareTest::wilcoxon_sets:
        case CompareTest::wilcoxon_seeds:
        case CompareTest::randomisation:
            if (exact && smallest_p >= 0.05)
                return fmt::format("with {} {} the smallest p of this test is {:.3g}, so that it can give no star", n,
                                   observations_of(test), smallest_p);
            return {};
        case CompareTest::bootstrap:
            return n < few_for_bootstrap ? fmt::format("{} examples are few: a percentile interval is then too narrow", n) : std::string();
        case CompareTest::welch_seeds:
        case CompareTest::welch_sets:
            return n < few_for_welch ? fmt::format("{} {} are few: the test then leans on normal scores", n, observations_of(test))
                                     : std::string();
        default:
            return n < few_for_t ? fmt::format("{} {} are few: the test then leans on normal differences", n, observations_of(test))
                                 : std::string();
    }
}

std::string describe_outcome(CompareTest test, const TestOutcome& outcome) {
    if (!outcome.has_p()) return "no test: " + outcome.reason;
    std::string text =
        fmt::format("difference {}{}, p = {:.3g}", format_delta(outcome.difference, 2), interval_text(outcome.interval), outcome.p);
    if (!std::isnan(outcome.p_adjusted)) text += fmt::format(", adjusted {:.3g}", outcome.p_adjusted);
    if (!outcome.effect_name.empty()) text += fmt::format(", {} = {:.2f}", outcome.effect_name, outcome.effect);
    text += fmt::format(", n = {} {}", outcome.n, observations_of(test));
    if (!outcome.method.empty()) text += fmt::format(" ({})", outcome.method);
    return outcome.warning.empty() ? text : text + "; " + outcome.warning;
}

}  // namespace faceter
