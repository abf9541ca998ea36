#include <ATen/ATen.h>

#include "eval/chosen_paths.h"
#include "eval/comparable_rows.h"
#include "eval/retrieval_scores.h"
#include "eval/search.h"
#include "eval/tasks.h"

namespace faceter {
namespace {

constexpr std::uint32_t chunk_documents = 16384;
constexpr std::size_t depth = retrieval_cutoffs.back();

FeatureMatrix view(const at::Tensor& rows) { return {rows.data_ptr<float>(), rows.size(0), rows.size(1)}; }

using Hits = std::vector<std::vector<SearchHit>>;

/// Documents stream through in chunks.
Hits search_corpus(CachedEmbedder& embedder, const RetrievalData& data, const at::Tensor& queries, const Route& route) {
    const Similarity similarity = embedder.model().folder.similarity;
    ExactSearch search(view(queries), depth + (data.exclude_same_id ? 1 : 0), similarity);
    const auto documents = data.documents.views();
    for (std::size_t start = 0; start < documents.size(); start += chunk_documents) {
        const std::span<const std::string_view> part(documents.data() + start,
                                                     std::min<std::size_t>(chunk_documents, documents.size() - start));
        const at::Tensor rows = comparable_rows(embedder.embed(part, route), similarity);
        search.add_documents(view(rows));
    }
    return search.results();
}

/// The corpus is searched once for each path in use.
Hits search_by_path(CachedEmbedder& embedder, const RetrievalData& data, const EvaluationRoutes& routes) {
    const auto queries = data.queries.views();
    Hits hits(queries.size());
    by_chosen_path(embedder, queries, routes, [&](const EvaluationRoutes& through, std::span<const std::size_t> places) {
        std::vector<std::string_view> own;
        for (const std::size_t q : places) own.push_back(queries[q]);
        const at::Tensor rows = comparable_rows(embedder.embed(own, through.query), embedder.model().folder.similarity);
        auto found = search_corpus(embedder, data, rows, through.document);
        for (std::size_t i = 0; i < places.size(); ++i) hits[places[i]] = std::move(found[i]);
    });
    return hits;
}

/// nDCG@10 over exact search by the model's similarity (BEIR, MTEB).
EvaluationResult evaluate_retrieval(CachedEmbedder& embedder, const EvaluationSet& set, const EvaluationRoutes& routes) {
    const auto& data = std::get<RetrievalData>(set.data);
    const auto documents = data.documents.views();
    const Hits hits = search_by_path(embedder, data, routes);
    RetrievalScores scores;
    for (std::size_t q = 0; q < hits.size(); ++q) {
        std::vector<ScoredDocument> ranking;
        for (const SearchHit& hit : hits[q])
            if (!(data.exclude_same_id && data.document_ids[hit.document] == data.query_ids[q]))
                ranking.push_back({hit.document, hit.score});
        sort_for_trec_eval(ranking, data.document_ids);
        scores.add(ranking, all_judgements(data, q));
    }
    EvaluationResult result;
    result.metric = "ndcg_at_10";
    result.n = data.query_ids.size();
    result.per_example = scores.ndcg_at_10();
    result.score = percent(result.per_example) / 100;
    result.metrics = scores.metrics();
    result.settings = {{"gain", "linear"},
                       {"similarity", similarity_name(embedder.model().folder.similarity)},
                       {"documents", documents.size()},
                       {"exclude_same_id", data.exclude_same_id}};
    return result;
}

const bool registered = register_task_type("retrieval", evaluate_retrieval);

}  // namespace
}  // namespace faceter
