#include "eval/kmeans_parts.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/error.h"
#include "eval/products.h"

namespace faceter {
namespace {

constexpr std::int64_t assign_chunk = 4096;  // rows whose products with the centres are held at a time

class PlusPlus {
  public:
    PlusPlus(const FeatureMatrix& features, NumpyRandom& random)
        : features_(features),
          rows_(view_of(features).to(at::kDouble)),
          lengths_((rows_ * rows_).sum(1)),
          random_(random),
          nearest_(static_cast<std::size_t>(features.rows), std::numeric_limits<float>::infinity()) {}

    Centres run(std::int64_t num_clusters) {
        const auto num_trials = static_cast<std::size_t>(2 + std::log(static_cast<double>(num_clusters)));
        std::vector<std::size_t> chosen;
        take_best(random_.choose(nearest_.size(), 1), chosen);
        while (static_cast<std::int64_t>(chosen.size()) < num_clusters) take_best(draw_by_distance(num_trials), chosen);
        return {gather(features_, chosen), num_clusters, features_.dim};
    }

  private:
    /// Rows with a chance in proportion to their squared distance from the nearest centre.
    std::vector<std::size_t> draw_by_distance(std::size_t count) {
        std::vector<float> cumulated(nearest_.size());
        std::partial_sum(nearest_.begin(), nearest_.end(), cumulated.begin());
        std::vector<std::size_t> drawn(count);
        for (auto& row : drawn) {
            const double wanted = random_.uniform() * static_cast<double>(potential_);
            const auto at = std::lower_bound(cumulated.begin(), cumulated.end(), wanted,
                                             [](float sum, double value) { return static_cast<double>(sum) < value; });
            row = std::min(static_cast<std::size_t>(at - cumulated.begin()), nearest_.size() - 1);
        }
        return drawn;
    }

    /// Adds the candidate that leaves the smallest sum of squared distances.
    void take_best(const std::vector<std::size_t>& candidates, std::vector<std::size_t>& chosen) {
        const at::Tensor distances = distances_to(candidates);  // [C, N]
        std::vector<float> best;
        std::size_t best_candidate = 0;
        float least = std::numeric_limits<float>::infinity();
        for (std::size_t c = 0; c < candidates.size(); ++c) {
            const double* to = distances.const_data_ptr<double>() + c * nearest_.size();
            std::vector<float> nearest(nearest_.size());
            for (std::size_t i = 0; i < nearest.size(); ++i) nearest[i] = std::min(nearest_[i], static_cast<float>(std::max(0.0, to[i])));
            const auto potential = static_cast<float>(std::accumulate(nearest.begin(), nearest.end(), 0.0));
            if (c > 0 && potential >= least) continue;
            least = potential;
            best = std::move(nearest);
            best_candidate = candidates[c];
        }
        nearest_ = std::move(best);
        potential_ = least;
        chosen.push_back(best_candidate);
    }

    /// Squared, in float64: in float32 a row would have a distance, and so a chance, even where it is a centre.
    at::Tensor distances_to(const std::vector<std::size_t>& candidates) const {
        const std::vector<std::int64_t> rows(candidates.begin(), candidates.end());
        const at::Tensor index = at::tensor(at::ArrayRef<std::int64_t>(rows));
        const at::Tensor products = at::mm(rows_.index_select(0, index), rows_.t());
        return (lengths_.index_select(0, index).unsqueeze(1) - 2 * products + lengths_.unsqueeze(0)).contiguous();
    }

    const FeatureMatrix& features_;
    at::Tensor rows_, lengths_;  // [N, D], [N]
    NumpyRandom& random_;
    std::vector<float> nearest_;  // squared distance of each row to its nearest centre
    float potential_ = 0;         // their sum
};

}  // namespace

std::vector<float> squared_lengths(const FeatureMatrix& m) {
    std::vector<float> lengths(static_cast<std::size_t>(m.rows));
    at::parallel_for(0, m.rows, 512, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t r = begin; r < end; ++r) {
            double sum = 0;
            for (std::int64_t d = 0; d < m.dim; ++d) sum += static_cast<double>(m.data[r * m.dim + d]) * m.data[r * m.dim + d];
            lengths[static_cast<std::size_t>(r)] = static_cast<float>(sum);
        }
    });
    return lengths;
}

