#include <cmath>

#include "figure/json_enum.h"
#include "figure/table.h"

namespace faceter {
namespace {

constexpr EnumNames kind_names({std::pair{ColumnKind::text, std::string_view("text")},
                                {ColumnKind::number, "number"},
                                {ColumnKind::delta, "delta"},
                                {ColumnKind::p_value, "p_value"},
                                {ColumnKind::count, "count"},
                                {ColumnKind::duration, "duration"},
                                {ColumnKind::bytes, "bytes"}});
constexpr EnumNames alignment_names({std::pair{Alignment::automatic, std::string_view("automatic")},
                                     {Alignment::left, "left"},
                                     {Alignment::right, "right"},
                                     {Alignment::centre, "centre"}});
constexpr EnumNames better_names({std::pair{Better::neither, std::string_view("neither")},
                                  {Better::higher, "higher"},
                                  {Better::lower, "lower"}});

Json column_to_json(const Column& column) {
    Json json = {{"name", column.name}, {"kind", kind_names.of(column.kind)}, {"decimals", column.decimals}};
    if (!column.unit.empty()) json["unit"] = column.unit;
    if (!column.group.empty()) json["group"] = column.group;
    if (column.alignment != Alignment::automatic) json["alignment"] = alignment_names.of(column.alignment);
    if (column.better != Better::neither) json["better"] = better_names.of(column.better);
    return json;
}

Column column_from_json(const Json& json, std::string_view name) {
    Column column;
    column.name = json_at<std::string>(json, "name", name);
    column.unit = json_or<std::string>(json, "unit", "", name);
    column.group = json_or<std::string>(json, "group", "", name);
    column.decimals = json_or<int>(json, "decimals", 2, name);
    column.kind = kind_names.parse(json_or<std::string>(json, "kind", "text", name), name, "kind");
    column.alignment = alignment_names.parse(json_or<std::string>(json, "alignment", "automatic", name), name, "alignment");
    column.better = better_names.parse(json_or<std::string>(json, "better", "neither", name), name, "better");
    return column;
}

/// null, a string, a number, or an object where there is more to say.
Json cell_to_json(const Cell& cell) {
    const bool plain = std::isnan(cell.spread) && cell.n == 0 && cell.stars == 0 && !cell.best && cell.decimals < 0;
    if (plain && cell.kind == Cell::Kind::empty) return nullptr;
    if (plain && cell.kind == Cell::Kind::text) return cell.text;
    if (plain && std::isfinite(cell.value)) return cell.value;
    Json json = Json::object();
    if (cell.kind == Cell::Kind::text) json["text"] = cell.text;
    if (cell.kind == Cell::Kind::number) json["value"] = number_to_json(cell.value);
    if (!std::isnan(cell.spread)) json["spread"] = number_to_json(cell.spread);
    if (cell.n != 0) json["n"] = cell.n;
    if (cell.stars != 0) json["stars"] = cell.stars;
    if (cell.best) json["best"] = true;
    if (cell.decimals >= 0) json["decimals"] = cell.decimals;
    return json;
}

Cell cell_from_json(const Json& json, std::string_view name) {
    if (json.is_null()) return {};
    if (json.is_string()) return Cell::of(json.get<std::string>());
    if (json.is_number()) return Cell::of(json.get<double>());
    if (!json.is_object()) throw data_error("{}: a cell must be null, a string, a number or an object, found {}", name, json.type_name());
    Cell cell;
    if (json.contains("text")) cell = Cell::of(json_at<std::string>(json, "text", name));
    if (json.contains("value")) cell = Cell::of(number_from_json(json.at("value"), name));
    if (json.contains("spread")) cell.spread = number_from_json(json.at("spread"), name);
    cell.n = json_or<std::int64_t>(json, "n", 0, name);
    cell.stars = json_or<int>(json, "stars", 0, name);
    cell.best = json_or<bool>(json, "best", false, name);
    cell.decimals = json_or<int>(json, "decimals", -1, name);
    return cell;
}

const Json& array_at(const Json& json, std::string_view key, std::string_view name) {
    if (!json.is_object() || !json.contains(key) || !json.at(std::string(key)).is_array()) throw_json_member(name, key, "must be an array");
    return json.at(std::string(key));
}

}  // namespace

Json Table::to_json() const {
    Json json = {{"type", "table"}, {"name", name}, {"caption", caption}, {"columns", Json::array()}, {"rows", Json::array()}};
    for (const Column& column : columns) json["columns"].push_back(column_to_json(column));
    for (const Row& row : rows) {
        Json cells = Json::array();
        for (const Cell& cell : row.cells) cells.push_back(cell_to_json(cell));
        Json entry = {{"cells", std::move(cells)}};
        if (row.rule_above) entry["rule_above"] = true;
        json["rows"].push_back(std::move(entry));
    }
    if (best_of_row) json["best_of_row"] = true;
    json["footnotes"] = footnotes;
    return json;
}

Table Table::from_json(const Json& json, std::string_view name) {
    Table table;
    table.name = json_at<std::string>(json, "name", name);
    table.caption = json_or<std::string>(json, "caption", "", name);
    for (const Json& column : array_at(json, "columns", name)) table.columns.push_back(column_from_json(column, name));
    for (const Json& entry : array_at(json, "rows", name)) {
        Row row;
        for (const Json& cell : array_at(entry, "cells", name)) row.cells.push_back(cell_from_json(cell, name));
        row.rule_above = json_or<bool>(entry, "rule_above", false, name);
        table.rows.push_back(std::move(row));
    }
    table.best_of_row = json_or<bool>(json, "best_of_row", false, name);
    table.footnotes = json_or<std::vector<std::string>>(json, "footnotes", {}, name);
    table.validate();
    return table;
}

}  // namespace faceter
