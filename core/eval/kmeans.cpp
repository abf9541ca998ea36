#include "eval/kmeans.h"

#include <ATen/Parallel.h>
#include <ATen/ops/mm.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "common/error.h"
#include "common/random.h"
#include "eval/products.h"

namespace faceter {
namespace {

constexpr std::int64_t assign_chunk = 4096;  // rows whose products with the centres are held at a time

/// Centres [K, D] in float32 and their squared lengths.
struct Centres {
    std::vector<float> values;
    std::int64_t count = 0, dim = 0;

    FeatureMatrix matrix() const { return {values.data(), count, dim}; }
    float* row(std::int64_t k) { return values.data() + k * dim; }
};

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

/// Nearest centre of every row and the squared distance to it: |x|^2 - 2 x.c + |c|^2.
struct Assignment {
    std::vector<std::int32_t> labels;
    std::vector<float> distances;
    double inertia() const { return std::accumulate(distances.begin(), distances.end(), 0.0); }
};

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

/// The given rows, copied one after the other.
std::vector<float> gather(const FeatureMatrix& features, const std::vector<std::size_t>& rows) {
    std::vector<float> copy(rows.size() * static_cast<std::size_t>(features.dim));
    for (std::size_t i = 0; i < rows.size(); ++i)
        std::copy_n(features.data + static_cast<std::int64_t>(rows[i]) * features.dim, features.dim,
                    copy.data() + static_cast<std::int64_t>(i) * features.dim);
    return copy;
}

std::vector<std::size_t> draw_with_replacement(RandomStream& random, std::int64_t total, std::int64_t count) {
    std::vector<std::size_t> rows(static_cast<std::size_t>(count));
    for (auto& row : rows) row = random.below(static_cast<std::uint64_t>(total));
    return rows;
}

/// k-means++ with several candidates a step, the best of which is taken (Arthur and Vassilvitskii 2007; scikit-learn takes 2 + log K).
class PlusPlus {
  public:
    PlusPlus(const FeatureMatrix& features, const std::vector<float>& lengths, RandomStream& random)
        : features_(features), lengths_(lengths), random_(random), nearest_(lengths.size(), std::numeric_limits<float>::infinity()) {}

    Centres run(std::int64_t num_clusters) {
        Centres centres{{}, 0, features_.dim};
        const auto trials = static_cast<std::int64_t>(2 + std::log(static_cast<double>(num_clusters)));
        append(centres, random_.below(static_cast<std::uint64_t>(features_.rows)));
        while (centres.count < num_clusters) append(centres, best_candidate(trials));
        return centres;
    }

  private:
    void append(Centres& centres, std::size_t row) {
        const auto values = gather(features_, {row});
        centres.values.insert(centres.values.end(), values.begin(), values.end());
        ++centres.count;
        nearest_ = nearest_with(row);
        potential_ = std::accumulate(nearest_.begin(), nearest_.end(), 0.0);
    }

    std::size_t best_candidate(std::int64_t trials) {
        std::size_t best = 0;
        double least = std::numeric_limits<double>::infinity();
        for (std::int64_t t = 0; t < trials; ++t) {
            const std::size_t candidate = draw_by_distance();
            const auto with = nearest_with(candidate);
            const double potential = std::accumulate(with.begin(), with.end(), 0.0);
            if (potential < least) {
                least = potential;
                best = candidate;
            }
        }
        return best;
    }

    /// A row with a chance in proportion to its squared distance from the nearest centre.
    std::size_t draw_by_distance() {
        double left = random_.uniform() * potential_;
        for (std::size_t i = 0; i < nearest_.size(); ++i) {
            left -= nearest_[i];
            if (left < 0) return i;
        }
        return nearest_.size() - 1;
    }

    /// Squared distances to the nearest centre if `row` were one.
    std::vector<float> nearest_with(std::size_t row) const {
        std::vector<float> nearest(nearest_.size());
        const float* centre = features_.data + static_cast<std::int64_t>(row) * features_.dim;
        const at::Tensor product = at::mm(view_of(features_), view_of({centre, 1, features_.dim}).t());
        const float* dots = product.const_data_ptr<float>();
        for (std::size_t i = 0; i < nearest.size(); ++i)
            nearest[i] = std::min(nearest_[i], std::max(0.0f, lengths_[i] + lengths_[row] - 2 * dots[i]));
        nearest[row] = 0;
        return nearest;
    }

