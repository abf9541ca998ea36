#pragma once
#include <cstdint>
#include <span>

namespace faceter {

// All take parallel sequences; different sizes are a usage error, empty ones give NaN.

/// Share of equal labels.
double accuracy(std::span<const std::int32_t> truth, std::span<const std::int32_t> predicted);
/// Mean over the labels that occur in either of F1 = 2 tp / (2 tp + fp + fn) (scikit-learn's f1_score(average="macro")).
double macro_f1(std::span<const std::int32_t> truth, std::span<const std::int32_t> predicted);
/// The same, weighted by how often a label occurs among the true ones (average="weighted").
double weighted_f1(std::span<const std::int32_t> truth, std::span<const std::int32_t> predicted);
/// Sum over thresholds of (R_n - R_(n-1)) P_n; equal scores form one threshold (scikit-learn's average_precision_score). 0 without a
/// positive, NaN with a NaN among the scores.
double average_precision(std::span<const double> scores, std::span<const std::int32_t> positive);

/// The best value of a measure over thresholds "score >= threshold is positive" (sentence-transformers' BinaryClassificationEvaluator). The
/// threshold lies half-way between the scores on its two sides.
struct BestThreshold {
    double value = 0, threshold = 0;
};
/// Highest accuracy; "all negative" is a choice too, with threshold = +inf.
BestThreshold best_accuracy(std::span<const double> scores, std::span<const std::int32_t> positive);
struct BestF1 : BestThreshold {
    double precision = 0, recall = 0;  ///< at the threshold
};
/// Highest F1 of the positives; value 0 without a positive.
BestF1 best_f1(std::span<const double> scores, std::span<const std::int32_t> positive);

}  // namespace faceter
