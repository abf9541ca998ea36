#pragma once
#include <array>
#include <map>
#include <string>
#include <vector>

#include "eval/ranking_metrics.h"

namespace faceter {

/// MTEB's cut-offs (RetrievalEvaluator.k_values).
inline constexpr std::array<std::size_t, 7> retrieval_cutoffs{1, 3, 5, 10, 20, 100, 1000};

/// Means over queries of every measure at every cut-off. A query without a relevant document scores 0 and counts.
class RetrievalScores {
  public:
    /// `ranking` is sorted (sort_for_trec_eval), as deep as the largest cut-off or as the corpus.
    void add(std::span<const ScoredDocument> ranking, Judgements judgements);
    std::size_t num_queries() const { return ndcg_at_10_.size(); }
    /// Of each query, percent: the main score is their mean.
    const std::vector<double>& ndcg_at_10() const { return ndcg_at_10_; }
    /// ndcg_at_K (linear gain), ndcg_exponential_at_K, recall_at_K, map_at_K, mrr_at_K, precision_at_K; percent.
    std::map<std::string, double> metrics() const;

  private:
    std::array<RankingScores, retrieval_cutoffs.size()> sums_{};
    std::vector<double> ndcg_at_10_;
};

/// One query's candidates, ranked by score (MTEB's reranking).
struct RerankingScores {
    double average_precision = 0;
    /// Of the first relevant candidate among the best 10, else 0. Candidates with its score that are not relevant stand before it: a model
    /// that cannot tell them apart gains nothing.
    double reciprocal_rank = 0;
};
RerankingScores reranking_scores(std::span<const double> scores, std::span<const std::int32_t> relevant);

}  // namespace faceter
