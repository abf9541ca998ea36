#include <algorithm>
#include <cmath>
#include <limits>

#include "eval/kmeans_parts.h"

// scikit-learn's MiniBatchKMeans, decision for decision and draw for draw: the seeds of a protocol give its very clusters but for rounding.

namespace faceter {
namespace {

/// One run from given centres.
class MiniBatches {
  public:
    MiniBatches(const FeatureMatrix& features, Centres centres, const KMeansOptions& options, NumpyRandom& random)
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
        const auto rows =
            gather(features_, random_.choose(static_cast<std::size_t>(features_.rows), static_cast<std::size_t>(batch_size_)));
        const FeatureMatrix batch{rows.data(), batch_size_, features_.dim};
        const bool reassignment_due = reassignment_is_due();  // by the counts before this batch: always at the first
        const auto assignment = assign(batch, squared_lengths(batch), centres_);
        ClusterSums means = sum_clusters(batch, assignment.labels, centres_.count);
        for (std::int64_t k = 0; k < centres_.count; ++k) {
            const auto at = static_cast<std::size_t>(k);
            for (std::int64_t d = 0; d < centres_.dim; ++d)
                means.sums[static_cast<std::size_t>(k * centres_.dim + d)] += counts_[at] * static_cast<double>(centres_.row(k)[d]);
            if (means.counts[at] > 0) counts_[at] = means.counts[at] += counts_[at];
        }
        move_to_means(centres_, means);
        if (reassignment_due) reassign(batch);
        return assignment.inertia();
    }

    bool reassignment_is_due() {
        since_reassignment_ += batch_size_;
        const bool any_empty = std::find(counts_.begin(), counts_.end(), 0.0) != counts_.end();
        if (!any_empty && since_reassignment_ < 10 * centres_.count) return false;
        since_reassignment_ = 0;
        return true;
    }

    /// Centres with few points, the poorest where they are more than half of the batch, by index.
    std::vector<std::size_t> starved_centres() const {
        const double limit = options_.reassignment_ratio * *std::max_element(counts_.begin(), counts_.end());
        std::vector<std::size_t> starved;
        for (std::size_t k = 0; k < counts_.size(); ++k)
            if (counts_[k] < limit) starved.push_back(k);
        std::stable_sort(starved.begin(), starved.end(), [&](std::size_t a, std::size_t b) { return counts_[a] < counts_[b]; });
        starved.resize(std::min(starved.size(), static_cast<std::size_t>(batch_size_ / 2)));
        std::sort(starved.begin(), starved.end());
        return starved;
    }

    /// Moves starved centres to points of the batch. They get the smallest count of the others, or the next reassignment would take them
    /// again.
    void reassign(const FeatureMatrix& batch) {
        const auto starved = starved_centres();
        if (starved.empty()) return;
        const auto points = random_.choose_different(static_cast<std::size_t>(batch.rows), starved.size());
        double least_fed = std::numeric_limits<double>::infinity();
        for (std::size_t k = 0; k < counts_.size(); ++k)
            if (!std::binary_search(starved.begin(), starved.end(), k)) least_fed = std::min(least_fed, counts_[k]);
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
    NumpyRandom& random_;
    std::int64_t batch_size_;
    std::vector<double> counts_;
    std::int64_t since_reassignment_ = 0;
    double smoothed_ = std::numeric_limits<double>::quiet_NaN();
    double lowest_ = std::numeric_limits<double>::infinity();
    int without_improvement_ = 0;
};

/// Rows that the start centres are chosen from.
std::int64_t start_sample_size(std::int64_t num_rows, const KMeansOptions& options) {
    std::int64_t size = 3 * std::min(options.batch_size, num_rows);
    if (size < options.num_clusters) size = 3 * std::int64_t{options.num_clusters};
    return std::min(size, num_rows);
}

/// The best of several starts, by the inertia of other rows.
Centres best_start(const FeatureMatrix& features, const KMeansOptions& options, NumpyRandom& random) {
    const std::int64_t sample_size = start_sample_size(features.rows, options);
    std::vector<std::size_t> validation(static_cast<std::size_t>(sample_size));
    for (auto& row : validation) row = random.below(static_cast<std::uint64_t>(features.rows));  // drawn even for a single start
    if (options.num_starts == 1) return start_centres(features, sample_size, options.num_clusters, random);
    const auto copy = gather(features, validation);
    const FeatureMatrix rows{copy.data(), sample_size, features.dim};
    const auto lengths = squared_lengths(rows);
    Centres best;
    double least = std::numeric_limits<double>::infinity();
    for (int start = 0; start < options.num_starts; ++start) {
        auto centres = start_centres(features, sample_size, options.num_clusters, random);
        const double inertia = assign(rows, lengths, centres).inertia();
        if (start > 0 && inertia >= least) continue;
        least = inertia;
        best = std::move(centres);
    }
    return best;
}

}  // namespace

KMeansResult mini_batch_kmeans(const FeatureMatrix& features, const KMeansOptions& options) {
    check_clustering(features, options);
    NumpyRandom random(options.seed);
    Centres start = best_start(features, options, random);
    int batches = 0;
    auto centres = MiniBatches(features, std::move(start), options, random).run(batches);
    return finish_clustering(features, std::move(centres), batches);
}

}  // namespace faceter
