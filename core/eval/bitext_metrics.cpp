#include "eval/bitext_metrics.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace faceter {

BitextScores bitext_scores(std::span<const std::uint32_t> nearest) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    if (nearest.empty()) return {nan, nan, nan};
    std::vector<double> chosen(1 + *std::max_element(nearest.begin(), nearest.end()), 0);
    for (const std::uint32_t translation : nearest) chosen[translation] += 1;
    BitextScores scores;
    for (std::size_t i = 0; i < nearest.size(); ++i) {
        if (nearest[i] != i) continue;  // precision and recall of this translation are 0
        scores.recall += 1;
        scores.precision += 1 / chosen[i];
        scores.f1 += 2 / (chosen[i] + 1);  // 2 tp / (predicted + true), tp = true = 1
    }
    const auto n = static_cast<double>(nearest.size());
    return {scores.f1 / n, scores.precision / n, scores.recall / n};
}

}  // namespace faceter
