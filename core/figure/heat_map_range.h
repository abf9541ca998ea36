#pragma once
#include "figure/svg_plot.h"

namespace faceter {

/// What the colours of a heat map stand for, and which part of it its colour bar shows.
struct HeatMapRanges {
    Range colours;  ///< as far to both sides of the centre where there is one; never empty
    Range bar;      ///< of the values and their centre alone: what reaches as far to the other side would stand for values that nothing has
};
/// `values`: the figure's y axis, whose `min` and `max` are values that the colours reach to as well: maps that are looked at beside one
/// another share them, and their colours mean the same.
HeatMapRanges heat_map_ranges(const HeatMap& map, const Axis& values = {});

}  // namespace faceter
