#include "figure/ticks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace faceter {
namespace {

/// The smallest of 1, 2, 5 times a power of ten that is not below `least`.
double round_step(double least) {
    const double power = std::pow(10.0, std::floor(std::log10(least)));
    for (const double factor : {1.0, 2.0, 5.0})
        if (factor * power >= least * (1 - 1e-9)) return factor * power;
    return 10 * power;
}

/// "0.25", "12000", "3e-07": as many decimals as the step needs, powers where digits would be many.
std::string tick_label(double value, double step) {
    const double largest = std::max(std::abs(value), step);
    if (largest >= 1e6 || step < 1e-5) return value == 0 ? "0" : fmt::format("{:.3g}", value);
    const int decimals = std::max(0, -static_cast<int>(std::floor(std::log10(step) + 1e-9)));
    return fmt::format("{:.{}f}", value == 0 ? 0.0 : value, decimals);
}

}  // namespace

std::vector<Tick> linear_ticks(double low, double high, int count) {
    std::vector<Tick> ticks;
    if (!std::isfinite(low) || !std::isfinite(high) || !(low < high)) return ticks;
    const double step = round_step((high - low) / std::max(count, 1));
    if (!(step > 0) || !std::isfinite(step)) return ticks;
    const double first = std::ceil(low / step - 1e-9);
    for (int i = 0; i <= 2 * count + 2; ++i) {
        const double value = (first + i) * step;
        if (value > high + 1e-9 * step) break;
        const double shown = std::abs(value) < 1e-9 * step ? 0 : value;
        ticks.push_back({shown, tick_label(shown, step)});
    }
    return ticks;
}

std::vector<Tick> whole_ticks(double low, double high, int count) {
    if (const double size = high - low; size > 1 - 1e-9)
        return linear_ticks(low, high, static_cast<int>(std::min<double>(count, size + 1e-9)));
    const double next = std::ceil(low) + 0.0;  // no "-0"
    if (!(next <= high)) return {};
    return {Tick{next, fmt::format("{:.0f}", next)}};
}

std::vector<Tick> log_ticks(double low, double high, int count) {
    std::vector<Tick> ticks;
    if (!(low > 0) || !(low < high) || !std::isfinite(high)) return ticks;
    const int first = static_cast<int>(std::floor(std::log10(low))), last = static_cast<int>(std::ceil(std::log10(high)));
    const int decades = last - first;
    const int every = std::max(1, decades / std::max(count, 1));
    const bool with_middle = decades <= std::max(1, count / 3);
    for (int e = first; e <= last; e += every)
        for (const double factor : {1.0, 2.0, 5.0}) {
            if (factor > 1 && !with_middle) continue;
            const double value = factor * std::pow(10.0, e);
            if (value < low * (1 - 1e-9) || value > high * (1 + 1e-9)) continue;
            ticks.push_back({value, value >= 1e-3 && value < 1e5 ? fmt::format("{:g}", value) : fmt::format("{:.0e}", value)});
        }
    return ticks;
}

}  // namespace faceter
