#include "compare/rank_intervals.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>

#include "common/random.h"
#include "compare/compare_tests.h"
#include "stats/bootstrap.h"
#include "stats/descriptive.h"

namespace faceter {
namespace {

constexpr std::size_t num_resamples = 10000, fewest_sets = 3;
constexpr double confidence = 0.95;

using Matrix = std::vector<std::vector<double>>;

/// Of a group, [data set that every run of every group has][seed]: the sets of the table's means, and a seed has one place in all of them.
using SeedScores = Matrix;

std::vector<SeedScores> scores_of(const Comparison& comparison) {
    std::vector<SeedScores> scores(comparison.groups.size());
    for (const ComparedSet& set : common_sets(comparison))
        for (std::size_t g = 0; g < scores.size(); ++g) scores[g].push_back(comparison.groups[g].scores.at(set.name));
    return scores;
}

double mean_of(const SeedScores& scores) {
    double sum = 0;
    for (const auto& seeds : scores) sum += mean(seeds);
    return sum / static_cast<double>(scores.size());
}

/// As many seeds as there are, drawn with replacement: a seed's runs go together over the data sets. One seed is all there is.
std::vector<std::size_t> drawn_seeds(const SeedScores& scores, RandomStream& random) {
    const std::size_t seeds = scores.front().size();
    std::vector<std::size_t> drawn(seeds, 0);
    if (seeds > 1)
        for (std::size_t& seed : drawn) seed = static_cast<std::size_t>(random.below(seeds));
    return drawn;
}

/// Each group's mean in every resample of the data sets and of its seeds, [group][resample].
Matrix resampled_means(const std::vector<SeedScores>& scores, std::uint64_t seed) {
    RandomStream random(seed, "compare.rank_intervals");
    Matrix means(scores.size(), std::vector<double>(num_resamples));
    const std::size_t sets = scores.front().size();
    std::vector<std::size_t> drawn(sets);
    for (std::size_t i = 0; i < num_resamples; ++i) {
        for (std::size_t& set : drawn) set = static_cast<std::size_t>(random.below(sets));
        for (std::size_t g = 0; g < scores.size(); ++g) {
            const auto seeds = drawn_seeds(scores[g], random);
            for (const std::size_t set : drawn)
                for (const std::size_t one : seeds) means[g][i] += scores[g][set][one] / static_cast<double>(sets * seeds.size());
        }
    }
    return means;
}

/// How many groups are better, and one: [group][resample].
Matrix resampled_ranks(const Matrix& means) {
    Matrix ranks(means.size(), std::vector<double>(num_resamples));
    std::vector<double> best_first(means.size());
    for (std::size_t i = 0; i < num_resamples; ++i) {
        for (std::size_t g = 0; g < means.size(); ++g) best_first[g] = means[g][i];
        std::sort(best_first.begin(), best_first.end(), std::greater<>());
        for (std::size_t g = 0; g < means.size(); ++g) {
            const auto own = std::lower_bound(best_first.begin(), best_first.end(), means[g][i], std::greater<>());
            ranks[g][i] = 1 + static_cast<double>(own - best_first.begin());
        }
    }
    return ranks;
}

/// Whether the interval of how much better the first is begins at 0 or below. All but a few pairs are told by how many resamples do not
/// have it better.
bool cannot_be_told_apart(const std::vector<double>& better, const std::vector<double>& worse) {
    const auto least = static_cast<std::ptrdiff_t>((1 - confidence) / 2 * static_cast<double>(num_resamples));
    std::ptrdiff_t not_better = 0;
    for (std::size_t i = 0; i < num_resamples; ++i) not_better += better[i] <= worse[i];
    if (std::abs(not_better - least) > 1) return not_better > least;
    std::vector<double> differences(better.size());
    std::transform(better.begin(), better.end(), worse.begin(), differences.begin(), std::minus<>());
    return percentile_interval(differences, confidence).low <= 0;
}

/// The longest runs of rows of which no two can be told apart; `are_tied` is of a row and one below it.
std::vector<std::pair<std::size_t, std::size_t>> runs_of_ties(std::size_t rows,
                                                              const std::function<bool(std::size_t, std::size_t)>& are_tied) {
    std::vector<std::pair<std::size_t, std::size_t>> runs;
    std::size_t first = 0;
    for (std::size_t row = 1; row < rows; ++row) {
        std::size_t begin = row;
        while (begin > first && are_tied(begin - 1, row)) --begin;
        if (begin > first) runs.emplace_back(first, row - 1);
        first = begin;
    }
    runs.emplace_back(first, rows - 1);
    return runs;
}

/// With its rank where it has not been said yet.
std::string of_group(const RankInterval& rank, const Comparison& comparison, bool is_said) {
    const std::string& name = comparison.groups[rank.group].name;
    return is_said ? name : fmt::format("{} {} [{}-{}]", rank.rank, name, rank.lowest, rank.highest);
}

}  // namespace

RankIntervals rank_intervals(const Comparison& comparison, std::uint64_t seed) {
    const std::vector<SeedScores> scores = scores_of(comparison);
    RankIntervals result;
    result.num_sets = scores.empty() ? 0 : scores.front().size();
    if (scores.size() < 2) result.reason = "there is one row";
    if (scores.size() >= 2 && result.num_sets < fewest_sets)
        result.reason = fmt::format("the rows share {} data sets, at least {} are needed", result.num_sets, fewest_sets);
    if (!result.reason.empty()) return result;
    const Matrix means = resampled_means(scores, seed);
    const Matrix resampled = resampled_ranks(means);
    for (std::size_t g = 0; g < scores.size(); ++g) {
        const Interval interval = percentile_interval(resampled[g], confidence);
        result.ranks.push_back(
            {g, mean_of(scores[g]), 1, static_cast<int>(std::floor(interval.low)), static_cast<int>(std::ceil(interval.high)), {}});
    }
    std::vector<RankInterval>& ranks = result.ranks;
    std::stable_sort(ranks.begin(), ranks.end(), [](const auto& a, const auto& b) { return a.mean > b.mean; });
    for (std::size_t i = 1; i < ranks.size(); ++i)
        ranks[i].rank = ranks[i].mean == ranks[i - 1].mean ? ranks[i - 1].rank : static_cast<int>(i) + 1;
    result.ties = runs_of_ties(ranks.size(), [&](std::size_t better, std::size_t worse) {
        return cannot_be_told_apart(means[ranks[better].group], means[ranks[worse].group]);
    });
    for (std::size_t tie = 0; tie < result.ties.size(); ++tie)
        for (std::size_t i = result.ties[tie].first; i <= result.ties[tie].second; ++i) ranks[i].ties.push_back(static_cast<int>(tie));
    return result;
}

std::string RankIntervals::sentence(const Comparison& comparison) const {
    if (ranks.empty()) return "";
    std::string text = fmt::format("Ranks by the mean over {} data sets (95 % of resamples): ", num_sets);
    std::size_t said = 0;
    for (const auto& [first, last] : ties) {
        std::vector<std::string> names;
        for (std::size_t i = first; i <= last; ++i) names.push_back(of_group(ranks[i], comparison, i < said));
        if (first > 0) text += "; ";
        text += fmt::format("{}", fmt::join(names, ", "));
        if (names.size() > 1) text += " cannot be told apart";
        said = last + 1;
    }
    return text + ".";
}

Json RankIntervals::to_json(const Comparison& comparison) const {
    if (ranks.empty()) return {{"reason", reason}};
    Json rows = Json::array();
    for (const RankInterval& one : ranks)
        rows.push_back({{"name", comparison.groups[one.group].name},
                        {"mean", one.mean},
                        {"rank", one.rank},
                        {"interval", {one.lowest, one.highest}},
                        {"tie_groups", one.ties}});
    return {{"data_sets", num_sets}, {"confidence", confidence}, {"resamples", num_resamples}, {"rows", rows}};
}

}  // namespace faceter
