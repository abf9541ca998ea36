#include "eval/classification_metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <vector>

#include "common/error.h"

namespace faceter {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

void check_sizes(std::size_t a, std::size_t b) {
    if (a != b) throw usage_error("a measure compares sequences of one length, found {} and {}", a, b);
}

bool any_nan(std::span<const double> scores) {
    return std::any_of(scores.begin(), scores.end(), [](double s) { return std::isnan(s); });
}

/// What "score >= threshold is positive" gives at every threshold between different scores, from the highest score down.
struct Cut {
    double taken = 0, hits = 0;  ///< examples called positive, and how many of them are
    double threshold = 0;        ///< half-way to the next lower score
};

std::vector<Cut> cuts(std::span<const double> scores, std::span<const std::int32_t> positive) {
    std::vector<std::size_t> order(scores.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) { return scores[i] > scores[j]; });
    std::vector<Cut> result;
    Cut cut;
    for (std::size_t i = 0; i < order.size(); ++i) {
        cut.taken += 1;
        cut.hits += positive[order[i]] != 0;
        const double score = scores[order[i]];
        const bool is_last = i + 1 == order.size();
        if (!is_last && scores[order[i + 1]] == score) continue;
        cut.threshold = is_last ? score : score / 2 + scores[order[i + 1]] / 2;
        result.push_back(cut);
    }
    return result;
}

/// How often a label is true, predicted, and both.
struct LabelCounts {
    double hits = 0, truths = 0, predictions = 0;
    double f1() const { return 2 * hits / (truths + predictions); }  // 2 tp / (2 tp + fp + fn)
};

std::map<std::int32_t, LabelCounts> count_labels(std::span<const std::int32_t> truth, std::span<const std::int32_t> predicted) {
    check_sizes(truth.size(), predicted.size());
    std::map<std::int32_t, LabelCounts> counts;
    for (std::size_t i = 0; i < truth.size(); ++i) {
        counts[truth[i]].truths += 1;
        counts[predicted[i]].predictions += 1;
        if (truth[i] == predicted[i]) counts[truth[i]].hits += 1;
    }
    return counts;
}

double count_positive(std::span<const std::int32_t> positive) {
    return static_cast<double>(std::count_if(positive.begin(), positive.end(), [](std::int32_t p) { return p != 0; }));
}

}  // namespace

double accuracy(std::span<const std::int32_t> truth, std::span<const std::int32_t> predicted) {
    check_sizes(truth.size(), predicted.size());
    if (truth.empty()) return nan;
    const int equal = std::inner_product(truth.begin(), truth.end(), predicted.begin(), 0, std::plus<>(), std::equal_to<>());
    return static_cast<double>(equal) / static_cast<double>(truth.size());
}

double macro_f1(std::span<const std::int32_t> truth, std::span<const std::int32_t> predicted) {
    const auto counts = count_labels(truth, predicted);
    double sum = 0;
    for (const auto& [label, c] : counts) sum += c.f1();
    return sum / static_cast<double>(counts.size());
}

double weighted_f1(std::span<const std::int32_t> truth, std::span<const std::int32_t> predicted) {
    double sum = 0;
    for (const auto& [label, c] : count_labels(truth, predicted)) sum += c.truths * c.f1();
    return sum / static_cast<double>(truth.size());
}

double average_precision(std::span<const double> scores, std::span<const std::int32_t> positive) {
    check_sizes(scores.size(), positive.size());
    if (scores.empty() || any_nan(scores)) return nan;
    const double total = count_positive(positive);
    if (total == 0) return 0;
    double area = 0, hits_before = 0;  // area: times total, so that positives before all others have exactly 1
    for (const Cut& cut : cuts(scores, positive)) {
        area += (cut.hits - hits_before) * (cut.hits / cut.taken);
        hits_before = cut.hits;
    }
    return area / total;
}

BestThreshold best_accuracy(std::span<const double> scores, std::span<const std::int32_t> positive) {
    check_sizes(scores.size(), positive.size());
    if (scores.empty() || any_nan(scores)) return {nan, nan};
    const auto n = static_cast<double>(scores.size());
    const double negatives = n - count_positive(positive);
    BestThreshold best{negatives / n, inf};
    for (const Cut& cut : cuts(scores, positive)) {
        const double right = cut.hits + negatives - (cut.taken - cut.hits);
        if (right / n > best.value) best = {right / n, cut.threshold};
    }
    return best;
}

BestF1 best_f1(std::span<const double> scores, std::span<const std::int32_t> positive) {
    check_sizes(scores.size(), positive.size());
    if (scores.empty() || any_nan(scores)) return {{nan, nan}, nan, nan};
    const double total = count_positive(positive);
    BestF1 best{{0, inf}, 0, 0};
    for (const Cut& cut : cuts(scores, positive)) {
        const double f1 = 2 * cut.hits / (cut.taken + total);
        if (f1 > best.value) best = {{f1, cut.threshold}, cut.hits / cut.taken, cut.hits / total};
    }
    return best;
}

}  // namespace faceter
