#pragma once
#include <string_view>

namespace faceter {

/// What the test speaks for. `less`: the first sample's mean (or the differences' centre) is the smaller one.
enum class Alternative { two_sided, less, greater };

/// "two-sided", "less", "greater".
std::string_view alternative_name(Alternative alternative);
/// The way back; a usage error for any other word.
Alternative parse_alternative(std::string_view name);
/// p of a statistic with a symmetric distribution, given its upper tail function.
template <typename UpperTail>
double tail_probability(double statistic, Alternative alternative, UpperTail upper_tail) {
    switch (alternative) {
        case Alternative::less:
            return upper_tail(-statistic);
        case Alternative::greater:
            return upper_tail(statistic);
        default:
            return 2 * upper_tail(statistic < 0 ? -statistic : statistic);
    }
}

}  // namespace faceter
