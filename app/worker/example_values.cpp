#include "example_values.h"

#include <ATen/ATen.h>

#include "eval/pair_metrics.h"

namespace faceter::worker {
namespace {

FeatureMatrix view(const at::Tensor& rows) { return {rows.const_data_ptr<float>(), rows.size(0), rows.size(1)}; }

Json values_of(const PairData& data, CachedEmbedder& embedder, const EvaluationRoutes& routes) {
    const at::Tensor rows = embedder.embed(data.texts.views(), routes.query);
    return {{"per_example", pair_similarities(PairMeasure::cosine, {view(rows), data.first, data.second})},
            {"per_example_of", "cosine"},
            {"per_example_wanted", data.scores}};
}

Json values_of(const BitextData& data, CachedEmbedder& embedder, const EvaluationRoutes& routes) {
    const auto hits = nearest_translations(embedder, data, routes);
    Json found = Json::array();
    for (std::size_t i = 0; i < hits.size(); ++i) found.push_back(hits[i].front().document == i ? 100.0 : 0.0);
    return {{"per_example", std::move(found)}, {"per_example_of", "accuracy"}};
}

}  // namespace

Json example_values(CachedEmbedder& embedder, const EvaluationSet& set, const EvaluationRoutes& routes, const EvaluationResult& result) {
    if (!set.subsets.empty()) {
        Json parts = Json::array();
        for (const EvaluationSet& subset : set.subsets)  // whose texts are embedded already
            parts.push_back(example_values(embedder, subset, routes, evaluate_set(embedder, subset, routes)));
        return {{"subsets", std::move(parts)}};
    }
    if (const auto* pairs = std::get_if<PairData>(&set.data)) return values_of(*pairs, embedder, routes);
    if (const auto* bitext = std::get_if<BitextData>(&set.data)) return values_of(*bitext, embedder, routes);
    return {{"per_example", result.per_example}, {"per_example_of", result.metric}};
}

}  // namespace faceter::worker
