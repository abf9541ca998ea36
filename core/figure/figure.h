#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/json.h"

namespace faceter {

/// What is drawn, and which members of a Series it reads:
///   lines      x, y; low and high (a band round the line), raw (values before smoothing, faint behind the line), dashed
///   bars       y per category of the x axis; low and high (the interval's ends)
///   densities  x, y (a density over x), mean (a dashed line with its value)
///   scatter    x, y; low and high (vertical error bars); labels
///   box        y: the raw values; one box a series, its quartiles taken here
///   heat_map   `HeatMap` of the figure; no series
enum class FigureKind { lines, bars, densities, scatter, box, heat_map };

struct Axis {
    std::string label{};
    std::string unit{};  ///< shown in parentheses after the label; empty: none
    bool log = false;
    std::optional<double> min{}, max{};     ///< default: the data's
    std::vector<std::string> categories{};  ///< names of places 0, 1, 2 ... instead of numbers
};

struct Series {
    std::string name{};
    std::vector<double> x{}, y{};
    std::vector<double> low{}, high{};  ///< empty, or one each for every y
    std::vector<double> raw{};          ///< empty, or one for every y
    std::vector<std::string> labels{};  ///< empty, or one for every point
    std::optional<double> mean{};
    bool dashed = false;
    /// Place in the palette; a run keeps its colour in every figure. Default: the series' place.
    std::optional<int> colour{};
};

/// Values of rows x columns, row by row; NaN is an empty cell. With `centre` the map diverges around it (blue - white - vermilion), else it
/// is sequential.
struct HeatMap {
    std::vector<std::string> rows{}, columns{};
    std::vector<double> values{};
    std::string label{}, unit{};
    std::optional<double> centre{};
    int decimals = 2;
};

/// A figure as plain data: analyses make it, the desktop draws it, core/figure/svg.h draws it without Qt.
struct Figure {
    FigureKind kind = FigureKind::lines;
    std::string name;  ///< identifier; file name of figures/NAME.json
    std::string title;
    Axis x, y;
    std::vector<Series> series;
    HeatMap heat_map;
    std::vector<std::string> notes;  ///< one sentence each, under the figure

    /// Sizes fit, a log axis has positive values only, labels are valid UTF-8; a data error naming the figure and the series otherwise.
    void validate() const;
    Json to_json() const;
    /// `name` stands in front of error messages (a path).
    static Figure from_json(const Json& json, std::string_view name);
};

/// Lines over steps, ranks or numbers of something.
bool has_whole_x(const Figure& figure);
std::string_view figure_kind_name(FigureKind kind);

}  // namespace faceter
