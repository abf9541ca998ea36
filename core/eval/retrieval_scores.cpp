#include "eval/retrieval_scores.h"

#include <algorithm>
#include <limits>

#include "common/error.h"
#include "eval/classification_metrics.h"

namespace faceter {
namespace {

constexpr std::size_t mrr_depth = 10;  // RerankingEvaluator.mrr_at_k

void add_to(RankingScores& sum, const RankingScores& one) {
    sum.ndcg += one.ndcg;
    sum.ndcg_exponential += one.ndcg_exponential;
    sum.recall += one.recall;
    sum.precision += one.precision;
    sum.average_precision += one.average_precision;
    sum.reciprocal_rank += one.reciprocal_rank;
}

}  // namespace

void RetrievalScores::add(std::span<const ScoredDocument> ranking, Judgements judgements) {
    const auto scores = ranking_scores_at(ranking, judgements, retrieval_cutoffs);
    for (std::size_t c = 0; c < scores.size(); ++c) {
        add_to(sums_[c], scores[c]);
        if (retrieval_cutoffs[c] == 10) ndcg_at_10_.push_back(100 * scores[c].ndcg);
    }
}

std::map<std::string, double> RetrievalScores::metrics() const {
    std::map<std::string, double> metrics;
    const double scale = 100 / static_cast<double>(num_queries());
    for (std::size_t c = 0; c < retrieval_cutoffs.size(); ++c) {
        const auto put = [&](const char* name, double sum) { metrics[fmt::format("{}_at_{}", name, retrieval_cutoffs[c])] = scale * sum; };
        put("ndcg", sums_[c].ndcg);
        put("ndcg_exponential", sums_[c].ndcg_exponential);
        put("recall", sums_[c].recall);
        put("precision", sums_[c].precision);
        put("map", sums_[c].average_precision);
        put("mrr", sums_[c].reciprocal_rank);
    }
    return metrics;
}

RerankingScores reranking_scores(std::span<const double> scores, std::span<const std::int32_t> relevant) {
    RerankingScores result;
    result.average_precision = average_precision(scores, relevant);
    double best = -std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < scores.size(); ++i)
        if (relevant[i]) best = std::max(best, scores[i]);
    std::size_t before = 0;
    for (std::size_t i = 0; i < scores.size(); ++i) before += !relevant[i] && scores[i] >= best;
    if (before < mrr_depth) result.reciprocal_rank = 1 / static_cast<double>(before + 1);
    return result;
}

}  // namespace faceter
