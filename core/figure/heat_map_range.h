#pragma once
#include "figure/svg_plot.h"

namespace faceter {

/// What the colours of a heat map stand for, and which part of it its colour bar shows.
struct HeatMapRanges {
    Range colours;  ///< as far to both sides of the centre where there is one; never empty
    Range bar;      ///< of the values and their centre alone: what reaches as far to the other side would stand for values that nothing has
};
HeatMapRanges heat_map_ranges(const HeatMap& map);

}  // namespace faceter
