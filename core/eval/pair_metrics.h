#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "eval/feature_matrix.h"

namespace faceter {

/// How alike two embeddings are. Distances are negated, so that more is more alike.
enum class PairMeasure { cosine, dot, euclidean, manhattan };
inline constexpr std::array all_pair_measures{PairMeasure::cosine, PairMeasure::dot, PairMeasure::euclidean, PairMeasure::manhattan};
std::string_view pair_measure_name(PairMeasure measure);

/// Of one pair of vectors, summed in float64. The cosine with a zero vector is 0.
double pair_similarity(PairMeasure measure, std::span<const float> a, std::span<const float> b);

/// Pairs of rows of a matrix.
struct RowPairs {
    FeatureMatrix rows;
    std::span<const std::uint32_t> first, second;
};
/// The similarity of every pair, in their order.
std::vector<double> pair_similarities(PairMeasure measure, const RowPairs& pairs);

/// MTEB's pair classification, percent: MEASURE_ap, MEASURE_f1 (at the best threshold, with its precision and recall), MEASURE_accuracy (at
/// its own best threshold), and max_ap, max_f1, max_accuracy over the measures. `positive`: 0 or 1 a pair.
std::map<std::string, double> pair_classification_metrics(const RowPairs& pairs, std::span<const std::int32_t> positive);

/// MTEB's STS, percent: MEASURE_spearman and MEASURE_pearson for cosine, Euclidean and Manhattan. Constant scores or similarities give NaN.
std::map<std::string, double> sts_metrics(const RowPairs& pairs, std::span<const double> scores);

}  // namespace faceter
