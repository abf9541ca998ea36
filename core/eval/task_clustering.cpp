#include <ATen/ATen.h>

#include "eval/clustering_metrics.h"
#include "eval/kmeans.h"
#include "eval/tasks.h"

namespace faceter {
namespace {

constexpr int num_draws = 5;

/// V-measure of mini-batch k-means with k = number of labels, mean over sets (MTEB); the mean of several seeds, since one moves by points.
EvaluationResult evaluate_clustering(CachedEmbedder& embedder, const EvaluationSet& set, const EvaluationRoutes& routes) {
    const auto& data = std::get<ClusteringData>(set.data);
    EvaluationResult result;
    result.metric = "v_measure";
    std::vector<at::Tensor> embeddings;
    for (const auto& part : data.sets) {
        embeddings.push_back(embedder.embed(part.texts.views(), routes.query));
        result.n += part.labels.size();
    }
    result.per_example.assign(data.sets.size(), 0);
    for (int draw = 0; draw < num_draws; ++draw) {
        std::vector<double> scores;
        for (std::size_t s = 0; s < data.sets.size(); ++s) {
            KMeansOptions options;
            options.num_clusters = data.sets[s].num_labels;
            options.seed = static_cast<std::uint32_t>(draw);
            const auto clusters =
                mini_batch_kmeans({embeddings[s].data_ptr<float>(), embeddings[s].size(0), embeddings[s].size(1)}, options);
            scores.push_back(cluster_agreement(data.sets[s].labels, clusters.labels).v_measure);
            result.per_example[s] += 100 * scores.back() / num_draws;
        }
        result.draws.push_back(percent(scores));
    }
    result.score = percent(result.draws) / 100;
    result.settings = {{"sets", data.sets.size()}, {"draws", num_draws}, {"batch_size", 500}};
    return result;
}

const bool registered = register_task_type("clustering", evaluate_clustering);

}  // namespace
}  // namespace faceter
