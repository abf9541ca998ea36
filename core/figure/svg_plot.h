#pragma once
#include "figure/figure.h"
#include "figure/svg_canvas.h"
#include "figure/ticks.h"

namespace faceter {

struct Range {
    double low = 0, high = 1;
};

/// One axis of a plot: values to pixels.
struct Scale {
    Range values;
    Range pixels;  ///< where `values.low` and `values.high` lie; for y the first is the larger
    bool log = false, whole = false;

    double at(double value) const;
    std::vector<Tick> ticks(int count) const;
};

/// The area that marks are drawn in, with its scales. Parts of the SVG writer share it.
struct Plot {
    const Figure& figure;
    const Theme& theme;
    SvgCanvas& canvas;
    Scale x, y;

    Colour colour(std::size_t series) const;
    Colour text_colour(std::size_t series) const;
    std::string dash(std::size_t series) const;
};

/// The ranges that the figure's data (and the ends its axes name) span.
Range data_range_x(const Figure& figure);
Range data_range_y(const Figure& figure);
/// The names on a categorical x axis: the categories, or for boxes the series. Empty: the axis is numeric.
std::vector<std::string> category_names(const Figure& figure);

/// Has the figure anything finite to draw?
bool has_data(const Figure& figure);

/// Marks of every kind but the heat map.
void draw_marks(const Plot& plot);
/// Cells, names and colour bar, in the given rectangle.
void draw_heat_map(const Figure& figure, const Theme& theme, SvgCanvas& canvas, Range x, Range y);
/// Quartiles and whiskers (the last values within 1.5 interquartile ranges) of a box; the rest are outliers.
struct BoxShape {
    double q1 = 0, median = 0, q3 = 0, low = 0, high = 0;
    std::vector<double> outliers;
};
BoxShape box_shape(const std::vector<double>& values);

}  // namespace faceter
