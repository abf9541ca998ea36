#include "checkpoint/relative_position.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace faceter {

std::int64_t relative_bucket(std::int64_t distance, std::int64_t buckets, std::int64_t max_distance) {
    const std::int64_t half = buckets / 2, exact = half / 2, side = distance > 0 ? half : 0, away = std::abs(distance);
    if (away < exact) return side + away;
    const float share = std::log(static_cast<float>(away) / static_cast<float>(exact)) /
                        static_cast<float>(std::log(static_cast<double>(max_distance) / static_cast<double>(exact)));
    const auto bucket = exact + static_cast<std::int64_t>(share * static_cast<float>(half - exact));
    return side + std::min(bucket, half - 1);
}

float rotary_frequency(std::int64_t i, std::int64_t rotary_dim, const Rotary& rotary) {
    if (!rotary.frequencies.empty()) return rotary.frequencies[static_cast<std::size_t>(i)];
    return 1.0f / std::pow(static_cast<float>(rotary.base), static_cast<float>(2 * i) / static_cast<float>(rotary_dim)) /
           static_cast<float>(rotary.stretch);
}

}  // namespace faceter
