#pragma once
#include <cstdint>
#include <numeric>
#include <vector>

#include "eval/kmeans.h"
#include "eval/numpy_random.h"

// What Lloyd's algorithm and that of mini batches share. Internal to core/eval.

namespace faceter {

/// Centres [K, D] in float32.
struct Centres {
    std::vector<float> values;
    std::int64_t count = 0, dim = 0;

    FeatureMatrix matrix() const { return {values.data(), count, dim}; }
    float* row(std::int64_t k) { return values.data() + k * dim; }
};

std::vector<float> squared_lengths(const FeatureMatrix& m);

/// Nearest centre of every row and the squared distance to it: |x|^2 - 2 x.c + |c|^2.
struct Assignment {
    std::vector<std::int32_t> labels;
    std::vector<float> distances;
    double inertia() const { return std::accumulate(distances.begin(), distances.end(), 0.0); }
};
/// `lengths` are the rows' squared lengths. Of equally near centres the first is taken.
Assignment assign(const FeatureMatrix& rows, const std::vector<float>& lengths, const Centres& centres);

/// The given rows, copied one after the other.
std::vector<float> gather(const FeatureMatrix& features, const std::vector<std::size_t>& rows);

/// Sums [K, D] and counts of the rows of each cluster, in double and in the order of the rows.
struct ClusterSums {
    std::vector<double> sums, counts;
};
ClusterSums sum_clusters(const FeatureMatrix& rows, const std::vector<std::int32_t>& labels, std::int64_t num_clusters);
/// Moves the centres to the means and returns how far they went, squared. A centre without a row stays.
double move_to_means(Centres& centres, const ClusterSums& means);

/// k-means++ (Arthur and Vassilvitskii 2007) with 2 + log K candidates a step, the best of which is taken, on `sample_size` rows drawn with
/// replacement (all rows where that is no fewer). Draws, distances and cumulated sums are scikit-learn's, in its precisions.
Centres start_centres(const FeatureMatrix& features, std::int64_t sample_size, std::int64_t num_clusters, NumpyRandom& random);

/// A usage error for options that make no sense, a data error for fewer rows than clusters or numbers that are not finite.
void check_clustering(const FeatureMatrix& features, const KMeansOptions& options);
/// Every row to its nearest centre, as the result.
KMeansResult finish_clustering(const FeatureMatrix& features, Centres centres, int iterations);

}  // namespace faceter
