#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>

#include <cmath>

#include "eval/clustering_metrics.h"
#include "eval/kmeans.h"
#include "eval/tasks.h"
#include "stats/descriptive.h"

namespace faceter {
namespace {

constexpr int num_draws = 5;

double v_measure(const at::Tensor& rows, const ClusteringData::Set& part, std::int64_t seed) {
    KMeansOptions options;
    options.num_clusters = part.num_labels;
    options.seed = static_cast<std::uint32_t>(seed);
    const auto clusters = mini_batch_kmeans({rows.const_data_ptr<float>(), rows.size(0), rows.size(1)}, options);
    return cluster_agreement(part.labels, clusters.labels).v_measure;
}

/// MTEB's, which is numpy's: of these sets, not of those that they stand for.
double deviation_over_sets(const std::vector<double>& scores) {
    const auto n = static_cast<double>(scores.size());
    return standard_deviation(scores) * std::sqrt((n - 1) / n);
}

/// V-measure of mini-batch k-means with k = number of labels, mean over sets (MTEB); the mean of several seeds, since one moves by points.
/// A batch is too small to share out among threads, so each thread takes whole clusterings; the score does not depend on their number.
EvaluationResult evaluate_clustering(CachedEmbedder& embedder, const EvaluationSet& set, const EvaluationRoutes& routes) {
    const auto& data = std::get<ClusteringData>(set.data);
    const auto num_sets = static_cast<std::int64_t>(data.sets.size());
    EvaluationResult result;
    result.metric = "v_measure";
    std::vector<at::Tensor> embeddings;
    for (const auto& part : data.sets) {
        embeddings.push_back(embedder.embed(part.texts.views(), routes.query));
        result.n += part.labels.size();
    }
    std::vector<double> scores(num_draws * data.sets.size());  // [draws, sets]
    at::parallel_for(0, num_draws * num_sets, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
            const auto part = static_cast<std::size_t>(i % num_sets);
            scores[static_cast<std::size_t>(i)] = v_measure(embeddings[part], data.sets[part], i / num_sets);
        }
    });
    result.per_example.assign(data.sets.size(), 0);
    for (auto draw = scores.begin(); draw != scores.end(); draw += num_sets) {
        result.draws.push_back(percent({draw, draw + num_sets}));
        for (std::size_t s = 0; s < data.sets.size(); ++s) result.per_example[s] += 100 * draw[static_cast<std::ptrdiff_t>(s)] / num_draws;
    }
    result.score = percent(result.draws) / 100;
    result.metrics = {{"v_measure", result.score}};
    if (data.sets.size() > 1) result.metrics["v_measure_std"] = deviation_over_sets(result.per_example);
    result.settings = {{"sets", data.sets.size()}, {"draws", num_draws}, {"batch_size", 500}};
    return result;
}

const bool registered = register_task_type("clustering", evaluate_clustering);

}  // namespace
}  // namespace faceter
