#pragma once
#include <cstdint>
#include <string>
#include <utility>
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
    std::vector<int> ties;  ///< which of RankIntervals::ties it is in: one at least
};

struct RankIntervals {
    std::vector<RankInterval> ranks;  ///< the best first; empty: `reason` says why
    /// The first and the last of rows that follow one another of which no two can be told apart: the 95 % interval of how much better one
    /// is than the other, over the same resamples, holds 0. None lies in another, but they overlap where two rows differ and one between
    /// them differs from neither, as the bars of a critical difference diagram do (Demsar, JMLR 2006).
    std::vector<std::pair<std::size_t, std::size_t>> ties;
    std::size_t num_sets = 0;
    std::string reason;

    /// "Ranks by the mean over 41 data sets (95 % of resamples): 1 MoTE [1-2], 2 IC [1-3] cannot be told apart; IC, 3 SFT [2-3] cannot be
    /// told apart; 4 start [4-4]."
    std::string sentence(const Comparison& comparison) const;
    Json to_json(const Comparison& comparison) const;
};

RankIntervals rank_intervals(const Comparison& comparison, std::uint64_t seed = 1);

}  // namespace faceter
