#pragma once
#include <cstdint>
#include <string_view>

namespace faceter {

struct SeriesPoint {
    std::int64_t step = 0;
    double time = 0;  ///< seconds since 1970 by the run's clock
    double value = 0;
    bool operator==(const SeriesPoint&) const = default;
};

/// What a curve is drawn over. `examples` and `tokens` are what training had seen up to a step: sums of the run's series "pairs" and
/// "tokens".
enum class SeriesX { step, examples, tokens, time };

/// The points of one pixel column, or none (count 0). Values in the order of steps.
struct SeriesBucket {
    std::int64_t count = 0;
    std::int64_t first_step = 0, last_step = 0;
    double first = 0, min = 0, max = 0, last = 0, mean = 0;
};

/// What a whole series covers; count 0 where there is nothing.
struct SeriesRange {
    double from = 0, to = 0;  ///< x of the first and of the last point
    double min = 0, max = 0;  ///< of the values
    std::int64_t count = 0;
};

}  // namespace faceter
