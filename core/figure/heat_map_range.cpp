#include "figure/heat_map_range.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace faceter {

HeatMapRanges heat_map_ranges(const HeatMap& map, const Axis& axis) {
    const double centre = map.centre.value_or(0);
    bool any = map.centre.has_value();
    Range values{centre, centre};
    const auto reach_to = [&](double value) {
        if (!std::isfinite(value)) return;
        values = {any ? std::min(values.low, value) : value, any ? std::max(values.high, value) : value};
        any = true;
    };
    for (const double value : map.values) reach_to(value);
    for (const auto& end : {axis.min, axis.max}) reach_to(end.value_or(std::numeric_limits<double>::quiet_NaN()));
    Range colours = values;
    if (map.centre) {
        const double reach = std::max({centre - values.low, values.high - centre, 1e-12});
        colours = {centre - reach, centre + reach};
    }
    if (!(colours.low < colours.high)) colours.high = colours.low + std::max(1.0, std::abs(colours.low));
    return {colours, map.centre && values.low < values.high ? values : colours};
}

}  // namespace faceter
