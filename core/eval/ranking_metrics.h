#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace faceter {

/// A retrieved document (index into the corpus) and its score, as float32: trec_eval compares no finer.
struct ScoredDocument {
    std::uint32_t document = 0;
    float score = 0;
};
/// (document, grade); a grade of 0 or less is judged not relevant, a document without a grade too.
using Judgements = std::span<const std::pair<std::uint32_t, int>>;

/// Gain of a relevant document in nDCG: its grade (trec_eval, BEIR, MTEB), or 2^grade - 1 (MoTE's appendix). They differ on graded
/// judgements.
enum class Gain { linear, exponential };

/// Sorts as trec_eval does: by score, descending; equal scores by document id, descending in byte order. `ids[document]` is the id.
void sort_for_trec_eval(std::vector<ScoredDocument>& retrieved, std::span<const std::string> ids);

// The measures of one query, trec_eval's definitions. `ranking` is sorted, best first, and may be shorter than k. A query without a
// relevant document scores 0 (and counts in means).
double ndcg_at(std::span<const ScoredDocument> ranking, Judgements judgements, std::size_t k, Gain gain = Gain::linear);
double recall_at(std::span<const ScoredDocument> ranking, Judgements judgements, std::size_t k);
double precision_at(std::span<const ScoredDocument> ranking, Judgements judgements, std::size_t k);  ///< divided by k
double average_precision_at(std::span<const ScoredDocument> ranking, Judgements judgements,
                            std::size_t k);  ///< divided by all relevant ones
double reciprocal_rank_at(std::span<const ScoredDocument> ranking, Judgements judgements, std::size_t k);

/// All of them at once, for one query.
struct RankingScores {
    double ndcg = 0, ndcg_exponential = 0, recall = 0, precision = 0, average_precision = 0, reciprocal_rank = 0;
};
RankingScores ranking_scores(std::span<const ScoredDocument> ranking, Judgements judgements, std::size_t k);
/// The same at several cut-offs (ascending) in one pass over the ranking.
std::vector<RankingScores> ranking_scores_at(std::span<const ScoredDocument> ranking, Judgements judgements,
                                             std::span<const std::size_t> cutoffs);

}  // namespace faceter
