#include "eval/pair_metrics.h"

#include <algorithm>
#include <cmath>

#include "eval/classification_metrics.h"
#include "stats/correlation.h"

namespace faceter {
namespace {

std::span<const float> row(const FeatureMatrix& matrix, std::uint32_t index) {
    return {matrix.data + static_cast<std::int64_t>(index) * matrix.dim, static_cast<std::size_t>(matrix.dim)};
}

double dot(std::span<const float> a, std::span<const float> b) {
    double sum = 0;
    for (std::size_t d = 0; d < a.size(); ++d) sum += static_cast<double>(a[d]) * b[d];
    return sum;
}

/// 1 - |a/|a| - b/|b||^2 / 2, as scikit-learn takes it: exactly 1 of a vector with itself, where a quotient is 1 but for rounding, which
/// would put pairs of equal texts in some order.
double cosine(std::span<const float> a, std::span<const float> b) {
    const double length_a = std::sqrt(dot(a, a)), length_b = std::sqrt(dot(b, b));
    if (!(length_a > 0 && length_b > 0)) return 0;
    double squares = 0;
    for (std::size_t d = 0; d < a.size(); ++d) {
        const double difference = a[d] / length_a - b[d] / length_b;
        squares += difference * difference;
    }
    return 1 - squares / 2;
}

double euclidean(std::span<const float> a, std::span<const float> b) {
    double sum = 0;
    for (std::size_t d = 0; d < a.size(); ++d) sum += (static_cast<double>(a[d]) - b[d]) * (static_cast<double>(a[d]) - b[d]);
    return std::sqrt(sum);
}

double manhattan(std::span<const float> a, std::span<const float> b) {
    double sum = 0;
    for (std::size_t d = 0; d < a.size(); ++d) sum += std::abs(static_cast<double>(a[d]) - b[d]);
    return sum;
}

}  // namespace

std::string_view pair_measure_name(PairMeasure measure) {
    switch (measure) {
        case PairMeasure::cosine:
            return "cosine";
        case PairMeasure::dot:
            return "dot";
        case PairMeasure::euclidean:
            return "euclidean";
        case PairMeasure::manhattan:
            return "manhattan";
    }
    return "";
}

double pair_similarity(PairMeasure measure, std::span<const float> a, std::span<const float> b) {
    switch (measure) {
        case PairMeasure::cosine:
            return cosine(a, b);
        case PairMeasure::dot:
            return dot(a, b);
        case PairMeasure::euclidean:
            return -euclidean(a, b);
        case PairMeasure::manhattan:
            return -manhattan(a, b);
    }
    return 0;
}

std::vector<double> pair_similarities(PairMeasure measure, const RowPairs& pairs) {
    std::vector<double> similarities;
    similarities.reserve(pairs.first.size());
    for (std::size_t i = 0; i < pairs.first.size(); ++i)
        similarities.push_back(pair_similarity(measure, row(pairs.rows, pairs.first[i]), row(pairs.rows, pairs.second[i])));
    return similarities;
}

std::map<std::string, double> pair_classification_metrics(const RowPairs& pairs, std::span<const std::int32_t> positive) {
    std::map<std::string, double> metrics;
    for (const PairMeasure measure : all_pair_measures) {
        const auto similarities = pair_similarities(measure, pairs);
        const std::string name(pair_measure_name(measure));
        const BestF1 f1 = best_f1(similarities, positive);
        metrics[name + "_ap"] = 100 * average_precision(similarities, positive);
        metrics[name + "_accuracy"] = 100 * best_accuracy(similarities, positive).value;
        metrics[name + "_f1"] = 100 * f1.value;
        metrics[name + "_precision"] = 100 * f1.precision;
        metrics[name + "_recall"] = 100 * f1.recall;
    }
    for (const char* what : {"_ap", "_accuracy", "_f1"}) {
        double highest = 0;
        for (const PairMeasure measure : all_pair_measures)
            highest = std::max(highest, metrics.at(std::string(pair_measure_name(measure)) + what));
        metrics[std::string("max") + what] = highest;
    }
    return metrics;
}

std::map<std::string, double> sts_metrics(const RowPairs& pairs, std::span<const double> scores) {
    std::map<std::string, double> metrics;
    for (const PairMeasure measure : {PairMeasure::cosine, PairMeasure::euclidean, PairMeasure::manhattan}) {
        const auto similarities = pair_similarities(measure, pairs);
        const std::string name(pair_measure_name(measure));
        metrics[name + "_spearman"] = 100 * spearman(similarities, scores).r;
        metrics[name + "_pearson"] = 100 * pearson(similarities, scores).r;
    }
    return metrics;
}

}  // namespace faceter
