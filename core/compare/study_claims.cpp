#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/strings.h"
#include "compare/compare_tests.h"
#include "compare/study_report.h"
#include "stats/multiple_testing.h"
#include "stats/number.h"
#include "stats/power.h"
#include "stats/two_way_bootstrap.h"
#include "stats/two_way_interval.h"

namespace faceter {
namespace {

using Matrix = std::vector<std::vector<double>>;  // by seed, by set

/// Fewer seeds or sets than that are not resampled: they cover too little of what others would have been.
constexpr std::size_t fewest_to_resample = 10;
constexpr std::int64_t most_seeds = 1'000'000;
constexpr double certain_effect = 1e6;  // in deviations: nobody misses it

Matrix advantage(const StudyClaim& claim, const Matrix& better, const Matrix& than) {
    Matrix all = better;
    for (std::size_t s = 0; s < all.size(); ++s)
        for (std::size_t d = 0; d < all[s].size(); ++d) all[s][d] = (claim.higher ? 1 : -1) * (better[s][d] - than[s][d]);
    return all;
}

std::vector<double> column(const Matrix& rows, std::size_t set) {
    std::vector<double> values;
    for (const auto& row : rows) values.push_back(row[set]);
    return values;
}

/// Differences that are all equal do not say how those of other seeds would vary: there is no test, as in a comparison.
bool vary(const std::vector<double>& differences) { return standard_deviation(differences) >= no_spread; }

PairedTResult one_sided(const std::vector<double>& differences, Alternative alternative) {
    PairedTResult result = paired_t(differences, std::vector<double>(differences.size(), 0.0), alternative);
    if (!vary(differences)) result.p = not_a_number;
    return result;
}

std::vector<SetEffect> effects_of(const Matrix& rows, const std::vector<std::string>& sets) {
    std::vector<SetEffect> effects;
    std::vector<double> p, against;
    for (std::size_t d = 0; d < sets.size(); ++d) {
        const auto values = column(rows, d);
        effects.push_back({sets[d], mean(values), 1, 1, mean_interval(values)});
        p.push_back(one_sided(values, Alternative::greater).p);
        against.push_back(one_sided(values, Alternative::less).p);
    }
    const auto adjusted = holm(p), adjusted_against = holm(against);
    for (std::size_t d = 0; d < sets.size(); ++d) effects[d].p = adjusted[d], effects[d].p_against = adjusted_against[d];
    return effects;
}

/// Sets where the difference is more than chance and may be one that matters.
std::vector<std::string> in_favour_of(const ClaimOutcome& outcome, double alpha) {
    std::vector<std::string> names;
    for (const SetEffect& set : outcome.sets)
        if (set.p < alpha && set.interval.high >= outcome.claim.smallest_difference) names.push_back(set.set);
    return names;
}

/// The opposite. A set where all seeds have the same one counts too: no p can be computed, and to pass over it would hold for the claim.
std::vector<std::string> against(const ClaimOutcome& outcome, double alpha) {
    std::vector<std::string> names;
    for (const SetEffect& set : outcome.sets)
        if ((std::isnan(set.p_against) || set.p_against < alpha) && set.interval.low <= -outcome.claim.smallest_difference)
            names.push_back(set.set);
    return names;
}

/// The alpha that is left to each of the claims, whichever of them Holm takes first.
double alpha_of_one(const Study& study) { return study.alpha / static_cast<double>(std::max<std::size_t>(1, study.claims.size())); }

/// The deviation that a difference varies with over seeds says what a test of these seeds can find.
void plan_power(const Study& study, ClaimOutcome& outcome) {
    const double deviation = outcome.test.std_difference;
    outcome.power = not_a_number;
    if (std::isnan(outcome.test.p) || outcome.seeds.size() < 2) return;
    const PowerPlan plan{PowerDesign::paired_t, std::min(outcome.claim.smallest_difference / deviation, certain_effect),
                         alpha_of_one(study), Alternative::greater};
    outcome.power = power_of(plan, static_cast<std::int64_t>(outcome.seeds.size()));
    if (power_of(plan, most_seeds) >= study.power) outcome.seeds_needed = std::max<std::int64_t>(2, sample_size_for(plan, study.power));
}

std::string seeds_to_find(const Study& study, const ClaimOutcome& outcome) {
    if (std::isnan(outcome.test.p)) return "the seeds do not differ, so nothing can be said of others";
    const std::string needed = outcome.seeds_needed > 0 ? std::to_string(outcome.seeds_needed) : "more than a million";
    return fmt::format("to find {:.3g} with power {:.2g} takes {} seeds, here are {}", outcome.claim.smallest_difference, study.power,
                       needed, outcome.seeds.size());
}

void conclude(ClaimOutcome& outcome, Verdict verdict, std::string sentence) {
    outcome.verdict = verdict;
    outcome.sentence = std::move(sentence);
}

void decide(const Study& study, ClaimOutcome& outcome) {
    const auto helped = in_favour_of(outcome, alpha_of_one(study)), harmed = against(outcome, study.alpha);
    const std::string found = fmt::format("{:+.3g} [{:+.3g}, {:+.3g}]{}", outcome.effect.estimate, outcome.effect.interval.low,
                                          outcome.effect.interval.high, outcome.interval_by_t ? " (t interval)" : "");
    const double smallest = outcome.claim.smallest_difference;
    const bool higher = outcome.adjusted.holds < study.alpha, equivalent = outcome.adjusted.equivalent < study.alpha;
    if (study.is_pilot())
        conclude(outcome, Verdict::undecided,
                 fmt::format("A pilot decides nothing: {}; deviation over seeds {:.3g}; {}.", found, outcome.test.std_difference,
                             seeds_to_find(study, outcome)));
    else if (higher && equivalent)
        conclude(outcome, Verdict::does_not_hold,
                 fmt::format(
                     "It does not hold here: {} is more than chance on these data sets, but less there than the {:.3g} that would matter.",
                     found, smallest));
    else if (higher && harmed.empty())
        conclude(outcome, Verdict::holds, fmt::format("It holds: {}, p = {:.3g}.", found, outcome.adjusted.holds));
    else if (higher || !helped.empty())
        conclude(
            outcome, Verdict::holds_in_part,
            fmt::format("It holds in part: {} over all; on its own on {}{}.", found, helped.empty() ? "no data set" : join(helped, ", "),
                        harmed.empty() ? "" : "; the opposite on " + join(harmed, ", ")));
    else if (outcome.adjusted.opposite < study.alpha)
        conclude(outcome, Verdict::does_not_hold,
                 fmt::format("It does not hold here: on these data sets the opposite was found (p = {:.3g} over seeds), {}{}.",
                             outcome.adjusted.opposite, found,
                             equivalent ? fmt::format(", if less than the {:.3g} that would matter", smallest) : ""));
    else if (equivalent)
        conclude(outcome, Verdict::does_not_hold,
                 fmt::format(
                     "It does not hold here: {}, on these data sets within {:.3g} either way (two one-sided tests over seeds, p = {:.3g}).",
                     found, smallest, outcome.adjusted.equivalent));
    else
        conclude(outcome, Verdict::undecided,
                 fmt::format("Undecided: {}{}; {}.", found,
                             std::isnan(outcome.test.p) ? "" : fmt::format(", p = {:.3g}", outcome.adjusted.holds),
                             seeds_to_find(study, outcome)));
}

/// A verdict before the planned seeds are in may yet change: whoever stops when it pleases finds too much.
void say_what_lacks(const Study& study, ClaimOutcome& outcome) {
    if (!study.is_pilot() && outcome.seeds.size() < study.seeds.size())
        outcome.sentence += fmt::format(" {} of the {} planned seeds: not final.", outcome.seeds.size(), study.seeds.size());
}

template <typename Of>
void adjust(std::vector<ClaimOutcome>& claims, double ClaimFamilyP::*adjusted, Of of) {
    std::vector<double> p;
    for (const ClaimOutcome& claim : claims) p.push_back(std::isnan(of(claim)) ? 1 : of(claim));  // holm() would leave a NaN out
    const auto all = holm(p);
    for (std::size_t i = 0; i < claims.size(); ++i) claims[i].adjusted.*adjusted = all[i];
}

}  // namespace

std::string_view verdict_name(Verdict verdict) {
    switch (verdict) {
        case Verdict::holds:
            return "holds";
        case Verdict::holds_in_part:
            return "holds in part";
        case Verdict::does_not_hold:
            return "does not hold here";
        case Verdict::undecided:
            break;
    }
    return "undecided";
}

ClaimOutcome measure_claim(const StudyClaim& claim, std::vector<std::uint64_t> seeds, std::vector<std::string> sets, const Matrix& better,
                           const Matrix& than, const Study& study) {
    ClaimOutcome outcome;
    outcome.claim = claim;
    outcome.seeds = std::move(seeds);
    if (outcome.seeds.size() < 2 || sets.empty()) {
        outcome.sentence =
            fmt::format("Undecided: both sides have {} seeds and {} data sets in common; it takes two seeds and a data set at least.",
                        outcome.seeds.size(), sets.size());
        outcome.effect.estimate = outcome.test.p = outcome.p_opposite = outcome.equivalence.p = outcome.power = not_a_number;
        outcome.effect.interval = {not_a_number, not_a_number};
        return outcome;
    }
    const Matrix rows = advantage(claim, better, than);
    std::vector<double> means;
    for (const auto& row : rows) means.push_back(mean(row));
    const std::vector<double> zero(means.size(), 0.0);
    outcome.sets = effects_of(rows, sets);
    outcome.effect = two_way_bootstrap(rows);
    outcome.interval_by_t = std::min(outcome.seeds.size(), sets.size()) < fewest_to_resample;
    if (outcome.interval_by_t) outcome.effect.interval = two_way_t_interval(rows);
    outcome.test = one_sided(means, Alternative::greater);
    outcome.p_opposite = one_sided(means, Alternative::less).p;
    outcome.equivalence = paired_equivalence(means, zero, claim.smallest_difference);
    if (!vary(means)) outcome.equivalence.p = not_a_number;
    plan_power(study, outcome);
    return outcome;
}

void judge_claims(const Study& study, std::vector<ClaimOutcome>& claims) {
    adjust(claims, &ClaimFamilyP::holds, [](const ClaimOutcome& claim) { return claim.test.p; });
    adjust(claims, &ClaimFamilyP::opposite, [](const ClaimOutcome& claim) { return claim.p_opposite; });
    adjust(claims, &ClaimFamilyP::equivalent, [](const ClaimOutcome& claim) { return claim.equivalence.p; });
    for (ClaimOutcome& claim : claims)
        if (!claim.sets.empty()) {
            decide(study, claim);
            say_what_lacks(study, claim);
        }
}

Json ClaimOutcome::to_json() const {
    Json by_set = Json::array();
    for (const SetEffect& set : sets)
        by_set.push_back({{"set", set.set},
                          {"effect", number_to_json(set.effect)},
                          {"interval", set.interval.to_json()},
                          {"p", number_to_json(set.p)},
                          {"p_against", number_to_json(set.p_against)}});
    return {
        {"claim", claim.claim},
        {"better", claim.better},
        {"than", claim.than},
        {"verdict", verdict_name(verdict)},
        {"sentence", sentence},
        {"effect", number_to_json(effect.estimate)},
        {"interval", effect.interval.to_json()},
        {"interval_by", interval_by_t ? "t" : "bootstrap"},
        {"p", number_to_json(test.p)},
        {"p_holm", number_to_json(adjusted.holds)},
        {"p_opposite_holm", number_to_json(adjusted.opposite)},
        {"deviation", number_to_json(test.std_difference)},
        {"n", seeds.size()},
        {"seeds", seeds},
        {"power", number_to_json(power)},
        {"seeds_needed", seeds_needed},
        {"smallest_difference", claim.smallest_difference},
        {"equivalence",
         {{"p", number_to_json(equivalence.p)}, {"p_holm", number_to_json(adjusted.equivalent)}, {"margin", claim.smallest_difference}}},
        {"sets", by_set}};
}

}  // namespace faceter
