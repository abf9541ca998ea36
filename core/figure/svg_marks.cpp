#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "figure/svg_plot.h"
#include "figure/text_width.h"

namespace faceter {
namespace {

constexpr double line_width = 1.5, band_opacity = 0.2, raw_opacity = 0.35, fill_opacity = 0.25;

/// Runs of finite points: a value that is not a number leaves a gap.
std::vector<Points> finite_runs(const Plot& plot, const std::vector<double>& x, const std::vector<double>& y) {
    std::vector<Points> runs(1);
    for (std::size_t i = 0; i < y.size(); ++i) {
        if (std::isfinite(x[i]) && std::isfinite(y[i]))
            runs.back().emplace_back(plot.x.at(x[i]), plot.y.at(y[i]));
        else if (!runs.back().empty())
            runs.emplace_back();
    }
    return runs;
}

void draw_lines(const Plot& plot) {
    for (std::size_t s = 0; s < plot.figure.series.size(); ++s) {
        const Series& series = plot.figure.series[s];
        if (!series.low.empty()) {
            Points band;
            for (std::size_t i = 0; i < series.y.size(); ++i) band.emplace_back(plot.x.at(series.x[i]), plot.y.at(series.high[i]));
            for (std::size_t i = series.y.size(); i-- > 0;) band.emplace_back(plot.x.at(series.x[i]), plot.y.at(series.low[i]));
            std::erase_if(band, [](const auto& p) { return !std::isfinite(p.first) || !std::isfinite(p.second); });
            plot.canvas.polygon(band, plot.colour(s), band_opacity);
        }
        if (!series.raw.empty())
            for (const Points& run : finite_runs(plot, series.x, series.raw))
                if (run.size() > 1) plot.canvas.polyline(run, {plot.colour(s), 1, "", raw_opacity});
        for (const Points& run : finite_runs(plot, series.x, series.y)) {
            if (run.size() == 1) plot.canvas.circle(run[0].first, run[0].second, 2, plot.colour(s));
            if (run.size() > 1) plot.canvas.polyline(run, {plot.colour(s), line_width, plot.dash(s)});
        }
    }
}

void draw_densities(const Plot& plot) {
    const double ground = plot.y.at(std::max(0.0, plot.y.values.low));
    for (std::size_t s = 0; s < plot.figure.series.size(); ++s)
        for (const Points& run : finite_runs(plot, plot.figure.series[s].x, plot.figure.series[s].y)) {
            if (run.size() < 2) continue;
            Points area = run;
            area.emplace_back(run.back().first, ground);
            area.emplace_back(run.front().first, ground);
            plot.canvas.polygon(area, plot.colour(s), fill_opacity);
        }
    for (std::size_t s = 0; s < plot.figure.series.size(); ++s) {
        const Series& series = plot.figure.series[s];
        for (const Points& run : finite_runs(plot, series.x, series.y))
            if (run.size() > 1) plot.canvas.polyline(run, {plot.colour(s), line_width, plot.dash(s)});
        if (series.mean && std::isfinite(*series.mean))
            plot.canvas.line(plot.x.at(*series.mean), ground, plot.x.at(*series.mean), plot.y.pixels.high, {plot.colour(s), 1, "4 3"});
    }
}

void draw_error(const Plot& plot, double x, double low, double high, const Stroke& stroke) {
    if (!std::isfinite(low) || !std::isfinite(high)) return;
    const double cap = 3;
    if (high > low) plot.canvas.line(x, plot.y.at(low), x, plot.y.at(high), stroke);  // one without length is no path, which PDF refuses
    for (const double end : {low, high}) plot.canvas.line(x - cap, plot.y.at(end), x + cap, plot.y.at(end), stroke);
}

void draw_bars(const Plot& plot) {
    const auto num_series = static_cast<double>(plot.figure.series.size());
    const double slot = std::abs(plot.x.at(1) - plot.x.at(0));
    const double width = std::min(48.0, slot * 0.8 / std::max(1.0, num_series));
    const double ground = plot.y.at(plot.figure.y.log ? plot.y.values.low : std::clamp(0.0, plot.y.values.low, plot.y.values.high));
    for (std::size_t s = 0; s < plot.figure.series.size(); ++s) {
        const Series& series = plot.figure.series[s];
        for (std::size_t i = 0; i < series.y.size(); ++i) {
            if (!std::isfinite(series.y[i])) continue;
            const double left = plot.x.at(static_cast<double>(i)) + (static_cast<double>(s) - num_series / 2) * width;
            const double top = plot.y.at(series.y[i]);
            plot.canvas.rectangle(left + 0.5, std::min(top, ground), std::max(0.5, width - 1), std::max(0.5, std::abs(ground - top)),
                                  plot.colour(s), 0.85);
            double label_at = top;
            if (!series.low.empty()) {
                draw_error(plot, left + width / 2, series.low[i], series.high[i], {plot.theme.text, 1});
                if (std::isfinite(series.high[i]) && series.y[i] >= 0) label_at = plot.y.at(series.high[i]);
                if (std::isfinite(series.low[i]) && series.y[i] < 0) label_at = plot.y.at(series.low[i]);
            }
            const std::string value = fmt::format("{:.3g}", series.y[i]);
            if (text_width(value, 10) < width + 2)
                plot.canvas.text(left + width / 2, label_at + (series.y[i] < 0 ? 12 : -4), value, {10, plot.theme.secondary, "middle"});
        }
    }
    if (!plot.figure.y.log && plot.y.values.low < 0)
        plot.canvas.line(plot.x.pixels.low, ground, plot.x.pixels.high, ground, {plot.theme.secondary, 1});
}

void draw_scatter(const Plot& plot) {
    for (std::size_t s = 0; s < plot.figure.series.size(); ++s) {
        const Series& series = plot.figure.series[s];
        for (std::size_t i = 0; i < series.y.size(); ++i) {
            if (!std::isfinite(series.x[i]) || !std::isfinite(series.y[i])) continue;
            const double x = plot.x.at(series.x[i]), y = plot.y.at(series.y[i]);
            if (!series.low.empty()) draw_error(plot, x, series.low[i], series.high[i], {plot.colour(s), 1});
            plot.canvas.circle(x, y, series.y.size() > 200 ? 2 : 3.5, plot.colour(s), 0.75);
            if (!series.labels.empty()) plot.canvas.text(x + 6, y + 4, shorten(series.labels[i], 40), {10, plot.theme.secondary});
        }
    }
}

void draw_boxes(const Plot& plot) {
    const double width = std::min(48.0, std::abs(plot.x.at(1) - plot.x.at(0)) * 0.5);
    for (std::size_t s = 0; s < plot.figure.series.size(); ++s) {
        const BoxShape box = box_shape(plot.figure.series[s].y);
        if (!std::isfinite(box.median)) continue;
        const double x = plot.x.at(static_cast<double>(s));
        const Colour colour = plot.colour(s);
        const Stroke stroke{colour, line_width};
        plot.canvas.rectangle(x - width / 2, plot.y.at(box.q3), width, std::max(0.5, plot.y.at(box.q1) - plot.y.at(box.q3)), colour,
                              fill_opacity);
        const Points outline{{x - width / 2, plot.y.at(box.q1)},
                             {x + width / 2, plot.y.at(box.q1)},
                             {x + width / 2, plot.y.at(box.q3)},
                             {x - width / 2, plot.y.at(box.q3)},
                             {x - width / 2, plot.y.at(box.q1)}};
        plot.canvas.polyline(outline, stroke);
        plot.canvas.line(x - width / 2, plot.y.at(box.median), x + width / 2, plot.y.at(box.median), {colour, 2.5});
        for (const auto& [from, to] : {std::pair{box.q3, box.high}, std::pair{box.q1, box.low}}) {
            plot.canvas.line(x, plot.y.at(from), x, plot.y.at(to), stroke);
            plot.canvas.line(x - width / 4, plot.y.at(to), x + width / 4, plot.y.at(to), stroke);
        }
        for (const double outlier : box.outliers) plot.canvas.circle(x, plot.y.at(outlier), 2.5, colour, 0.6);
    }
}

}  // namespace

void draw_marks(const Plot& plot) {
    switch (plot.figure.kind) {
        case FigureKind::lines:
            return draw_lines(plot);
        case FigureKind::bars:
            return draw_bars(plot);
        case FigureKind::densities:
            return draw_densities(plot);
        case FigureKind::scatter:
            return draw_scatter(plot);
        case FigureKind::box:
            return draw_boxes(plot);
        case FigureKind::heat_map:
            return;
    }
}

}  // namespace faceter
