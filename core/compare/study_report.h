#pragma once
#include <string>
#include <vector>

#include "compare/study.h"
#include "figure/figure.h"
#include "figure/table.h"
#include "stats/bootstrap.h"
#include "stats/equivalence.h"
#include "stats/paired.h"

namespace faceter {

enum class Verdict { holds, holds_in_part, does_not_hold, undecided };
std::string_view verdict_name(Verdict verdict);  ///< "holds", "holds in part", "does not hold here", "undecided"

/// One data set (or pair of tasks) of a claim: the first side's advantage, paired by seed; above zero where the claim has it.
struct SetEffect {
    std::string set;
    double effect = 0, p = 0;  ///< p: Holm-adjusted over the claim's sets, one-sided in the claim's direction
    double p_against = 0;      ///< the same in the other direction
    Interval interval;         ///< 95 %, over seeds
};

/// One-sided p of a claim's three questions, Holm-adjusted over the claims of the study: they are one family. A claim that no runs speak
/// of yet stays a member of it.
struct ClaimFamilyP {
    double holds = 1, opposite = 1, equivalent = 1;
};

/// A claim held against the records.
struct ClaimOutcome {
    StudyClaim claim;
    Verdict verdict = Verdict::undecided;
    std::string sentence;              ///< the verdict in words: where it holds, or what it would take
    std::vector<std::uint64_t> seeds;  ///< that both sides have
    std::vector<SetEffect> sets;
    BootstrapResult effect;      ///< over seeds and sets (two-way bootstrap), 95 %
    bool interval_by_t = false;  ///< the interval is two_way_t_interval(): a bootstrap of so few seeds or sets is too narrow
    PairedTResult test;          ///< the primary one: means over the sets, paired by seed, one-sided
    double p_opposite = 0;       ///< of the same test the other way
    EquivalenceResult equivalence;
    ClaimFamilyP adjusted;
    /// Of the primary test for the smallest difference, at the deviation that was seen and at alpha over the number of claims, the least
    /// that Holm leaves a claim.
    double power = 0;
    std::int64_t seeds_needed = 0;  ///< for the planned power at that deviation; 0: not known, or more than a million
    Json to_json() const;
};

/// The numbers of a claim, before judge_claims(). Rows of `better` and `than`: by seed, by set.
ClaimOutcome measure_claim(const StudyClaim& claim, std::vector<std::uint64_t> seeds, std::vector<std::string> sets,
                           const std::vector<std::vector<double>>& better, const std::vector<std::vector<double>>& than,
                           const Study& study);
/// The verdicts of all claims of a study. What decides, each p Holm-adjusted over the claims: p < alpha in the claim's direction, no
/// equivalence and no set against it: holds; that with sets against it, or sets without it (alpha over the number of claims): in part;
/// equivalence, or p < alpha the other way: does not hold here; else undecided. A set counts where its 95 % interval reaches the smallest
/// difference: one that is more than chance but does not matter is no part in which a claim holds. A pilot (a study without
/// pilot_deviation) decides nothing, and neither do seeds whose differences are all equal: these have no p.
void judge_claims(const Study& study, std::vector<ClaimOutcome>& claims);

struct StudyCost {
    std::string variant;
    std::size_t runs = 0;
    double hours = 0;
};

struct StudyReport {
    Study study;
    StudyRecord record;
    std::size_t planned = 0, done = 0;
    std::vector<std::string> excluded;  ///< "RUN: reason"
    std::vector<ClaimOutcome> claims;
    std::vector<StudyCost> costs;
    std::vector<Figure> figures;  ///< a forest plot a claim, then the curves of the loss and of the scores during training
    std::vector<Table> tables;    ///< claims, effects by data set, scores, costs

    Json to_json() const;
    std::string to_markdown() const;
};
/// From the records of a project; changes none.
StudyReport report_study(const Study& study, const Catalogue& catalogue, const fs::path& project, bool smoke);

}  // namespace faceter
