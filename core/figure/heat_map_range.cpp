#include "figure/heat_map_range.h"

#include <algorithm>
#include <cmath>

namespace faceter {

HeatMapRanges heat_map_ranges(const HeatMap& map) {
    const double centre = map.centre.value_or(0);
    bool any = map.centre.has_value();
    Range values{centre, centre};
    for (const double value : map.values) {
        if (!std::isfinite(value)) continue;
        values = {any ? std::min(values.low, value) : value, any ? std::max(values.high, value) : value};
        any = true;
    }
    Range colours = values;
    if (map.centre) {
        const double reach = std::max({centre - values.low, values.high - centre, 1e-12});
        colours = {centre - reach, centre + reach};
    }
    if (!(colours.low < colours.high)) colours.high = colours.low + std::max(1.0, std::abs(colours.low));
    return {colours, map.centre && values.low < values.high ? values : colours};
}

}  // namespace faceter