Assignment assign(const FeatureMatrix& rows, const std::vector<float>& lengths, const Centres& centres) {
    Assignment a{std::vector<std::int32_t>(lengths.size()), std::vector<float>(lengths.size())};
    const auto centre_lengths = squared_lengths(centres.matrix());
    const at::Tensor centres_t = view_of(centres.matrix()).t();  // [D, K]
    for (std::int64_t first = 0; first < rows.rows; first += assign_chunk) {
        const auto chunk = rows_of(rows, first, std::min(assign_chunk, rows.rows - first));
        const at::Tensor product = at::mm(view_of(chunk), centres_t);  // [chunk, K]
        const float* dots = product.const_data_ptr<float>();
        at::parallel_for(0, chunk.rows, 256, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t r = begin; r < end; ++r) {
                std::int64_t best = 0;
                float least = std::numeric_limits<float>::infinity();
                for (std::int64_t k = 0; k < centres.count; ++k) {
                    const float distance = centre_lengths[static_cast<std::size_t>(k)] - 2 * dots[r * centres.count + k];
                    if (distance < least) {
                        least = distance;
                        best = k;
                    }
                }
                const auto at = static_cast<std::size_t>(first + r);
                a.labels[at] = static_cast<std::int32_t>(best);
                a.distances[at] = std::max(0.0f, lengths[at] + least);
            }
        });
    }
    return a;
}

std::vector<float> gather(const FeatureMatrix& features, const std::vector<std::size_t>& rows) {
    std::vector<float> copy(rows.size() * static_cast<std::size_t>(features.dim));
    for (std::size_t i = 0; i < rows.size(); ++i)
        std::copy_n(features.data + static_cast<std::int64_t>(rows[i]) * features.dim, features.dim,
                    copy.data() + static_cast<std::int64_t>(i) * features.dim);
    return copy;
}

ClusterSums sum_clusters(const FeatureMatrix& rows, const std::vector<std::int32_t>& labels, std::int64_t num_clusters) {
    ClusterSums means{std::vector<double>(static_cast<std::size_t>(num_clusters * rows.dim)),
                      std::vector<double>(static_cast<std::size_t>(num_clusters))};
    for (std::int64_t r = 0; r < rows.rows; ++r) {
        const std::int64_t k = labels[static_cast<std::size_t>(r)];
        means.counts[static_cast<std::size_t>(k)] += 1;
        double* sum = means.sums.data() + k * rows.dim;
        for (std::int64_t d = 0; d < rows.dim; ++d) sum[d] += rows.data[r * rows.dim + d];
    }
    return means;
}

double move_to_means(Centres& centres, const ClusterSums& means) {
    double movement = 0;
    for (std::int64_t k = 0; k < centres.count; ++k) {
        const double count = means.counts[static_cast<std::size_t>(k)];
        if (count <= 0) continue;
        for (std::int64_t d = 0; d < centres.dim; ++d) {
            const auto value = static_cast<float>(means.sums[static_cast<std::size_t>(k * centres.dim + d)] / count);
            const double step = static_cast<double>(value) - centres.row(k)[d];
            movement += step * step;
            centres.row(k)[d] = value;
        }
    }
    return movement;
}

Centres start_centres(const FeatureMatrix& features, std::int64_t sample_size, std::int64_t num_clusters, NumpyRandom& random) {
    if (sample_size >= features.rows) return PlusPlus(features, random).run(num_clusters);
    std::vector<std::size_t> sample(static_cast<std::size_t>(sample_size));
    for (auto& row : sample) row = random.below(static_cast<std::uint64_t>(features.rows));
    const auto copy = gather(features, sample);
    const FeatureMatrix rows{copy.data(), sample_size, features.dim};
    return PlusPlus(rows, random).run(num_clusters);
}

void check_clustering(const FeatureMatrix& features, const KMeansOptions& options) {
    check_features(features, "k-means");
    if (options.num_clusters < 1 || options.num_starts < 1 || options.max_iterations < 1 || options.batch_size < 1)
        throw usage_error("k-means needs at least one cluster, start, iteration and example in a batch; found {}, {}, {} and {}",
                          options.num_clusters, options.num_starts, options.max_iterations, options.batch_size);
    if (features.rows < options.num_clusters)
        throw data_error("k-means into {} clusters needs at least as many examples, found {}", options.num_clusters, features.rows);
}

KMeansResult finish_clustering(const FeatureMatrix& features, Centres centres, int iterations) {
    auto assignment = assign(features, squared_lengths(features), centres);
    KMeansResult result;
    result.inertia = assignment.inertia();
    result.labels = std::move(assignment.labels);
    result.centres = std::move(centres.values);
    result.iterations = iterations;
    return result;
}

}  // namespace faceter