    const FeatureMatrix& features_;
    const std::vector<float>& lengths_;
    RandomStream& random_;
    std::vector<float> nearest_;
    double potential_ = 0;
};

/// k-means++ on `sample_size` rows drawn with replacement (all rows where that is no fewer).
Centres start_centres(const FeatureMatrix& features, std::int64_t sample_size, std::int64_t num_clusters, RandomStream& random) {
    if (sample_size >= features.rows) {
        const auto lengths = squared_lengths(features);
        return PlusPlus(features, lengths, random).run(num_clusters);
    }
    const auto copy = gather(features, draw_with_replacement(random, features.rows, sample_size));
    const FeatureMatrix sample{copy.data(), sample_size, features.dim};
    const auto lengths = squared_lengths(sample);
    return PlusPlus(sample, lengths, random).run(num_clusters);
}

void check(const FeatureMatrix& features, const KMeansOptions& options) {
    check_features(features, "k-means");
    if (options.num_clusters < 1 || options.num_starts < 1 || options.max_iterations < 1 || options.batch_size < 1)
        throw usage_error("k-means needs at least one cluster, start, iteration and example in a batch; found {}, {}, {} and {}",
                          options.num_clusters, options.num_starts, options.max_iterations, options.batch_size);
    if (features.rows < options.num_clusters)
        throw data_error("k-means into {} clusters needs at least as many examples, found {}", options.num_clusters, features.rows);
}

KMeansResult finish(const FeatureMatrix& features, const std::vector<float>& lengths, Centres centres, int iterations) {
    auto assignment = assign(features, lengths, centres);
    KMeansResult result;
    result.inertia = assignment.inertia();
    result.labels = std::move(assignment.labels);
    result.centres = std::move(centres.values);
    result.iterations = iterations;
    return result;
}

// ---- Lloyd

/// Sums and counts of the rows of each cluster, in double and in the order of the rows.
struct Means {
    std::vector<double> sums, counts;
};

Means sum_clusters(const FeatureMatrix& rows, const std::vector<std::int32_t>& labels, std::int64_t num_clusters) {
    Means means{std::vector<double>(static_cast<std::size_t>(num_clusters * rows.dim)),
                std::vector<double>(static_cast<std::size_t>(num_clusters))};
    for (std::int64_t r = 0; r < rows.rows; ++r) {
        const std::int64_t k = labels[static_cast<std::size_t>(r)];
        means.counts[static_cast<std::size_t>(k)] += 1;
        double* sum = means.sums.data() + k * rows.dim;
        for (std::int64_t d = 0; d < rows.dim; ++d) sum[d] += rows.data[r * rows.dim + d];
    }
    return means;
}

/// A cluster without a row gets the row that lies furthest from its centre, which leaves its own cluster.
void fill_empty(const FeatureMatrix& rows, Assignment& a, Means& means) {
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

/// Moves the centres to the means and returns how far they went, squared.
double move_to_means(Centres& centres, const Means& means) {
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
    return finish(features, lengths, std::move(centres), iteration);
}

// ---- Mini batches

/// One run of mini-batch k-means from given centres.
class MiniBatches {
  public:
    MiniBatches(const FeatureMatrix& features, Centres centres, const KMeansOptions& options, RandomStream& random)
        : features_(features),
          centres_(std::move(centres)),
          options_(options),
          random_(random),
          batch_size_(std::min(options.batch_size, features.rows)),
          counts_(static_cast<std::size_t>(centres_.count)) {}

    Centres run(int& batches) {
        const std::int64_t num_batches = std::max<std::int64_t>(1, options_.max_iterations * features_.rows / batch_size_);
        for (std::int64_t i = 0; i < num_batches; ++i) {
            ++batches;
            const double inertia = step() / static_cast<double>(batch_size_);
            if (i > 0 && no_longer_improves(inertia)) break;  // the first is that of the start centres
        }
        return std::move(centres_);
    }

  private:
    /// Assigns a batch, moves the centres to the streaming means, and returns the inertia before the move.
    double step() {
        const auto rows = gather(features_, draw_with_replacement(random_, features_.rows, batch_size_));
        const FeatureMatrix batch{rows.data(), batch_size_, features_.dim};
        const auto assignment = assign(batch, squared_lengths(batch), centres_);
        Means means = sum_clusters(batch, assignment.labels, centres_.count);
        for (std::int64_t k = 0; k < centres_.count; ++k) {
            const auto at = static_cast<std::size_t>(k);
            for (std::int64_t d = 0; d < centres_.dim; ++d)
                means.sums[static_cast<std::size_t>(k * centres_.dim + d)] += counts_[at] * static_cast<double>(centres_.row(k)[d]);
            if (means.counts[at] > 0) counts_[at] = means.counts[at] += counts_[at];
        }
        move_to_means(centres_, means);
        if (reassignment_is_due()) reassign(batch);
        return assignment.inertia();
    }

    bool reassignment_is_due() {
        since_reassignment_ += batch_size_;
        const bool any_empty = std::find(counts_.begin(), counts_.end(), 0.0) != counts_.end();
        if (!any_empty && since_reassignment_ < 10 * centres_.count) return false;
        since_reassignment_ = 0;
        return true;
    }

    /// Centres with few points are moved to points of the batch, at most half as many as it has.
    void reassign(const FeatureMatrix& batch) {
        const double limit = options_.reassignment_ratio * *std::max_element(counts_.begin(), counts_.end());
        std::vector<std::size_t> starved;
        double least_fed = std::numeric_limits<double>::infinity();
        for (std::size_t k = 0; k < counts_.size(); ++k)
            if (counts_[k] < limit) starved.push_back(k);
        std::stable_sort(starved.begin(), starved.end(), [&](std::size_t a, std::size_t b) { return counts_[a] < counts_[b]; });
        starved.resize(std::min(starved.size(), static_cast<std::size_t>(batch.rows / 2)));
        if (starved.empty()) return;
        for (std::size_t k = 0; k < counts_.size(); ++k)
            if (std::find(starved.begin(), starved.end(), k) == starved.end()) least_fed = std::min(least_fed, counts_[k]);
        const auto points = random_.sample(static_cast<std::size_t>(batch.rows), starved.size());
        for (std::size_t i = 0; i < starved.size(); ++i) {
            std::copy_n(batch.data + static_cast<std::int64_t>(points[i]) * batch.dim, batch.dim,
                        centres_.row(static_cast<std::int64_t>(starved[i])));
            counts_[starved[i]] = least_fed;
        }
    }

    /// Exponentially smoothed inertia: has it not fallen for a number of batches?
    bool no_longer_improves(double inertia) {
        const double alpha = std::min(1.0, 2.0 * static_cast<double>(batch_size_) / static_cast<double>(features_.rows + 1));
        smoothed_ = std::isnan(smoothed_) ? inertia : smoothed_ * (1 - alpha) + inertia * alpha;
        if (smoothed_ < lowest_) {
            lowest_ = smoothed_;
            without_improvement_ = 0;
        } else {
            ++without_improvement_;
        }
        return without_improvement_ >= options_.max_no_improvement;
    }

    const FeatureMatrix& features_;
    Centres centres_;
    const KMeansOptions& options_;
    RandomStream& random_;
    std::int64_t batch_size_;
    std::vector<double> counts_;
    std::int64_t since_reassignment_ = 0;
    double smoothed_ = std::numeric_limits<double>::quiet_NaN();
    double lowest_ = std::numeric_limits<double>::infinity();
    int without_improvement_ = 0;
};

}  // namespace

KMeansResult kmeans(const FeatureMatrix& features, const KMeansOptions& options) {
    check(features, options);
    RandomStream random(options.seed, "eval.kmeans");
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

KMeansResult mini_batch_kmeans(const FeatureMatrix& features, const KMeansOptions& options) {
    check(features, options);
    RandomStream random(options.seed, "eval.mini_batch_kmeans");
    std::int64_t sample_size = 3 * options.batch_size;
    if (sample_size < options.num_clusters) sample_size = 3 * std::int64_t{options.num_clusters};
    sample_size = std::min(sample_size, features.rows);
    const auto validation_rows = gather(features, draw_with_replacement(random, features.rows, sample_size));
    const FeatureMatrix validation{validation_rows.data(), sample_size, features.dim};
    const auto validation_lengths = squared_lengths(validation);
    Centres best;
    double least = std::numeric_limits<double>::infinity();
    for (int start = 0; start < options.num_starts; ++start) {
        auto centres = start_centres(features, sample_size, options.num_clusters, random);
        const double inertia = assign(validation, validation_lengths, centres).inertia();
        if (start == 0 || inertia < least) {
            least = inertia;
            best = std::move(centres);
        }
    }
    int batches = 0;
    auto centres = MiniBatches(features, std::move(best), options, random).run(batches);
    return finish(features, squared_lengths(features), std::move(centres), batches);
}

}  // namespace faceter
