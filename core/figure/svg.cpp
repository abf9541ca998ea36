#include "figure/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "figure/svg_plot.h"
#include "figure/text_width.h"

namespace faceter {
namespace {

constexpr double margin = 16, tick_length = 4;
constexpr double direct_label_size = 11;
constexpr int longest_turned = 24;  // characters of a category's name
constexpr double least_plot = 140;  // px
constexpr double least_row = 14;    // of a heat map, whose name stands beside it
constexpr double most_column_names = 120;

std::string axis_title(const Axis& axis) { return axis.unit.empty() ? axis.label : axis.label + " (" + axis.unit + ")"; }

/// Lays out title, legend, plot and notes, then draws them.
class Writer {
  public:
    Writer(const Figure& figure, const SvgOptions& options)
        : figure_(figure),
          options_(options),
          theme_(options.dark ? Theme::night() : Theme::light()),
          names_(category_names(figure)),
          height_(std::max(options.height, needed_height())),
          canvas_(options.width, height_) {}

    double height() const { return height_; }

    std::string run() {
        if (options_.background) canvas_.rectangle(0, 0, options_.width, height_, theme_.surface);
        top_ = margin;
        bottom_ = height_ - margin;
        draw_title();
        draw_notes();
        if (figure_.kind == FigureKind::heat_map)
            draw_heat_map(figure_, theme_, canvas_, {margin, options_.width - 8}, {top_ + 4, bottom_});
        else
            draw_plot();
        return canvas_.document(figure_.title.empty() ? figure_.name : figure_.title);
    }

  private:
    /// With which many names and notes leave the plot room.
    double needed_height() const {
        double around = 2 * margin + 20 * static_cast<double>(title_lines().size()) + 14 * static_cast<double>(note_lines().size()) + 8;
        if (figure_.kind == FigureKind::heat_map)
            return around + most_column_names + least_row * static_cast<double>(figure_.heat_map.rows.size());
        if (needs_legend()) around += 20 + legend_places().back().second;
        return around + mean_names_height() + least_plot + names_height() + 20;
    }

    void draw_title() {
        for (const std::string& line : title_lines()) {
            canvas_.text(margin, top_ + 13, line, {14, theme_.text, "start", true});
            top_ += 20;
        }
        if (!figure_.title.empty()) top_ += 4;
    }

    std::vector<std::string> title_lines() const {
        if (figure_.title.empty()) return {};
        return wrap(printable(figure_.title), static_cast<int>((options_.width - 2 * margin) / (0.58 * 14)));
    }

    std::vector<std::string> note_lines() const {
        std::vector<std::string> lines;
        for (const std::string& note : figure_.notes)
            for (const std::string& line : wrap(printable(note), static_cast<int>((options_.width - 2 * margin) / (0.54 * 10))))
                lines.push_back(line);
        return lines;
    }

    void draw_notes() {
        const std::vector<std::string> lines = note_lines();
        for (std::size_t i = lines.size(); i-- > 0;) {
            canvas_.text(margin, bottom_ - 2, lines[i], {10, theme_.secondary});
            bottom_ -= 14;
        }
        if (!lines.empty()) bottom_ -= 4;
    }

    void draw_plot() {
        if (needs_legend()) draw_legend();
        top_ += 6 + mean_names_height();
        Plot plot{figure_,
                  theme_,
                  canvas_,
                  {data_range_x(figure_), {}, figure_.x.log && names_.empty(), has_whole_x(figure_)},
                  {data_range_y(figure_), {}, figure_.y.log}};
        bottom_ -= names_height() + (axis_title(figure_.x).empty() ? 4 : 20);
        plot.y.pixels = {bottom_, top_};
        const auto y_ticks = plot.y.ticks(std::max(2, static_cast<int>((bottom_ - top_) / 34)));
        plot.x.pixels = {left_edge(y_ticks), options_.width - right_room()};
        draw_y_axis(plot, y_ticks);
        draw_marks(plot);
        draw_x_axis(plot);
        if (!has_data(figure_))
            canvas_.text((plot.x.pixels.low + plot.x.pixels.high) / 2, (top_ + bottom_) / 2, "no data", {13, theme_.secondary, "middle"});
        if (has_direct_labels()) draw_direct_labels(plot);
        if (figure_.kind == FigureKind::densities) draw_means(plot);
    }

