#include <ATen/core/Tensor.h>

#include <algorithm>

#include "eval/pair_metrics.h"
#include "eval/tasks.h"
#include "stats/correlation.h"

namespace faceter {
namespace {

bool is_constant(const std::vector<double>& values) {
    return std::all_of(values.begin(), values.end(), [&](double value) { return value == values.front(); });
}

/// Of each machine summary, the highest similarity to a human one.
std::vector<double> best_similarities(PairMeasure measure, const at::Tensor& rows, const SummarisationData::Item& item) {
    const auto row = [&](std::uint32_t text) {
        return std::span<const float>(rows.const_data_ptr<float>() + text * rows.size(1), static_cast<std::size_t>(rows.size(1)));
    };
    std::vector<double> best;
    for (const std::uint32_t machine : item.machine) {
        double highest = -std::numeric_limits<double>::infinity();
        for (const std::uint32_t human : item.human) highest = std::max(highest, pair_similarity(measure, row(machine), row(human)));
        best.push_back(highest);
    }
    return best;
}

/// Per text, the correlation of each machine summary's best similarity to a human one with its relevance; the mean over texts (SummEval). A
/// text whose similarities or relevances are all equal has no correlation and no say.
EvaluationResult evaluate_summarisation(CachedEmbedder& embedder, const EvaluationSet& set, const EvaluationRoutes& routes) {
    const auto& data = std::get<SummarisationData>(set.data);
    const at::Tensor rows = embedder.embed(data.texts.views(), routes.query).contiguous();
    EvaluationResult result;
    result.metric = "cosine_spearman";
    std::map<std::string, std::vector<double>> values;
    for (const auto& item : data.items) {
        const auto cosine = best_similarities(PairMeasure::cosine, rows, item), dot = best_similarities(PairMeasure::dot, rows, item);
        if (is_constant(item.relevance) || is_constant(cosine) || is_constant(dot)) continue;
        values["cosine_spearman"].push_back(spearman(cosine, item.relevance).r);
        values["cosine_pearson"].push_back(pearson(cosine, item.relevance).r);
        values["dot_spearman"].push_back(spearman(dot, item.relevance).r);
        values["dot_pearson"].push_back(pearson(dot, item.relevance).r);
        result.per_example.push_back(100 * values["cosine_spearman"].back());
    }
    for (const auto& [name, correlations] : values) result.metrics[name] = percent(correlations);
    result.n = result.per_example.size();
    result.score = percent(result.per_example) / 100;
    result.settings = {{"texts_without_a_correlation", data.items.size() - result.n}};
    return result;
}

const bool registered = register_task_type("summarisation", evaluate_summarisation);

}  // namespace
}  // namespace faceter
