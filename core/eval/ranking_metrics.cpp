#include "eval/ranking_metrics.h"

#include <algorithm>
#include <cmath>

#include "common/error.h"

namespace faceter {
namespace {

/// Grades of one query, looked up by document.
class Grades {
  public:
    explicit Grades(Judgements judgements) : sorted_(judgements.begin(), judgements.end()) { std::sort(sorted_.begin(), sorted_.end()); }
    int of(std::uint32_t document) const {
        const auto at = std::lower_bound(sorted_.begin(), sorted_.end(), std::pair{document, std::numeric_limits<int>::min()});
        return at != sorted_.end() && at->first == document ? at->second : 0;
    }
    std::size_t num_relevant() const {
        return static_cast<std::size_t>(std::count_if(sorted_.begin(), sorted_.end(), [](const auto& j) { return j.second > 0; }));
    }
    std::vector<int> descending() const {
        std::vector<int> grades;
        for (const auto& [document, grade] : sorted_) grades.push_back(grade);
        std::sort(grades.begin(), grades.end(), std::greater<>());
        return grades;
    }

  private:
    std::vector<std::pair<std::uint32_t, int>> sorted_;
};

double gain_of(int grade, Gain gain) {
    if (grade <= 0) return 0;
    return gain == Gain::linear ? grade : std::exp2(grade) - 1;
}

double discount(std::size_t rank_from_zero) { return std::log2(static_cast<double>(rank_from_zero) + 2); }

double ideal_dcg(const Grades& grades, std::size_t k, Gain gain) {
    const auto best = grades.descending();
    double dcg = 0;
    for (std::size_t i = 0; i < std::min(k, best.size()); ++i) dcg += gain_of(best[i], gain) / discount(i);
    return dcg;
}

}  // namespace

void sort_for_trec_eval(std::vector<ScoredDocument>& retrieved, std::span<const std::string> ids) {
    for (const auto& hit : retrieved)
        if (std::isnan(hit.score))
            throw data_error("document '{}' has a score that is not a number; it cannot be ranked", ids[hit.document]);
    std::sort(retrieved.begin(), retrieved.end(), [&](const ScoredDocument& a, const ScoredDocument& b) {
        return a.score != b.score ? a.score > b.score : ids[a.document] > ids[b.document];
    });
}

std::vector<RankingScores> ranking_scores_at(std::span<const ScoredDocument> ranking, Judgements judgements,
                                             std::span<const std::size_t> cutoffs) {
    const Grades grades(judgements);
    const auto num_relevant = static_cast<double>(grades.num_relevant());
    std::vector<RankingScores> at(cutoffs.size());
    if (num_relevant == 0) return at;
    double found = 0, first = 0, dcg = 0, dcg_exponential = 0, precisions = 0;
    std::size_t rank = 0;  // of the last document looked at, from 1
    for (std::size_t c = 0; c < cutoffs.size(); ++c) {
        for (; rank < std::min(cutoffs[c], ranking.size()); ++rank) {
            const int grade = grades.of(ranking[rank].document);
            if (grade <= 0) continue;
            found += 1;
            if (first == 0) first = static_cast<double>(rank + 1);
            precisions += found / static_cast<double>(rank + 1);
            dcg += gain_of(grade, Gain::linear) / discount(rank);
            dcg_exponential += gain_of(grade, Gain::exponential) / discount(rank);
        }
        if (cutoffs[c] == 0) continue;
        at[c].ndcg = dcg / ideal_dcg(grades, cutoffs[c], Gain::linear);
        at[c].ndcg_exponential = dcg_exponential / ideal_dcg(grades, cutoffs[c], Gain::exponential);
        at[c].recall = found / num_relevant;
        at[c].precision = found / static_cast<double>(cutoffs[c]);
        at[c].average_precision = precisions / num_relevant;
        at[c].reciprocal_rank = first > 0 ? 1 / first : 0;
    }
    return at;
}

RankingScores ranking_scores(std::span<const ScoredDocument> ranking, Judgements judgements, std::size_t k) {
    return ranking_scores_at(ranking, judgements, std::span(&k, 1)).front();
}

double ndcg_at(std::span<const ScoredDocument> ranking, Judgements judgements, std::size_t k, Gain gain) {
    const RankingScores scores = ranking_scores(ranking, judgements, k);
    return gain == Gain::linear ? scores.ndcg : scores.ndcg_exponential;
}

double recall_at(std::span<const ScoredDocument> ranking, Judgements judgements, std::size_t k) {
    return ranking_scores(ranking, judgements, k).recall;
}

double precision_at(std::span<const ScoredDocument> ranking, Judgements judgements, std::size_t k) {
    return ranking_scores(ranking, judgements, k).precision;
}

double average_precision_at(std::span<const ScoredDocument> ranking, Judgements judgements, std::size_t k) {
    return ranking_scores(ranking, judgements, k).average_precision;
}

double reciprocal_rank_at(std::span<const ScoredDocument> ranking, Judgements judgements, std::size_t k) {
    return ranking_scores(ranking, judgements, k).reciprocal_rank;
}

}  // namespace faceter