    // ---- names of the series

    bool has_direct_labels() const { return figure_.kind == FigureKind::lines && figure_.series.size() > 1 && figure_.series.size() <= 3; }
    std::size_t num_means() const {
        return static_cast<std::size_t>(
            std::count_if(figure_.series.begin(), figure_.series.end(), [](const Series& s) { return s.mean.has_value(); }));
    }
    double mean_names_height() const { return figure_.kind == FigureKind::densities ? 14.0 * static_cast<double>(num_means()) : 0; }
    bool needs_legend() const {
        if (figure_.kind == FigureKind::box || has_direct_labels() || figure_.series.size() < 2) return false;
        return figure_.kind != FigureKind::densities || num_means() < figure_.series.size();
    }

    std::string legend_name(std::size_t series) const { return shorten(printable(figure_.series[series].name), 40); }

    /// Of each series: x, and y below the legend's top.
    Points legend_places() const {
        Points places;
        double x = margin, y = 0;
        for (std::size_t s = 0; s < figure_.series.size(); ++s) {
            const double width = 22 + text_width(legend_name(s), 11) + 14;
            if (x > margin && x + width > options_.width - margin) {
                x = margin;
                y += 16;
            }
            places.emplace_back(x, y);
            x += width;
        }
        return places;
    }

    void draw_legend() {
        const Plot colours{figure_, theme_, canvas_, {}, {}};
        const Points places = legend_places();
        for (std::size_t s = 0; s < places.size(); ++s) {
            const double x = places[s].first, y = top_ + places[s].second;
            if (figure_.kind == FigureKind::lines)
                canvas_.line(x, y + 6, x + 16, y + 6, {colours.colour(s), 2, colours.dash(s)});
            else
                canvas_.rectangle(x + 2, y + 1, 10, 10, colours.colour(s), 0.85);
            canvas_.text(x + 20, y + 10, legend_name(s), {11, theme_.text});
        }
        top_ += places.back().second + 20;
    }

    double right_room() const {
        double room = margin + 4;
        if (has_direct_labels())
            for (const Series& series : figure_.series) room = std::max(room, text_width(shorten(series.name, 24), direct_label_size) + 14);
        return room;
    }

    /// Names at the right ends of the lines, pushed apart where they would overlap.
    void draw_direct_labels(const Plot& plot) {
        std::vector<std::pair<double, std::size_t>> places;
        for (std::size_t s = 0; s < figure_.series.size(); ++s)
            for (std::size_t i = figure_.series[s].y.size(); i-- > 0;)
                if (std::isfinite(figure_.series[s].y[i])) {
                    places.emplace_back(plot.y.at(figure_.series[s].y[i]), s);
                    break;
                }
        std::sort(places.begin(), places.end());
        double free_from = -1e9;
        for (auto& [y, s] : places) {
            y = std::max(y, free_from);
            free_from = y + 14;
            canvas_.text(plot.x.pixels.high + 6, y + 4, shorten(printable(figure_.series[s].name), 24),
                         {direct_label_size, plot.colour(s)});
        }
    }

    /// "name 0.62" over the dashed line of each mean, one line each, so that close means stay readable.
    void draw_means(const Plot& plot) {
        double y = top_ - 14.0 * static_cast<double>(num_means()) + 10;
        for (std::size_t s = 0; s < figure_.series.size(); ++s) {
            const Series& series = figure_.series[s];
            if (!series.mean || !std::isfinite(*series.mean)) continue;
            const double x = plot.x.at(*series.mean);
            const std::string text = fmt::format("{} {:.3g}", shorten(printable(series.name), 40), *series.mean);
            const bool to_the_left = x + text_width(text, direct_label_size) > plot.x.pixels.high;
            canvas_.line(x, y - 8, x, top_, {plot.colour(s), 1, "4 3"});
            canvas_.text(x + (to_the_left ? -5 : 5), y, text, {direct_label_size, plot.text_colour(s), to_the_left ? "end" : "start"});
            y += 14;
        }
    }

