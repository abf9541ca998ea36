#include <ATen/ATen.h>

#include "eval/bitext_metrics.h"
#include "eval/search.h"
#include "eval/tasks.h"

namespace faceter {
namespace {

FeatureMatrix view(const at::Tensor& rows) { return {rows.const_data_ptr<float>(), rows.size(0), rows.size(1)}; }

/// F1 of finding each sentence's translation as the nearest one (MTEB's bitext mining).
EvaluationResult evaluate_bitext(CachedEmbedder& embedder, const EvaluationSet& set, const EvaluationRoutes& routes) {
    const auto& data = std::get<BitextData>(set.data);
    const at::Tensor sentences = normalize_rows(embedder.embed(data.first.views(), routes.query)).contiguous();
    const at::Tensor translations = normalize_rows(embedder.embed(data.second.views(), routes.query)).contiguous();
    std::vector<std::uint32_t> nearest;
    for (const auto& hits : exact_search(view(sentences), view(translations), 1)) nearest.push_back(hits.front().document);
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
}  // namespace faceter
