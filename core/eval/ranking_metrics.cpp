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

RankingScores ranking_scores(std::span<const ScoredDocument> ranking, Judgements judgements, std::size_t k, Gain gain) {
    const Grades grades(judgements);
    const auto num_relevant = static_cast<double>(grades.num_relevant());
    RankingScores scores;
    if (num_relevant == 0 || k == 0) return scores;
    double found = 0, dcg = 0, precisions = 0;
    for (std::size_t i = 0; i < std::min(k, ranking.size()); ++i) {
        const int grade = grades.of(ranking[i].document);
        if (grade <= 0) continue;
        found += 1;
        const double rank = static_cast<double>(i + 1);
        if (found == 1) scores.reciprocal_rank = 1 / rank;
        precisions += found / rank;
        dcg += gain_of(grade, gain) / discount(i);
    }
    scores.ndcg = dcg / ideal_dcg(grades, k, gain);
    scores.recall = found / num_relevant;
    scores.precision = found / static_cast<double>(k);
    scores.average_precision = precisions / num_relevant;
    return scores;
}

double ndcg_at(std::span<const ScoredDocument> ranking, Judgements judgements, std::size_t k, Gain gain) {
    return ranking_scores(ranking, judgements, k, gain).ndcg;
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
