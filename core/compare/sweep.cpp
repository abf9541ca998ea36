#include "compare/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "common/strings.h"

namespace faceter {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t most_classes = 5, most_bars = 12, least_points = 3;
constexpr double log_span = 20;

std::string value_of(const SweepConfiguration& point, const std::string& key) {
    const auto found = point.settings.find(key);
    return found == point.settings.end() ? std::string(unset_value) : found->second;
}

std::vector<double> numbers_of(const std::vector<SweepConfiguration>& points, const std::string& key) {
    std::vector<double> numbers;
    for (const SweepConfiguration& point : points) numbers.push_back(parse_double(value_of(point, key)).value_or(none));
    return numbers;
}

/// The class of each point: its value's, or for numbers of many values a fifth of all points.
std::vector<std::size_t> classes_of(const std::vector<SweepConfiguration>& points, const SweepSetting& setting) {
    SettingValues values;
    for (const SweepConfiguration& point : points) values.insert(value_of(point, setting.key));
    std::vector<std::size_t> classes;
    if (!setting.is_number || values.size() <= most_classes) {
        for (const SweepConfiguration& point : points)
            classes.push_back(static_cast<std::size_t>(std::distance(values.begin(), values.find(value_of(point, setting.key)))));
        return classes;
    }
    const std::vector<double> numbers = numbers_of(points, setting.key);
    std::vector<double> sorted = numbers;
    std::sort(sorted.begin(), sorted.end());
    for (const double number : numbers) {  // equal numbers share a class
        const auto rank = static_cast<std::size_t>(std::lower_bound(sorted.begin(), sorted.end(), number) - sorted.begin());
        classes.push_back(rank * most_classes / sorted.size());
    }
    return classes;
}

/// omega^2 = (SSb - (k - 1) MSw) / (SSt + MSw)
double omega_squared(const std::vector<SweepConfiguration>& points, const std::vector<std::size_t>& classes) {
    std::map<std::size_t, std::vector<double>> by_class;
    std::vector<double> all;
    for (std::size_t i = 0; i < points.size(); ++i) {
        by_class[classes[i]].insert(by_class[classes[i]].end(), points[i].scores.begin(), points[i].scores.end());
        all.insert(all.end(), points[i].scores.begin(), points[i].scores.end());
    }
    const std::size_t count = by_class.size();
    if (points.size() < least_points || count < 2 || all.size() < count + 2) return none;
    double within = 0, total = 0;
    for (const auto& [key, scores] : by_class) {
        const double centre = mean(scores);
        for (const double score : scores) within += (score - centre) * (score - centre);
    }
    const double centre = mean(all);
    for (const double score : all) total += (score - centre) * (score - centre);
    const double noise = within / static_cast<double>(all.size() - count);
    if (total + noise <= 0) return 0;
    return std::max(0.0, (total - within - static_cast<double>(count - 1) * noise) / (total + noise));
}

/// Where one variant has settings under a key, another's settings list that key as null or as an empty map or list.
std::map<std::string, std::string> without_empty(std::map<std::string, std::string> settings) {
    std::erase_if(settings,
                  [](const auto& one) { return one.second.empty() || one.second == "null" || one.second == "{}" || one.second == "[]"; });
    return settings;
}

std::vector<SweepConfiguration> points_of(const std::vector<SweepRun>& runs) {
    std::vector<SweepConfiguration> points;
    std::map<std::string, std::size_t> places;
    std::vector<std::vector<double>> scores;
    for (const SweepRun& run : runs) {
        const auto [place, fresh] = places.try_emplace(run.point, points.size());
        if (fresh) {
            points.push_back({run.point, without_empty(run.settings), {}, static_cast<int>(points.size())});
            scores.emplace_back();
        }
        if (std::isfinite(run.score)) scores[place->second].push_back(run.score);
    }
    for (std::size_t i = 0; i < points.size(); ++i) {
        if (!scores[i].empty()) points[i].score = summarise(scores[i]);
        points[i].scores = std::move(scores[i]);
    }
    std::erase_if(points, [](const SweepConfiguration& point) { return point.score.n == 0; });
    std::stable_sort(points.begin(), points.end(),
                     [](const SweepConfiguration& a, const SweepConfiguration& b) { return a.score.mean > b.score.mean; });
    return points;
}

bool have_all(const std::vector<SweepConfiguration>& points, const SweepSetting& setting) {
    return std::all_of(points.begin(), points.end(),
                       [&](const SweepConfiguration& point) { return value_of(point, setting.key) != unset_value; });
}

std::vector<SweepSetting> settings_of(const std::vector<SweepConfiguration>& points) {
    std::map<std::string, SettingValues> values;
    for (const SweepConfiguration& point : points)
        for (const auto& [key, value] : point.settings) values[key];
    for (auto& [key, own] : values)
        for (const SweepConfiguration& point : points) own.insert(value_of(point, key));
    std::vector<SweepSetting> settings;
    for (const auto& [key, own] : values) {
        if (own.size() < 2) continue;
        SweepSetting setting{
            key, std::all_of(own.begin(), own.end(), [](const std::string& value) { return parse_double(value).has_value(); }), none};
        setting.importance = omega_squared(points, classes_of(points, setting));
        settings.push_back(std::move(setting));
    }
    const auto weight = [](const SweepSetting& setting) { return std::isnan(setting.importance) ? -1.0 : setting.importance; };
    std::stable_partition(settings.begin(), settings.end(), [&](const SweepSetting& setting) { return have_all(points, setting); });
    std::stable_sort(settings.begin(), settings.end(), [&](const auto& a, const auto& b) { return weight(a) > weight(b); });
    return settings;
}

void set_x_axis(Figure& figure, Series& series, const std::vector<SweepConfiguration>& points, const std::string& key) {
    const std::vector<double> numbers = numbers_of(points, key);
    const bool all = std::none_of(numbers.begin(), numbers.end(), [](double number) { return std::isnan(number); });
    figure.x.label = key;
    if (all) {
        const auto [least, most] = std::minmax_element(numbers.begin(), numbers.end());
        figure.x.log = *least > 0 && *most / *least >= log_span;
        series.x = numbers;
        return;
    }
    SettingValues values;
    for (const SweepConfiguration& point : points) values.insert(value_of(point, key));
    figure.x.categories.assign(values.begin(), values.end());
    for (const SweepConfiguration& point : points)
        series.x.push_back(static_cast<double>(std::distance(values.begin(), values.find(value_of(point, key)))));
}

/// Intervals reach half of the means' range beyond them. Whether one is cut.
bool scale_by_means(Axis& axis, const Series& series) {
    const auto [least, most] = std::minmax_element(series.y.begin(), series.y.end());
    const double room = (*most - *least) / 2, lowest = *std::min_element(series.low.begin(), series.low.end()),
                 highest = *std::max_element(series.high.begin(), series.high.end());
    if (room <= 0 || (lowest >= *least - room && highest <= *most + room)) return false;
    axis.min = std::max(lowest, *least - room);
    axis.max = std::min(highest, *most + room);
    return true;
}

bool has_intervals(const Sweep& sweep) {
    return std::any_of(sweep.points.begin(), sweep.points.end(), [](const SweepConfiguration& point) { return point.score.n > 1; });
}

/// What comes first: 0 numbers, 1 texts, 2 what is not set.
std::tuple<int, double, std::string_view> order_key(const std::string& value) {
    const double number = parse_double(value).value_or(none);
    return std::isfinite(number) ? std::tuple(0, number, std::string_view(value))
                                 : std::tuple(value == unset_value ? 2 : 1, 0.0, std::string_view(value));
}

}  // namespace

