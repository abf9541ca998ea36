#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "figure/heat_map_range.h"
#include "figure/text_width.h"

namespace faceter {
namespace {

constexpr double bar_width = 14, bar_room = 86;  // colour bar; with its ticks and label

/// Values to colours: divergent round the centre, or sequential.
class ColourMap {
  public:
    explicit ColourMap(const Figure& figure)
        : diverging_(figure.heat_map.centre.has_value()), ranges_(heat_map_ranges(figure.heat_map, figure.y)) {}
    Colour of(double value) const {
        const double t = (value - ranges_.colours.low) / (ranges_.colours.high - ranges_.colours.low);
        return diverging_ ? diverging(2 * t - 1) : sequential(t);
    }
    Range bar() const { return ranges_.bar; }

  private:
    bool diverging_;
    HeatMapRanges ranges_;
};

double widest(const std::vector<std::string>& names) {
    double width = 0;
    for (const std::string& name : names) width = std::max(width, text_width(name, 11));
    return width;
}

class HeatMapWriter {
  public:
    HeatMapWriter(const Figure& figure, const Theme& theme, SvgCanvas& canvas, Range x, Range y)
        : map_(figure.heat_map), theme_(theme), canvas_(canvas), colours_(figure), bottom_(y.high), right_(x.high - bar_room) {
        const double row_names = std::min(200.0, widest(map_.rows));
        left_ = x.low + row_names + 8;
        cell_width_ = (right_ - left_) / static_cast<double>(std::max<std::size_t>(1, map_.columns.size()));
        turned_ = widest(map_.columns) > cell_width_ - 4;
        const double names_height = turned_ ? std::min(120.0, widest(map_.columns) * 0.6 + 16) : 20;
        top_ = y.low;
        bottom_ -= names_height;
        cell_height_ = (bottom_ - top_) / static_cast<double>(std::max<std::size_t>(1, map_.rows.size()));
    }

    void run() {
        for (std::size_t r = 0; r < map_.rows.size(); ++r) {
            const int room = static_cast<int>(200 / 6.2);
            canvas_.text(left_ - 8, y_of(r) + cell_height_ / 2 + 4, shorten(map_.rows[r], room), {11, theme_.text, "end"});
            for (std::size_t c = 0; c < map_.columns.size(); ++c) draw_cell(r, c);
        }
        for (std::size_t c = 0; c < map_.columns.size(); ++c) draw_column_name(c);
        draw_bar();
    }

  private:
    double y_of(std::size_t row) const { return top_ + static_cast<double>(row) * cell_height_; }
    double x_of(std::size_t column) const { return left_ + static_cast<double>(column) * cell_width_; }

    void draw_cell(std::size_t r, std::size_t c) {
        const double value = map_.values[r * map_.columns.size() + c];
        if (!std::isfinite(value)) return;
        const Colour colour = colours_.of(value);
        canvas_.rectangle(x_of(c), y_of(r), cell_width_ - 1, cell_height_ - 1, colour);
        const std::string text = fmt::format("{:.{}f}", value, map_.decimals);
        if (text_width(text, 11) > cell_width_ - 6 || cell_height_ < 15) return;
        const Colour dark = Theme::light().text, light{1, 1, 1};
        canvas_.text(x_of(c) + cell_width_ / 2, y_of(r) + cell_height_ / 2 + 4, text,
                     {11, contrast(colour, dark) > contrast(colour, light) ? dark : light, "middle"});
    }

    void draw_column_name(std::size_t c) {
        const double x = x_of(c) + cell_width_ / 2;
        if (turned_)
            canvas_.text(x + 4, bottom_ + 14, shorten(map_.columns[c], 28), {11, theme_.text, "end", false, -35});
        else
            canvas_.text(x, bottom_ + 15, map_.columns[c], {11, theme_.text, "middle"});
    }

    void draw_bar() {
        const double x = right_ + 16;
        const Scale scale{colours_.bar(), {bottom_, top_}, false};
        constexpr int steps = 64;
        for (int i = 0; i < steps; ++i) {
            const double low = scale.values.low + (scale.values.high - scale.values.low) * i / steps;
            const double high = scale.values.low + (scale.values.high - scale.values.low) * (i + 1) / steps;
            canvas_.rectangle(x, scale.at(high), bar_width, scale.at(low) - scale.at(high) + 0.3, colours_.of((low + high) / 2));
        }
        for (const Tick& tick : scale.ticks(5)) {
            canvas_.line(x + bar_width, scale.at(tick.value), x + bar_width + 4, scale.at(tick.value), {theme_.secondary, 1});
            canvas_.text(x + bar_width + 7, scale.at(tick.value) + 4, tick.label, {11, theme_.secondary});
        }
        const std::string label = map_.unit.empty() ? map_.label : map_.label + " (" + map_.unit + ")";
        canvas_.text(right_ + bar_room - 4, (top_ + bottom_) / 2, shorten(label, 40), {11, theme_.secondary, "middle", false, -90});
    }

    const HeatMap& map_;
    const Theme& theme_;
    SvgCanvas& canvas_;
    ColourMap colours_;
    double left_ = 0, top_ = 0, bottom_, right_, cell_width_ = 0, cell_height_ = 0;
    bool turned_ = false;
};

}  // namespace

void draw_heat_map(const Figure& figure, const Theme& theme, SvgCanvas& canvas, Range x, Range y) {
    HeatMapWriter(figure, theme, canvas, x, y).run();
}

}  // namespace faceter
