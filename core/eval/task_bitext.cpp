#include <ATen/ATen.h>

#include "eval/bitext_metrics.h"
#include "eval/comparable_rows.h"
#include "eval/search.h"
#include "eval/tasks.h"

namespace faceter {
namespace {

/// F1 of finding each sentence's translation as the nearest one (MTEB's bitext mining).
EvaluationResult evaluate_bitext(CachedEmbedder& embedder, const EvaluationSet& set, const EvaluationRoutes& routes) {
    const auto& data = std::get<BitextData>(set.data);
    std::vector<std::uint32_t> nearest;
    for (const auto& hits : nearest_translations(embedder, data, routes)) nearest.push_back(hits.front().document);
    const BitextScores scores = bitext_scores(nearest);
    EvaluationResult result;
    result.metric = "f1";
    result.n = nearest.size();
    result.score = 100 * scores.f1;
    result.metrics = {
        {"f1", 100 * scores.f1}, {"precision", 100 * scores.precision}, {"recall", 100 * scores.recall}, {"accuracy", 100 * scores.recall}};
    return result;
}

const bool registered = register_task_type("bitext_mining", evaluate_bitext);

}  // namespace

std::vector<std::vector<SearchHit>> nearest_translations(CachedEmbedder& embedder, const BitextData& data, const EvaluationRoutes& routes) {
    const Similarity similarity = embedder.model().folder.similarity;
    const auto rows = [&](const auto& texts) { return comparable_rows(embedder.embed(texts.views(), routes.query), similarity); };
    const auto view = [](const at::Tensor& x) { return FeatureMatrix{x.const_data_ptr<float>(), x.size(0), x.size(1)}; };
    const at::Tensor sentences = rows(data.first), translations = rows(data.second);
    return exact_search(view(sentences), view(translations), 1, similarity);
}

}  // namespace faceter
