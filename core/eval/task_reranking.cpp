#include <ATen/ATen.h>

#include <optional>

#include "eval/chosen_paths.h"
#include "eval/comparable_rows.h"
#include "eval/retrieval_scores.h"
#include "eval/tasks.h"

namespace faceter {
namespace {

using QueryScores = std::vector<std::optional<RerankingScores>>;

/// Ranks the candidates of these queries by the model's similarity.
void rank_candidates(CachedEmbedder& embedder, const RerankingData& data, const EvaluationRoutes& routes,
                     std::span<const std::size_t> places, QueryScores& scores) {
    std::vector<std::string_view> queries, candidates;
    std::vector<std::int64_t> query_place(data.texts.size(), -1), candidate_place(data.texts.size(), -1);
    const auto want = [&](std::uint32_t text, std::vector<std::string_view>& list, std::vector<std::int64_t>& place) {
        if (place[text] >= 0) return;
        place[text] = static_cast<std::int64_t>(list.size());
        list.push_back(data.texts[text]);
    };
    for (const std::size_t at : places) {
        const auto& query = data.queries[at];
        want(query.query, queries, query_place);
        for (const auto* side : {&query.positive, &query.negative})
            for (const std::uint32_t text : *side) want(text, candidates, candidate_place);
    }
    const Similarity similarity = embedder.model().folder.similarity;
    const at::Tensor q = comparable_rows(embedder.embed(queries, routes.query), similarity);
    const at::Tensor c = comparable_rows(embedder.embed(candidates, routes.document), similarity);
    for (const std::size_t at : places) {
        const auto& query = data.queries[at];
        if (query.positive.empty() || query.negative.empty()) continue;
        std::vector<double> similarities;
        std::vector<std::int32_t> relevant;
        for (const auto* side : {&query.positive, &query.negative})
            for (const std::uint32_t text : *side) {
                similarities.push_back(row_similarity(q, query_place[query.query], c, candidate_place[text], similarity));
                relevant.push_back(side == &query.positive);
            }
        scores[at] = reranking_scores(similarities, relevant);
    }
}

/// Mean over queries of the average precision of the candidates ranked by the model's similarity (MTEB). Queries without positives or
/// negatives have no say.
EvaluationResult evaluate_reranking(CachedEmbedder& embedder, const EvaluationSet& set, const EvaluationRoutes& routes) {
    const auto& data = std::get<RerankingData>(set.data);
    std::vector<std::string_view> queries;
    for (const auto& query : data.queries) queries.push_back(data.texts[query.query]);
    QueryScores scores(queries.size());
    by_chosen_path(embedder, queries, routes, [&](const EvaluationRoutes& through, std::span<const std::size_t> places) {
        rank_candidates(embedder, data, through, places, scores);
    });
    EvaluationResult result;
    result.metric = "map";
    std::vector<double> reciprocal_ranks;
    for (const auto& one : scores) {
        if (!one) continue;
        result.per_example.push_back(100 * one->average_precision);
        reciprocal_ranks.push_back(one->reciprocal_rank);
    }
    result.n = result.per_example.size();
    result.score = percent(result.per_example) / 100;
    result.metrics = {{"map", result.score}, {"mrr", percent(reciprocal_ranks)}};
    result.settings = {{"mrr_depth", 10}};
    return result;
}

const bool registered = register_task_type("reranking", evaluate_reranking);

}  // namespace
}  // namespace faceter
