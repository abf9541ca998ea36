#include "eval/kmeans.h"

#include <algorithm>

#include "eval/kmeans_parts.h"

// Lloyd's algorithm.

namespace faceter {
namespace {

/// A cluster without a row gets the row that lies furthest from its centre, which leaves its own cluster.
void fill_empty(const FeatureMatrix& rows, Assignment& a, ClusterSums& means) {
    for (std::size_t k = 0; k < means.counts.size(); ++k) {
        if (means.counts[k] > 0) continue;
        const auto far = static_cast<std::size_t>(std::max_element(a.distances.begin(), a.distances.end()) - a.distances.begin());
        const auto from = static_cast<std::size_t>(a.labels[far]);
        const float* row = rows.data + static_cast<std::int64_t>(far) * rows.dim;
        for (std::int64_t d = 0; d < rows.dim; ++d) {
            means.sums[from * static_cast<std::size_t>(rows.dim) + static_cast<std::size_t>(d)] -= row[d];
            means.sums[k * static_cast<std::size_t>(rows.dim) + static_cast<std::size_t>(d)] += row[d];
        }
        means.counts[from] -= 1;
        means.counts[k] += 1;
        a.labels[far] = static_cast<std::int32_t>(k);
        a.distances[far] = 0;
    }
}

double mean_feature_variance(const FeatureMatrix& m) {
    double total = 0;
    for (std::int64_t d = 0; d < m.dim; ++d) {
        double sum = 0, squares = 0;
        for (std::int64_t r = 0; r < m.rows; ++r) sum += m.data[r * m.dim + d];
        const double centre = sum / static_cast<double>(m.rows);
        for (std::int64_t r = 0; r < m.rows; ++r) squares += (m.data[r * m.dim + d] - centre) * (m.data[r * m.dim + d] - centre);
        total += squares / static_cast<double>(m.rows);
    }
    return total / static_cast<double>(m.dim);
}

KMeansResult lloyd(const FeatureMatrix& features, const std::vector<float>& lengths, Centres centres, const KMeansOptions& options,
                   double movement_limit) {
    std::vector<std::int32_t> labels;
    int iteration = 0;
    while (iteration < options.max_iterations) {
        auto assignment = assign(features, lengths, centres);
        const bool unchanged = assignment.labels == labels;
        ++iteration;
        if (unchanged) break;
        labels = assignment.labels;
        auto means = sum_clusters(features, assignment.labels, centres.count);
        fill_empty(features, assignment, means);
        if (move_to_means(centres, means) <= movement_limit) break;
    }
    return finish_clustering(features, std::move(centres), iteration);
}

}  // namespace

KMeansResult kmeans(const FeatureMatrix& features, const KMeansOptions& options) {
    check_clustering(features, options);
    NumpyRandom random(options.seed);
    const auto lengths = squared_lengths(features);
    const double movement_limit = options.tolerance * mean_feature_variance(features);
    KMeansResult best;
    for (int start = 0; start < options.num_starts; ++start) {
        auto centres = start_centres(features, features.rows, options.num_clusters, random);
        auto result = lloyd(features, lengths, std::move(centres), options, movement_limit);
        if (start == 0 || result.inertia < best.inertia) best = std::move(result);
    }
    return best;
}

}  // namespace faceter
