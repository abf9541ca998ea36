#include <ATen/core/Tensor.h>

#include "eval/pair_metrics.h"
#include "eval/tasks.h"

namespace faceter {
namespace {

RowPairs pairs_of(const at::Tensor& rows, const PairData& data) {
    return {{rows.const_data_ptr<float>(), rows.size(0), rows.size(1)}, data.first, data.second};
}

/// Average precision of cosine similarity; the other measures beside it.
EvaluationResult evaluate_pair_classification(CachedEmbedder& embedder, const EvaluationSet& set, const EvaluationRoutes& routes) {
    const auto& data = std::get<PairData>(set.data);
    const at::Tensor rows = embedder.embed(data.texts.views(), routes.query);
    EvaluationResult result;
    result.metric = "cosine_ap";
    result.n = data.first.size();
    result.metrics = pair_classification_metrics(pairs_of(rows, data), std::vector<std::int32_t>(data.scores.begin(), data.scores.end()));
    result.score = result.metrics.at(result.metric);
    return result;
}

/// Spearman's correlation of cosine similarity with the annotators' scores; the other measures beside it.
EvaluationResult evaluate_sts(CachedEmbedder& embedder, const EvaluationSet& set, const EvaluationRoutes& routes) {
    const auto& data = std::get<PairData>(set.data);
    const at::Tensor rows = embedder.embed(data.texts.views(), routes.query);
    EvaluationResult result;
    result.metric = "cosine_spearman";
    result.n = data.first.size();
    result.metrics = sts_metrics(pairs_of(rows, data), data.scores);
    result.score = result.metrics.at(result.metric);
    return result;
}

const bool registered = register_task_type("pair_classification", evaluate_pair_classification) && register_task_type("sts", evaluate_sts);

}  // namespace
}  // namespace faceter
