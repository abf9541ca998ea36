#include "figure/figure.h"

#include <algorithm>
#include <cmath>

#include "common/error.h"
#include "common/strings.h"
#include "figure/json_enum.h"
#include "stats/number.h"

namespace faceter {
namespace {

constexpr EnumNames kind_names({std::pair{FigureKind::lines, std::string_view("lines")},
                                {FigureKind::bars, "bars"},
                                {FigureKind::densities, "densities"},
                                {FigureKind::scatter, "scatter"},
                                {FigureKind::box, "box"},
                                {FigureKind::heat_map, "heat_map"}});

class Validator {
  public:
    explicit Validator(const Figure& figure) : figure_(figure) {}

    void run() const {
        for (const auto& text : {figure_.name, figure_.title}) check_text(text);
        for (const std::string& note : figure_.notes) check_text(note);
        check_axis(figure_.x, "x");
        check_axis(figure_.y, "y");
        for (const Series& series : figure_.series) check_series(series);
        if (figure_.kind == FigureKind::heat_map) check_heat_map(figure_.heat_map);
    }

  private:
    template <typename... Args>
    [[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) const {
        throw data_error("figure {}: {}", faceter::quoted(figure_.name), fmt::format(format, std::forward<Args>(args)...));
    }

    void check_text(const std::string& text) const {
        if (!is_valid_utf8(text)) fail("the text {} is not valid UTF-8", faceter::quoted(text));
    }

    void check_axis(const Axis& axis, std::string_view which) const {
        check_text(axis.label);
        check_text(axis.unit);
        for (const std::string& category : axis.categories) check_text(category);
        for (const auto& end : {axis.min, axis.max}) {
            if (end && !std::isfinite(*end)) fail("the end of the {} axis is not finite", which);
            if (end && axis.log && *end <= 0) fail("the {} axis is logarithmic and ends at {}; expected a positive number", which, *end);
        }
        if (axis.min && axis.max && *axis.min >= *axis.max)
            fail("the {} axis runs from {} to {}; expected an ascending range", which, *axis.min, *axis.max);
    }

    void check_series(const Series& series) const {
        check_text(series.name);
        for (const std::string& label : series.labels) check_text(label);
        const std::size_t n = series.y.size();
        const bool needs_x = figure_.kind != FigureKind::bars && figure_.kind != FigureKind::box;
        if (needs_x && series.x.size() != n)
            fail("series {} has {} x and {} y; expected as many", faceter::quoted(series.name), series.x.size(), n);
        if (figure_.kind == FigureKind::bars && n != figure_.x.categories.size())
            fail("series {} has {} bars; expected {}, one for each category", faceter::quoted(series.name), n, figure_.x.categories.size());
        if (!series.raw.empty() && series.raw.size() != n)
            fail("series {} has {} raw values; expected none or {}", faceter::quoted(series.name), series.raw.size(), n);
        if (series.low.size() != series.high.size() || (!series.low.empty() && series.low.size() != n))
            fail("series {} has {} low and {} high ends; expected none or {} each", faceter::quoted(series.name), series.low.size(),
                 series.high.size(), n);
        if (!series.labels.empty() && series.labels.size() != n)
            fail("series {} has {} labels; expected none or {}", faceter::quoted(series.name), series.labels.size(), n);
        if (series.colour && (*series.colour < 0 || *series.colour > 1000000))
            fail("series {} has the colour {}", faceter::quoted(series.name), *series.colour);
        if (figure_.x.log) check_positive(series, series.x, "x");
        if (figure_.y.log) check_positive(series, series.y, "y");
    }

    void check_positive(const Series& series, const std::vector<double>& values, std::string_view which) const {
        for (const double v : values)
            if (v <= 0)
                fail("series {} has the value {} on the logarithmic {} axis; expected positive ones", faceter::quoted(series.name), v,
                     which);
    }

    void check_heat_map(const HeatMap& map) const {
        for (const auto* names : {&map.rows, &map.columns})
            for (const std::string& name : *names) check_text(name);
        check_text(map.label);
        check_text(map.unit);
        if (map.values.size() != map.rows.size() * map.columns.size())
            fail("the heat map has {} values; expected {} rows x {} columns", map.values.size(), map.rows.size(), map.columns.size());
        if (map.decimals < 0 || map.decimals > 15) fail("the heat map has {} decimals; expected 0 to 15", map.decimals);
    }

    const Figure& figure_;
};

Json numbers_to_json(const std::vector<double>& values) {
    Json json = Json::array();
    for (const double v : values) json.push_back(number_to_json(v));
    return json;
}

std::vector<double> numbers_from_json(const Json& json, std::string_view key, std::string_view name) {
    std::vector<double> values;
    if (!json.contains(key)) return values;
    const Json& array = json.at(std::string(key));
    if (!array.is_array()) throw_json_member(name, key, "must be an array");
    for (const Json& v : array) values.push_back(number_from_json(v, name));
    return values;
}

std::optional<double> optional_number(const Json& json, std::string_view key, std::string_view name) {
    if (!json.contains(key) || json.at(std::string(key)).is_null()) return std::nullopt;
    return number_from_json(json.at(std::string(key)), name);
}

Json axis_to_json(const Axis& axis) {
    Json json = {{"label", axis.label}};
    if (!axis.unit.empty()) json["unit"] = axis.unit;
    if (axis.log) json["log"] = true;
    if (axis.min) json["min"] = *axis.min;
    if (axis.max) json["max"] = *axis.max;
    if (!axis.categories.empty()) json["categories"] = axis.categories;
    return json;
}

const Json& object_at(const Json& json, std::string_view key, std::string_view name) {
    if (!json.contains(key) || !json.at(std::string(key)).is_object()) throw_json_member(name, key, "must be an object");
    return json.at(std::string(key));
}

Axis axis_from_json(const Json& json, std::string_view name) {
    Axis axis;
    axis.label = json_or<std::string>(json, "label", "", name);
    axis.unit = json_or<std::string>(json, "unit", "", name);
    axis.log = json_or<bool>(json, "log", false, name);
    axis.min = optional_number(json, "min", name);
    axis.max = optional_number(json, "max", name);
    axis.categories = json_or<std::vector<std::string>>(json, "categories", {}, name);
    return axis;
}

Json series_to_json(const Series& series) {
    Json json = {{"name", series.name}};
    if (!series.x.empty()) json["x"] = numbers_to_json(series.x);
    json["y"] = numbers_to_json(series.y);
    if (!series.low.empty()) json["low"] = numbers_to_json(series.low);
    if (!series.high.empty()) json["high"] = numbers_to_json(series.high);
    if (!series.raw.empty()) json["raw"] = numbers_to_json(series.raw);
    if (!series.labels.empty()) json["labels"] = series.labels;
    if (series.mean) json["mean"] = number_to_json(*series.mean);
    if (series.dashed) json["dashed"] = true;
    if (series.colour) json["colour"] = *series.colour;
    return json;
}

Series series_from_json(const Json& json, std::string_view name) {
    if (!json.is_object()) throw_json_member(name, "series", "must hold objects");
    Series series;
    series.name = json_or<std::string>(json, "name", "", name);
    series.x = numbers_from_json(json, "x", name);
    series.y = numbers_from_json(json, "y", name);
    series.low = numbers_from_json(json, "low", name);
    series.high = numbers_from_json(json, "high", name);
    series.raw = numbers_from_json(json, "raw", name);
    series.labels = json_or<std::vector<std::string>>(json, "labels", {}, name);
    series.mean = optional_number(json, "mean", name);
    series.dashed = json_or<bool>(json, "dashed", false, name);
    if (json.contains("colour")) series.colour = json_at<int>(json, "colour", name);
    return series;
}

Json heat_map_to_json(const HeatMap& map) {
    Json json = {{"rows", map.rows}, {"columns", map.columns}, {"values", numbers_to_json(map.values)}, {"decimals", map.decimals}};
    if (!map.label.empty()) json["label"] = map.label;
    if (!map.unit.empty()) json["unit"] = map.unit;
    if (map.centre) json["centre"] = *map.centre;
    return json;
}

HeatMap heat_map_from_json(const Json& json, std::string_view name) {
    HeatMap map;
    map.rows = json_at<std::vector<std::string>>(json, "rows", name);
    map.columns = json_at<std::vector<std::string>>(json, "columns", name);
    map.values = numbers_from_json(json, "values", name);
    map.label = json_or<std::string>(json, "label", "", name);
    map.unit = json_or<std::string>(json, "unit", "", name);
    map.centre = optional_number(json, "centre", name);
    map.decimals = json_or<int>(json, "decimals", 2, name);
    return map;
}

}  // namespace

std::string_view figure_kind_name(FigureKind kind) { return kind_names.of(kind); }

void Figure::validate() const { Validator(*this).run(); }

Json Figure::to_json() const {
    Json json = {{"type", "figure"}, {"kind", kind_names.of(kind)}, {"name", name},
                 {"title", title},   {"x", axis_to_json(x)},        {"y", axis_to_json(y)}};
    json["series"] = Json::array();
    for (const Series& one : series) json["series"].push_back(series_to_json(one));
    if (kind == FigureKind::heat_map) json["heat_map"] = heat_map_to_json(heat_map);
    json["notes"] = notes;
    return json;
}

Figure Figure::from_json(const Json& json, std::string_view name) {
    Figure figure;
    figure.kind = kind_names.parse(json_at<std::string>(json, "kind", name), name, "kind");
    figure.name = json_at<std::string>(json, "name", name);
    figure.title = json_or<std::string>(json, "title", "", name);
    if (json.contains("x")) figure.x = axis_from_json(object_at(json, "x", name), name);
    if (json.contains("y")) figure.y = axis_from_json(object_at(json, "y", name), name);
    if (json.contains("series")) {
        if (!json.at("series").is_array()) throw_json_member(name, "series", "must be an array");
        for (const Json& one : json.at("series")) figure.series.push_back(series_from_json(one, name));
    }
    if (figure.kind == FigureKind::heat_map) figure.heat_map = heat_map_from_json(object_at(json, "heat_map", name), name);
    figure.notes = json_or<std::vector<std::string>>(json, "notes", {}, name);
    figure.validate();
    return figure;
}

bool has_whole_x(const Figure& figure) {
    const auto is_whole = [](double x) { return x == std::floor(x); };
    return figure.kind == FigureKind::lines && std::all_of(figure.series.begin(), figure.series.end(), [&](const Series& series) {
               return std::all_of(series.x.begin(), series.x.end(), is_whole);
           });
}

}  // namespace faceter
