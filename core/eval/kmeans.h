#pragma once
#include <cstdint>
#include <vector>

#include "eval/feature_matrix.h"

namespace faceter {

struct KMeansOptions {
    int num_clusters = 8;
    int num_starts = 1;        ///< scikit-learn's "auto" for k-means++
    int max_iterations = 100;  ///< full Lloyd: iterations; mini batches: passes over the data
    double tolerance = 1e-4;   ///< Lloyd only: squared movement of the centres relative to the mean variance of a feature
    std::uint32_t seed = 0;    ///< of numpy's RandomState
    // mini batches only
    std::int64_t batch_size = 500;
    int max_no_improvement = 10;       ///< batches without a lower smoothed inertia before it stops
    double reassignment_ratio = 0.01;  ///< centres with less than this share of the largest count are moved to random points
};

struct KMeansResult {
    std::vector<std::int32_t> labels;  ///< of the rows, below num_clusters
    std::vector<float> centres;        ///< [num_clusters, dim]
    double inertia = 0;                ///< sum of squared distances to the nearest centre
    int iterations = 0;                ///< full: Lloyd iterations; mini batches: batches
};

/// Lloyd's algorithm from k-means++ starts (Arthur and Vassilvitskii 2007). Distances are computed in chunks: memory is bounded by a chunk.
/// A data error where there are fewer rows than clusters, or a number is not finite.
KMeansResult kmeans(const FeatureMatrix& features, const KMeansOptions& options);
/// Mini-batch k-means (Sculley 2010) as scikit-learn 1.9's MiniBatchKMeans(random_state=seed) has it, with the same draws: batches drawn
/// with replacement, streaming means, reassignment of starved centres, stop on a smoothed inertia that no longer falls. MTEB's clustering
/// uses it with batches of 500.
KMeansResult mini_batch_kmeans(const FeatureMatrix& features, const KMeansOptions& options);

}  // namespace faceter
