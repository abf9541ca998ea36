#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/strings.h"
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

double one_sided(const std::vector<double>& differences, Alternative alternative) {
    return paired_t(differences, std::vector<double>(differences.size(), 0.0), alternative).p;
}

std::vector<SetEffect> effects_of(const Matrix& rows, const std::vector<std::string>& sets) {
    std::vector<SetEffect> effects;
    std::vector<double> p, against;
    for (std::size_t d = 0; d < sets.size(); ++d) {
        const auto values = column(rows, d);
        effects.push_back({sets[d], mean(values), 1, 1, mean_interval(values)});
        p.push_back(one_sided(values, Alternative::greater));
        against.push_back(one_sided(values, Alternative::less));
    }
    const auto adjusted = holm(p), adjusted_against = holm(against);
    for (std::size_t d = 0; d < sets.size(); ++d) effects[d].p = adjusted[d], effects[d].p_against = adjusted_against[d];
    return effects;
}

std::vector<std::string> where(const std::vector<SetEffect>& sets, double SetEffect::*p, double alpha) {
    std::vector<std::string> names;
    for (const SetEffect& set : sets)
        if (set.*p < alpha) names.push_back(set.set);
    return names;
}

/// The deviation that a difference varies with over seeds says what a test of these seeds can find.
void plan_power(const Study& study, ClaimOutcome& outcome) {
    const double deviation = outcome.test.std_difference;
    outcome.power = not_a_number;
    if (!(deviation > 0) || outcome.seeds.size() < 2) return;
    const PowerPlan plan{PowerDesign::paired_t, outcome.claim.smallest_difference / deviation, study.alpha, Alternative::greater};
    outcome.power = power_of(plan, static_cast<std::int64_t>(outcome.seeds.size()));
    outcome.seeds_needed = std::max<std::int64_t>(2, sample_size_for(plan, study.power));
}

void decide(const Study& study, ClaimOutcome& outcome) {
    const auto in_favour = where(outcome.sets, &SetEffect::p, study.alpha),
               against = where(outcome.sets, &SetEffect::p_against, study.alpha);
    const std::string found = fmt::format("{:+.3g} [{:+.3g}, {:+.3g}]{}", outcome.effect.estimate, outcome.effect.interval.low,
                                          outcome.effect.interval.high, outcome.interval_by_t ? " (t interval)" : "");
    const bool equivalent = outcome.equivalence.p < study.alpha;
    if (outcome.test.p < study.alpha && equivalent) {
        outcome.verdict = Verdict::does_not_hold;
        outcome.sentence = fmt::format("It does not hold here: {} is more than chance, but less than the {:.3g} that would matter.", found,
                                       outcome.claim.smallest_difference);
    } else if (outcome.test.p < study.alpha && against.empty()) {
        outcome.verdict = Verdict::holds;
        outcome.sentence = fmt::format("It holds: {}, p = {:.3g}.", found, outcome.test.p);
    } else if (outcome.test.p < study.alpha || !in_favour.empty()) {
        outcome.verdict = Verdict::holds_in_part;
        outcome.sentence = fmt::format("It holds in part: {} over all; on its own on {}{}.", found,
                                       in_favour.empty() ? "no data set" : join(in_favour, ", "),
                                       against.empty() ? "" : "; the opposite on " + join(against, ", "));
    } else if (1 - outcome.test.p < study.alpha) {
        outcome.verdict = Verdict::does_not_hold;
        outcome.sentence = fmt::format("It does not hold here: the opposite was found, {}.", found);
    } else if (equivalent) {
        outcome.verdict = Verdict::does_not_hold;
        outcome.sentence = fmt::format("It does not hold here: {}, within {:.3g} either way (two one-sided tests, p = {:.3g}).", found,
                                       outcome.claim.smallest_difference, outcome.equivalence.p);
    } else {
        outcome.sentence =
            fmt::format("Undecided: {}, p = {:.3g}; {}.", found, outcome.test.p,
                        outcome.seeds_needed > 0
                            ? fmt::format("to find {:.3g} with power {:.2g} takes {} seeds, here are {}", outcome.claim.smallest_difference,
                                          study.power, outcome.seeds_needed, outcome.seeds.size())
                            : "the seeds do not differ, so nothing can be said of others");
    }
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

ClaimOutcome judge_claim(const StudyClaim& claim, std::vector<std::uint64_t> seeds, std::vector<std::string> sets, const Matrix& better,
                         const Matrix& than, const Study& study) {
    ClaimOutcome outcome;
    outcome.claim = claim;
    outcome.seeds = std::move(seeds);
    if (outcome.seeds.size() < 2 || sets.empty()) {
        outcome.sentence = fmt::format("Undecided: both sides have {} seeds and {} data sets in common; it takes two seeds at least.",
                                       outcome.seeds.size(), sets.size());
        outcome.effect.estimate = outcome.test.p = outcome.equivalence.p = outcome.power = not_a_number;
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
    outcome.test = paired_t(means, zero, Alternative::greater);
    outcome.equivalence = paired_equivalence(means, zero, claim.smallest_difference);
    plan_power(study, outcome);
    decide(study, outcome);
    return outcome;
}

Json ClaimOutcome::to_json() const {
    Json by_set = Json::array();
    for (const SetEffect& set : sets)
        by_set.push_back({{"set", set.set},
                          {"effect", number_to_json(set.effect)},
                          {"interval", set.interval.to_json()},
                          {"p", number_to_json(set.p)},
                          {"p_against", number_to_json(set.p_against)}});
    return {{"claim", claim.claim},
            {"better", claim.better},
            {"than", claim.than},
            {"verdict", verdict_name(verdict)},
            {"sentence", sentence},
            {"effect", number_to_json(effect.estimate)},
            {"interval", effect.interval.to_json()},
            {"interval_by", interval_by_t ? "t" : "bootstrap"},
            {"p", number_to_json(test.p)},
            {"n", seeds.size()},
            {"seeds", seeds},
            {"power", number_to_json(power)},
            {"seeds_needed", seeds_needed},
            {"smallest_difference", claim.smallest_difference},
            {"equivalence", {{"p", number_to_json(equivalence.p)}, {"margin", claim.smallest_difference}}},
            {"sets", by_set}};
}

}  // namespace faceter
