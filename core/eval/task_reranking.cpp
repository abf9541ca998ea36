#include <ATen/ATen.h>

#include <optional>

#include "eval/chosen_paths.h"
#include "eval/retrieval_scores.h"
#include "eval/tasks.h"

namespace faceter {
namespace {

double dot(const at::Tensor& rows, std::uint32_t a, const at::Tensor& others, std::uint32_t b) {
    const std::int64_t dim = rows.size(1);
    const float *x = rows.data_ptr<float>() + a * dim, *y = others.data_ptr<float>() + b * dim;
    double total = 0;
    for (std::int64_t d = 0; d < dim; ++d) total += static_cast<double>(x[d]) * y[d];
    return total;
}

using QueryScores = std::vector<std::optional<RerankingScores>>;

/// Ranks the candidates of these queries by cosine similarity.
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
    const at::Tensor q = normalize_rows(embedder.embed(queries, routes.query)).contiguous();
    const at::Tensor c = normalize_rows(embedder.embed(candidates, routes.document)).contiguous();
    for (const std::size_t at : places) {
        const auto& query = data.queries[at];
        if (query.positive.empty() || query.negative.empty()) continue;
        std::vector<double> similarities;
        std::vector<std::int32_t> relevant;
        for (const auto* side : {&query.positive, &query.negative})
            for (const std::uint32_t text : *side) {
                similarities.push_back(
                    dot(q, static_cast<std::uint32_t>(query_place[query.query]), c, static_cast<std::uint32_t>(candidate_place[text])));
                relevant.push_back(side == &query.positive);
            }
        scores[at] = reranking_scores(similarities, relevant);
    }
}

/// Mean over queries of the average precision of the candidates ranked by cosine similarity. Queries without positives or negatives have no
/// say.
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
