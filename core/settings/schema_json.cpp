#include <array>

#include "common/error.h"
#include "settings/schema.h"

// A schema as JSON (how a plugin's manifest carries it) and as JSON Schema (how editors want it).

namespace faceter {
namespace {

constexpr std::array<std::pair<FieldType, std::string_view>, 10> type_names = {{{FieldType::boolean, "boolean"},
                                                                                {FieldType::integer, "integer"},
                                                                                {FieldType::real, "real"},
                                                                                {FieldType::text, "text"},
                                                                                {FieldType::choice, "choice"},
                                                                                {FieldType::path, "path"},
                                                                                {FieldType::list, "list"},
                                                                                {FieldType::map, "map"},
                                                                                {FieldType::section, "section"},
                                                                                {FieldType::any, "any"}}};
constexpr int max_depth = 16;

std::string_view type_name(FieldType type) {
    for (const auto& [value, name] : type_names)
        if (value == type) return name;
    return "any";
}

FieldType type_from_name(std::string_view text, std::string_view name) {
    for (const auto& [value, known] : type_names)
        if (known == text) return value;
    throw settings_error("{}: unknown type of setting '{}'", name, text);
}

Json field_to_json(const Field& field) {
    Json json = {{"key", field.key}, {"type", type_name(field.type)}, {"description", field.description}};
    if (!field.default_value.is_null()) json["default"] = field.default_value;
    if (field.required) json["required"] = true;
    if (field.nullable) json["nullable"] = true;
    if (!field.unit.empty()) json["unit"] = field.unit;
    if (field.minimum) json["minimum"] = *field.minimum;
    if (field.maximum) json["maximum"] = *field.maximum;
    if (field.exclusive_minimum) json["exclusive_minimum"] = true;
    if (!field.choices.empty()) json["choices"] = field.choices;
    if (!field.source.empty()) json["source"] = field.source;
    for (const Exclusion& other : field.exclusions) json["excludes"].push_back({{"setting", other.setting}, {"reason", other.reason}});
    if (!field.not_above.empty()) json["not_above"] = field.not_above;
    if (!field.names.empty()) json["names"] = field.names;
    if (!field.names_where.empty()) json["names_where"] = field.names_where;
    if (!field.not_all.empty()) json["not_all"] = field.not_all;
    if (field.of_dense_start) json["of_dense_start"] = true;
    for (const Need& need : field.needed)
        json["needs"].push_back({{"value", need.value}, {"setting", need.setting}, {"reason", need.reason}, {"most", need.most}});
    if (field.item) json["item"] = field_to_json(*field.item);
    if (field.section) json["section"] = schema_to_json(*field.section);
    return json;
}

Schema schema_at(const Json& json, std::string_view name, int depth);

std::optional<double> optional_number(const Json& json, std::string_view key, std::string_view name) {
    return json.contains(key) ? std::optional(json_at<double>(json, key, name)) : std::nullopt;
}

Field field_at(const Json& json, std::string_view name, int depth) {
    if (depth > max_depth) throw settings_error("{}: settings nested deeper than {} levels", name, max_depth);
    Field field;
    field.key = json_at<std::string>(json, "key", name);
    field.type = type_from_name(json_at<std::string>(json, "type", name), name);
    field.description = json_or<std::string>(json, "description", "", name);
    if (json.contains("default")) field.default_value = json.at("default");
    field.required = json_or(json, "required", false, name);
    field.nullable = json_or(json, "nullable", false, name);
    field.unit = json_or<std::string>(json, "unit", "", name);
    field.minimum = optional_number(json, "minimum", name);
    field.maximum = optional_number(json, "maximum", name);
    field.exclusive_minimum = json_or(json, "exclusive_minimum", false, name);
    field.choices = json_or(json, "choices", std::vector<std::string>{}, name);
    field.source = json_or<std::string>(json, "source", "", name);
    for (const Json& other : json_or(json, "excludes", Json::array(), name))
        field.exclusions.push_back({json_at<std::string>(other, "setting", name), json_or<std::string>(other, "reason", "", name)});
    field.not_above = json_or<std::string>(json, "not_above", "", name);
    field.names = json_or(json, "names", std::vector<std::string>{}, name);
    field.names_where = json_or<std::string>(json, "names_where", "", name);
    field.not_all = json_or<std::string>(json, "not_all", "", name);
    field.of_dense_start = json_or(json, "of_dense_start", false, name);
    for (const Json& need : json_or(json, "needs", Json::array(), name))
        field.needed.push_back({json_at<std::string>(need, "value", name), json_at<std::string>(need, "setting", name),
                                json_or<std::string>(need, "reason", "", name), json_or<std::size_t>(need, "most", 0, name)});
    if (json.contains("item")) field.item = std::make_shared<const Field>(field_at(json.at("item"), name, depth + 1));
    if (json.contains("section")) field.section = std::make_shared<const Schema>(schema_at(json.at("section"), name, depth + 1));
    const bool needs_item = field.type == FieldType::list || field.type == FieldType::map;
    if (needs_item && !field.item) throw settings_error("{}: setting '{}' is a {} without 'item'", name, field.key, type_name(field.type));
    if (field.type == FieldType::section && !field.section) throw settings_error("{}: setting '{}' has no 'section'", name, field.key);
    if (field.type == FieldType::choice && field.choices.empty()) throw settings_error("{}: setting '{}' has no choices", name, field.key);
    return field;
}

Schema schema_at(const Json& json, std::string_view name, int depth) {
    Schema schema;
    schema.name = json_or<std::string>(json, "name", "", name);
    schema.summary = json_or<std::string>(json, "summary", "", name);
    const Json fields = json_or(json, "fields", Json::array(), name);
    if (!fields.is_array()) throw settings_error("{}: 'fields' must be a list", name);
    for (const Json& field : fields) {
        schema.fields.push_back(field_at(field, name, depth));
        const Field& last = schema.fields.back();
        if (schema.find(last.key) != &last) throw settings_error("{}: setting '{}' is declared twice", name, last.key);
    }
    return schema;
}

std::string full_description(const Field& field) {
    std::string text = field.description;
    if (!field.unit.empty()) text += " Unit: " + field.unit + ".";
    if (!field.source.empty()) text += " Source: " + field.source + ".";
    return text;
}

Json field_to_json_schema(const Field& field);

Json typed_json_schema(const Field& field) {
    switch (field.type) {
        case FieldType::boolean:
            return {{"type", "boolean"}};
        case FieldType::integer:
            return {{"type", "integer"}};
        case FieldType::real:
            return {{"type", "number"}};
        case FieldType::text:
        case FieldType::path:
            return {{"type", "string"}};
        case FieldType::choice:
            return {{"enum", field.choices}};
        case FieldType::list:
            return {{"type", "array"}, {"items", field_to_json_schema(*field.item)}};
        case FieldType::map:
            return {{"type", "object"}, {"additionalProperties", field_to_json_schema(*field.item)}};
        case FieldType::section: {
            Json json = schema_to_json_schema(*field.section);
            json.erase("$schema");
            return json;
        }
        case FieldType::any:
            break;
    }
    return Json::object();
}

Json field_to_json_schema(const Field& field) {
    Json json = typed_json_schema(field);
    if (field.minimum) json[field.exclusive_minimum ? "exclusiveMinimum" : "minimum"] = *field.minimum;
    if (field.maximum) json["maximum"] = *field.maximum;
    if (field.nullable && field.type != FieldType::any) json = {{"anyOf", Json::array({json, Json{{"type", "null"}}})}};
    if (const std::string text = full_description(field); !text.empty()) json["description"] = text;
    if (!field.default_value.is_null()) json["default"] = field.default_value;
    return json;
}

}  // namespace

Json schema_to_json(const Schema& schema) {
    Json fields = Json::array();
    for (const Field& field : schema.fields) fields.push_back(field_to_json(field));
    return {{"name", schema.name}, {"summary", schema.summary}, {"fields", fields}};
}

Schema schema_from_json(const Json& json, std::string_view name) { return schema_at(json, name, 0); }

Json schema_to_json_schema(const Schema& schema) {
    Json json = {{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"type", "object"}};
    if (!schema.name.empty()) json["title"] = schema.name;
    if (!schema.summary.empty()) json["description"] = schema.summary;
    json["properties"] = Json::object();
    Json required = Json::array();
    for (const Field& field : schema.fields) {
        json["properties"][field.key] = field_to_json_schema(field);
        if (field.required) required.push_back(field.key);
    }
    if (!required.empty()) json["required"] = required;
    json["additionalProperties"] = false;
    return json;
}

}  // namespace faceter
