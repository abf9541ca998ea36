#include <algorithm>
#include <cmath>

#include "figure/svg_plot.h"
#include "stats/descriptive.h"

namespace faceter {
namespace {

/// Grows over values that the axis has a place for.
class Extent {
  public:
    explicit Extent(const Axis& axis) : log_(axis.log) {}
    void add(double value) {
        if (!std::isfinite(value) || (log_ && value <= 0)) return;
        low_ = any_ ? std::min(low_, value) : value;
        high_ = any_ ? std::max(high_, value) : value;
        any_ = true;
    }
    void add(const std::vector<double>& values) {
        for (const double v : values) add(v);
    }
    /// With a margin of `share` of the range on the sides that the axis does not fix; never empty.
    Range range(const Axis& axis, double share_low, double share_high) const {
        Range r{any_ ? low_ : (axis.log ? 1.0 : 0.0), any_ ? high_ : (axis.log ? 10.0 : 1.0)};
        if (axis.log) {
            r = {r.low / (r.low < r.high ? 1.0 : 2.0), r.high * (r.low < r.high ? 1.0 : 2.0)};
        } else {
            if (r.low == r.high) r = {r.low - (r.low == 0 ? 1 : std::abs(r.low) / 2), r.high + (r.high == 0 ? 1 : std::abs(r.high) / 2)};
            const double size = r.high - r.low;
            r = {r.low - share_low * size, r.high + share_high * size};
        }
        if (axis.min) r.low = *axis.min;
        if (axis.max) r.high = *axis.max;
        if (!(r.low < r.high)) r.high = r.low + std::max(1.0, std::abs(r.low));
        return r;
    }

  private:
    bool log_, any_ = false;
    double low_ = 0, high_ = 0;
};

}  // namespace

double Scale::at(double value) const {
    if (log && value <= 0) return pixels.low;  // the end of a band; points are refused (Figure::validate)
    const double t =
        log ? std::log(value / values.low) / std::log(values.high / values.low) : (value - values.low) / (values.high - values.low);
    return pixels.low + std::clamp(t, -10.0, 10.0) * (pixels.high - pixels.low);  // a point far outside stays a point
}

std::vector<Tick> Scale::ticks(int count) const {
    std::vector<Tick> powers = log ? log_ticks(values.low, values.high, count) : std::vector<Tick>{};
    if (powers.size() > 1 || (log && values.low <= 0)) return powers;
    std::vector<Tick> even = whole ? whole_ticks(values.low, values.high, count) : linear_ticks(values.low, values.high, count);
    return even.size() > powers.size() ? even : powers;
}

static int palette_place(const Figure& figure, std::size_t series) {
    return figure.series[series].colour.value_or(static_cast<int>(series));
}

bool has_data(const Figure& figure) {
    const auto any_finite = [](const std::vector<double>& values) {
        return std::any_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
    };
    if (figure.kind == FigureKind::heat_map) return any_finite(figure.heat_map.values);
    return std::any_of(figure.series.begin(), figure.series.end(), [&](const Series& s) { return any_finite(s.y); });
}

Colour Plot::colour(std::size_t series) const { return theme.series(palette_place(figure, series)); }

Colour Plot::text_colour(std::size_t series) const { return theme.series_text(palette_place(figure, series)); }

std::string Plot::dash(std::size_t series) const {
    return figure.series[series].dashed ? "6 4" : palette_dash(palette_place(figure, series));
}

Range data_range_x(const Figure& figure) {
    const auto names = category_names(figure);
    if (!names.empty()) return {-0.5, static_cast<double>(names.size()) - 0.5};
    Extent extent(figure.x);
    for (const Series& series : figure.series) extent.add(series.x);
    const double margin = figure.kind == FigureKind::scatter ? 0.04 : 0;
    return extent.range(figure.x, margin, margin);
}

Range data_range_y(const Figure& figure) {
    Extent extent(figure.y);
    for (const Series& series : figure.series) {
        extent.add(series.y);
        extent.add(series.low);
        extent.add(series.raw);
        extent.add(series.high);
    }
    const bool from_zero = (figure.kind == FigureKind::bars || figure.kind == FigureKind::densities) && !figure.y.log;
    if (!from_zero) return extent.range(figure.y, 0.05, 0.05);
    extent.add(0.0);
    Range r = extent.range(figure.y, 0, 0);
    const double room = 0.08 * (r.high - r.low);  // for values over the bars and names over the densities
    if (!figure.y.max && r.high > 0) r.high += room;
    if (!figure.y.min && r.low < 0) r.low -= room;
    return r;
}

std::vector<std::string> category_names(const Figure& figure) {
    if (figure.kind != FigureKind::box) return figure.x.categories;
    std::vector<std::string> names;
    for (const Series& series : figure.series) names.push_back(series.name);
    return names;
}

BoxShape box_shape(const std::vector<double>& values) {
    std::vector<double> finite;
    std::copy_if(values.begin(), values.end(), std::back_inserter(finite), [](double v) { return std::isfinite(v); });
    const Summary s = summarise(finite);
    BoxShape box{s.q1, s.median, s.q3, s.q1, s.q3, {}};
    const double reach = 1.5 * (s.q3 - s.q1);
    for (const double v : finite) {
        if (v < s.q1 - reach || v > s.q3 + reach) {
            box.outliers.push_back(v);
        } else {
            box.low = std::min(box.low, v);
            box.high = std::max(box.high, v);
        }
    }
    return box;
}

}  // namespace faceter
