#include <ATen/ATen.h>

#include "eval/classification_metrics.h"
#include "eval/tasks.h"
#include "stats/correlation.h"

namespace faceter {
namespace {

/// Cosine similarities of the set's pairs.
std::vector<double> pair_similarities(CachedEmbedder& embedder, const PairData& data, const EvaluationRoutes& routes) {
    const at::Tensor rows = normalize_rows(embedder.embed(data.texts.views(), routes.query));
    const auto index = [](const std::vector<std::uint32_t>& ids) {
        return at::tensor(at::ArrayRef<std::int64_t>(std::vector<std::int64_t>(ids.begin(), ids.end())));
    };
    const at::Tensor cosines =
        (rows.index_select(0, index(data.first)) * rows.index_select(0, index(data.second))).sum(1).to(at::kDouble).contiguous();
    return {cosines.data_ptr<double>(), cosines.data_ptr<double>() + cosines.numel()};
}

/// Average precision of cosine similarity.
EvaluationResult evaluate_pair_classification(CachedEmbedder& embedder, const EvaluationSet& set, const EvaluationRoutes& routes) {
    const auto& data = std::get<PairData>(set.data);
    const auto cosines = pair_similarities(embedder, data, routes);
    const std::vector<std::int32_t> positive(data.scores.begin(), data.scores.end());
    EvaluationResult result;
    result.metric = "cosine_ap";
    result.n = cosines.size();
    result.score = 100 * average_precision(cosines, positive);
    result.metrics = {{"cosine_accuracy", 100 * best_accuracy(cosines, positive).value},
                      {"cosine_f1", 100 * best_f1(cosines, positive).value}};
    return result;
}

/// Spearman's correlation of cosine similarity with the annotators' scores.
EvaluationResult evaluate_sts(CachedEmbedder& embedder, const EvaluationSet& set, const EvaluationRoutes& routes) {
    const auto& data = std::get<PairData>(set.data);
    const auto cosines = pair_similarities(embedder, data, routes);
    EvaluationResult result;
    result.metric = "cosine_spearman";
    result.n = cosines.size();
    result.score = 100 * spearman(cosines, data.scores).r;
    result.metrics = {{"cosine_pearson", 100 * pearson(cosines, data.scores).r}};
    return result;
}

const bool registered = register_task_type("pair_classification", evaluate_pair_classification) && register_task_type("sts", evaluate_sts);

}  // namespace
}  // namespace faceter
