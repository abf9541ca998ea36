#include "example_values.h"

#include <ATen/ATen.h>

#include "data/scored_texts.h"
#include "eval/pair_metrics.h"
#include "figure/text_width.h"

namespace faceter::worker {
namespace {

constexpr int text_cells = 200;

FeatureMatrix view(const at::Tensor& rows) { return {rows.const_data_ptr<float>(), rows.size(0), rows.size(1)}; }

Json described(const ScoredText& text) {
    Json json{{"text", shorten(text.text, text_cells)}};
    if (!text.wanted.empty()) json["wanted"] = shorten(text.wanted, text_cells);
    if (!text.id.empty()) json["id"] = text.id;
    return json;
}

std::vector<Json> examples_of(const EvaluationSet& set) {
    std::vector<Json> examples;
    for (const ScoredText& text : scored_texts(set)) examples.push_back(described(text));
    if (const auto* pairs = std::get_if<PairData>(&set.data))
        for (std::size_t i = 0; i < pairs->scores.size(); ++i)
            examples.push_back({{"text", shorten(pairs->texts[pairs->first[i]], text_cells)},
                                {"other", shorten(pairs->texts[pairs->second[i]], text_cells)},
                                {"wanted", pairs->scores[i]}});
    if (const auto* bitext = std::get_if<BitextData>(&set.data))
        for (std::uint32_t i = 0; i < bitext->first.size(); ++i)
            examples.push_back(described({std::string(bitext->first[i]), std::string(bitext->second[i])}));
    return examples;
}

/// With the texts that the values are of, where these are known: of summaries some have no value.
Json with_examples(const EvaluationSet& set, Json json) {
    std::vector<Json> examples = examples_of(set);
    const Json values = json.at("per_example");
    if (examples.empty() || examples.size() != values.size()) return json;
    for (std::size_t i = 0; i < examples.size(); ++i) examples[i].update({{"example", i + 1}, {"value", values[i]}});
    json["examples"] = std::move(examples);
    return json;
}

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
    if (const auto* pairs = std::get_if<PairData>(&set.data)) return with_examples(set, values_of(*pairs, embedder, routes));
    if (const auto* bitext = std::get_if<BitextData>(&set.data)) return with_examples(set, values_of(*bitext, embedder, routes));
    return with_examples(set, {{"per_example", result.per_example}, {"per_example_of", result.metric}});
}

}  // namespace faceter::worker
