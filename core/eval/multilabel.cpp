#include "eval/multilabel.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "common/error.h"
#include "eval/numpy_random.h"

namespace faceter {
namespace {

double squared_distance(const float* a, const float* b, std::int64_t dim) {
    double sum = 0;
    for (std::int64_t d = 0; d < dim; ++d) sum += (static_cast<double>(a[d]) - b[d]) * (static_cast<double>(a[d]) - b[d]);
    return sum;
}

std::vector<std::size_t> nearest_rows(const FeatureMatrix& train, const float* row, std::size_t k) {
    std::vector<std::pair<double, std::size_t>> distances;
    for (std::int64_t i = 0; i < train.rows; ++i)
        distances.emplace_back(squared_distance(train.data + i * train.dim, row, train.dim), static_cast<std::size_t>(i));
    std::partial_sort(distances.begin(), distances.begin() + static_cast<std::ptrdiff_t>(k), distances.end());
    std::vector<std::size_t> nearest;
    for (std::size_t i = 0; i < k; ++i) nearest.push_back(distances[i].second);
    return nearest;
}

std::size_t num_shared(const LabelSet& a, const LabelSet& b) {
    LabelSet shared;
    std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(shared));
    return shared.size();
}

/// Mean over the true labels of (true labels ranked at least as high) / (labels ranked at least as high): predicted labels are above the
/// others.
double ranking_precision(const LabelSet& truth, const LabelSet& predicted, std::int32_t num_labels) {
    const std::size_t relevant = truth.size(), hits = num_shared(truth, predicted);
    if (relevant == 0 || relevant == static_cast<std::size_t>(num_labels)) return 1;
    const double above = hits > 0 ? static_cast<double>(hits) / static_cast<double>(predicted.size()) : 0;
    const double below = static_cast<double>(relevant) / num_labels;
    return (static_cast<double>(hits) * above + static_cast<double>(relevant - hits) * below) / static_cast<double>(relevant);
}

/// Labels that count, in order.
LabelSet known(const LabelSet& labels, std::int32_t num_labels) {
    LabelSet kept;
    for (const std::int32_t label : labels)
        if (label >= 0 && label < num_labels) kept.push_back(label);
    return kept;
}

}  // namespace

std::vector<std::vector<std::size_t>> draw_multilabel_training(std::span<const LabelSet> labels, int examples_per_label, int num_draws) {
    NumpyRandom random(42);
    std::int32_t highest = -1;
    for (const LabelSet& one : labels)
        if (!one.empty()) highest = std::max(highest, one.back());
    std::vector<std::vector<std::size_t>> draws;
    for (int d = 0; d < num_draws; ++d) {
        std::vector<std::size_t> order(labels.size()), draw;
        std::iota(order.begin(), order.end(), std::size_t{0});
        random.shuffle(order);
        std::vector<int> taken(static_cast<std::size_t>(highest + 1), 0);
        for (const std::size_t i : order) {
            const LabelSet& own = labels[i];
            if (std::none_of(own.begin(), own.end(),
                             [&](auto label) { return taken[static_cast<std::size_t>(label)] < examples_per_label; }))
                continue;
            draw.push_back(i);
            for (const std::int32_t label : own) ++taken[static_cast<std::size_t>(label)];
        }
        draws.push_back(std::move(draw));
    }
    return draws;
}

std::vector<LabelSet> nearest_neighbour_labels(const FeatureMatrix& train, std::span<const LabelSet> labels, const FeatureMatrix& test,
                                               int k) {
    if (static_cast<std::size_t>(train.rows) != labels.size() || train.dim != test.dim)
        throw usage_error("{} training rows of {} numbers, {} label sets, test rows of {} numbers do not fit together", train.rows,
                          train.dim, labels.size(), test.dim);
    if (train.rows < k) throw data_error("{} training texts are too few for the {} nearest neighbours of the protocol", train.rows, k);
    std::vector<LabelSet> predicted(static_cast<std::size_t>(test.rows));
    for (std::int64_t i = 0; i < test.rows; ++i) {
        LabelSet votes;
        for (const std::size_t neighbour : nearest_rows(train, test.data + i * test.dim, static_cast<std::size_t>(k)))
            votes.insert(votes.end(), labels[neighbour].begin(), labels[neighbour].end());
        std::sort(votes.begin(), votes.end());
        for (auto at = votes.begin(); at != votes.end();) {
            const auto end = std::upper_bound(at, votes.end(), *at);
            if (2 * (end - at) > k) predicted[static_cast<std::size_t>(i)].push_back(*at);
            at = end;
        }
    }
    return predicted;
}

MultilabelScores multilabel_scores(std::span<const LabelSet> truth, std::span<const LabelSet> predicted, std::int32_t num_labels) {
    if (truth.size() != predicted.size())
        throw usage_error("a measure compares sequences of one length, found {} and {}", truth.size(), predicted.size());
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    if (truth.empty() || num_labels <= 0) return {nan, nan, nan};
    std::vector<double> hits(static_cast<std::size_t>(num_labels), 0), named = hits;
    MultilabelScores scores;
    for (std::size_t i = 0; i < truth.size(); ++i) {
        const LabelSet yes = known(truth[i], num_labels), said = known(predicted[i], num_labels);
        scores.accuracy += yes == said;
        scores.lrap += ranking_precision(yes, said, num_labels);
        for (const std::int32_t label : yes) named[static_cast<std::size_t>(label)] += 1;
        for (const std::int32_t label : said) {
            named[static_cast<std::size_t>(label)] += 1;
            hits[static_cast<std::size_t>(label)] += std::binary_search(yes.begin(), yes.end(), label);
        }
    }
    const auto n = static_cast<double>(truth.size());
    scores.accuracy /= n;
    scores.lrap /= n;
    for (std::size_t label = 0; label < hits.size(); ++label) scores.macro_f1 += named[label] > 0 ? 2 * hits[label] / named[label] : 0;
    scores.macro_f1 /= num_labels;
    return scores;
}

}  // namespace faceter