bool ValueOrder::operator()(const std::string& a, const std::string& b) const { return order_key(a) < order_key(b); }

Sweep make_sweep(const std::vector<SweepRun>& runs) {
    Sweep sweep{points_of(runs), {}};
    sweep.settings = settings_of(sweep.points);
    return sweep;
}

bool is_shared(const Sweep& sweep, const SweepSetting& setting) { return have_all(sweep.points, setting); }

Figure sweep_setting_figure(const Sweep& sweep, const std::string& key, const std::string& score_name) {
    Figure figure;
    figure.kind = FigureKind::scatter;
    figure.name = "sweep_setting";
    figure.title = score_name + " over " + key;
    figure.y.label = score_name;
    figure.y.unit = "%";
    Series series;
    series.name = score_name;
    const bool intervals = has_intervals(sweep);
    if (!sweep.points.empty()) set_x_axis(figure, series, sweep.points, key);
    for (const SweepConfiguration& point : sweep.points) {
        series.y.push_back(point.score.mean);
        series.labels.push_back(point.name);
        if (!intervals) continue;
        const bool several = point.score.n > 1;
        series.low.push_back(several ? point.score.interval.low : point.score.mean);
        series.high.push_back(several ? point.score.interval.high : point.score.mean);
    }
    if (intervals)
        figure.notes = {"A point a configuration: the mean over its seeds, with a 95 % Student t interval where there are several."};
    if (intervals && scale_by_means(figure.y, series)) figure.notes.emplace_back("Intervals with an arrow reach beyond the axis.");
    figure.series = {std::move(series)};
    return figure;
}

Figure sweep_importance_figure(const Sweep& sweep, const std::string& score_name) {
    Figure figure;
    figure.kind = FigureKind::bars;
    figure.name = "sweep_importance";
    figure.title = "What explains " + score_name;
    figure.y.label = "Share of the variance";
    figure.y.min = 0;
    Series series;
    series.name = "omega squared";
    for (const SweepSetting& setting : sweep.settings) {
        if (std::isnan(setting.importance) || series.y.size() == most_bars) continue;
        figure.x.categories.push_back(setting.key);
        series.y.push_back(setting.importance);
    }
    const auto known =
        std::count_if(sweep.settings.begin(), sweep.settings.end(), [](const SweepSetting& one) { return !std::isnan(one.importance); });
    const auto left = static_cast<std::size_t>(known) - series.y.size();
    figure.series = {std::move(series)};
    figure.notes = {
        "Omega squared of each setting by itself over the runs: what seeds differ by is unexplained, interactions belong to no setting."};
    if (left > 0) figure.notes.push_back(fmt::format("{} more settings explain less.", left));
    return figure;
}

Table sweep_table(const Sweep& sweep, const std::string& score_name) {
    Table table;
    table.name = "sweep_points";
    table.caption = "Configurations, the best first: " + score_name;
    table.add_column("configuration", ColumnKind::text);
    table.add_column("mean", ColumnKind::number);
    table.add_column("low", ColumnKind::number);
    table.add_column("high", ColumnKind::number);
    table.add_column("seeds", ColumnKind::count);
    for (const SweepSetting& setting : sweep.settings) table.add_column(setting.key, ColumnKind::text);
    for (const SweepConfiguration& point : sweep.points) {
        const bool several = point.score.n > 1;
        std::vector<Cell> cells{Cell::of(point.name), Cell::of(point.score.mean), Cell::of(several ? point.score.interval.low : none),
                                Cell::of(several ? point.score.interval.high : none), Cell::of(static_cast<double>(point.score.n))};
        for (const SweepSetting& setting : sweep.settings) cells.push_back(Cell::of(value_of(point, setting.key)));
        table.add_row(std::move(cells));
    }
    table.footnotes = {"low and high: the 95 % Student t interval of the mean over seeds."};
    return table;
}

}  // namespace faceter
