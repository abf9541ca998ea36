#pragma once
#include <cstdint>
#include <span>

namespace faceter {

/// Bitext mining (MTEB's BitextMiningEvaluator): sentence i belongs with translation i; `nearest[i]` is the translation found for it.
/// Measures are weighted means over translations (scikit-learn's average="weighted", zero_division=0). NaN for none.
struct BitextScores {
    double f1 = 0, precision = 0, recall = 0;  ///< recall is the accuracy, too
};
BitextScores bitext_scores(std::span<const std::uint32_t> nearest);

}  // namespace faceter
