#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "common/json.h"
#include "compare/compare.h"

/// Whether the order of a comparison's rows would be the same over other data sets and seeds: ranks under resampling of both.
namespace faceter {

/// A group's place by its mean over the data sets that every group has, and where it stands in 95 % of the bootstrap's resamples of these
/// data sets, and of each group's seeds where it has several (Efron and Tibshirani 1993, chapter 13; Owen 2007); equal means share the
/// better rank.
struct RankInterval {
    std::size_t group = 0;  ///< index into Comparison::groups
    double mean = 0;
    int rank = 1, lowest = 1, highest = 1;
    /// Groups of one tie follow one another: the 95 % interval of how much better its first is, over the same resamples, holds 0.
    int tie = 0;
};

struct RankIntervals {
    std::vector<RankInterval> ranks;  ///< the best first; empty: `reason` says why
    std::size_t num_sets = 0;
    std::string reason;

    /// "Ranks by the mean over 41 data sets (95 % of resamples): 1 MoTE [1-2] and IC [1-2] cannot be told apart; 3 start [3-3]."
    std::string sentence(const Comparison& comparison) const;
    Json to_json(const Comparison& comparison) const;
};

RankIntervals rank_intervals(const Comparison& comparison, std::uint64_t seed = 1);

}  // namespace faceter