    // ---- axes

    double left_edge(const std::vector<Tick>& ticks) const {
        double widest = 0;
        for (const Tick& tick : ticks) widest = std::max(widest, text_width(tick.label, 11));
        const double edge = margin + (axis_title(figure_.y).empty() ? 0 : 20) + widest + tick_length + 6;
        return turned() ? std::max(edge, 0.82 * longest_name() - slot() / 2 + 8) : edge;  // turned names begin left of their slots
    }

    void draw_y_axis(const Plot& plot, const std::vector<Tick>& ticks) {
        for (const Tick& tick : ticks) {
            const double y = plot.y.at(tick.value);
            canvas_.line(plot.x.pixels.low, y, plot.x.pixels.high, y, {theme_.line, 1});
            canvas_.line(plot.x.pixels.low - tick_length, y, plot.x.pixels.low, y, {theme_.secondary, 1});
            canvas_.text(plot.x.pixels.low - tick_length - 4, y + 4, tick.label, {11, theme_.secondary, "end"});
        }
        canvas_.text(margin + 6, (plot.y.pixels.low + plot.y.pixels.high) / 2, printable(axis_title(figure_.y)),
                     {11, theme_.text, "middle", false, -90});
    }

    void draw_x_axis(const Plot& plot) {
        const double y = plot.y.pixels.low;
        canvas_.line(plot.x.pixels.low, y, plot.x.pixels.high, y, {theme_.secondary, 1});
        if (names_.empty()) {
            for (const Tick& tick : plot.x.ticks(std::max(2, static_cast<int>((plot.x.pixels.high - plot.x.pixels.low) / 80)))) {
                canvas_.line(plot.x.at(tick.value), y, plot.x.at(tick.value), y + tick_length, {theme_.secondary, 1});
                canvas_.text(plot.x.at(tick.value), y + tick_length + 12, tick.label, {11, theme_.secondary, "middle"});
            }
        } else {
            for (std::size_t i = 0; i < names_.size(); ++i) draw_category(plot.x.at(static_cast<double>(i)), y, printable(names_[i]));
        }
        canvas_.text((plot.x.pixels.low + plot.x.pixels.high) / 2, y + names_height() + 16, printable(axis_title(figure_.x)),
                     {11, theme_.text, "middle"});
    }

    double slot() const { return (options_.width - 100) / static_cast<double>(std::max<std::size_t>(1, names_.size())); }

    /// Categories are turned where they are wider than their slots.
    bool turned() const {
        return std::any_of(names_.begin(), names_.end(), [&](const std::string& name) { return text_width(name, 11) > slot() - 4; });
    }

    double longest_name() const {
        double longest = 0;
        for (const std::string& name : names_) longest = std::max(longest, text_width(shorten(name, longest_turned), 11));
        return longest;
    }

    double names_height() const { return names_.empty() || !turned() ? 20 : 18 + 0.6 * longest_name(); }

    void draw_category(double x, double y, const std::string& name) {
        if (turned())
            canvas_.text(x + 4, y + 14, shorten(name, longest_turned), {11, theme_.text, "end", false, -35});
        else
            canvas_.text(x, y + tick_length + 12, name, {11, theme_.text, "middle"});
    }

    const Figure& figure_;
    const SvgOptions& options_;
    Theme theme_;
    std::vector<std::string> names_;
    double height_;
    SvgCanvas canvas_;
    double top_ = 0, bottom_ = 0;
};

}  // namespace

std::string figure_to_svg(const Figure& figure, const SvgOptions& options) {
    figure.validate();
    return Writer(figure, options).run();
}

double svg_height(const Figure& figure, const SvgOptions& options) { return Writer(figure, options).height(); }

}  // namespace faceter
