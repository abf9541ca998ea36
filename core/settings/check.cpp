#include "settings/check.h"

#include <algorithm>
#include <cmath>

#include "common/printable.h"
#include "common/strings.h"
#include "common/user_folders.h"

namespace faceter {
namespace {

namespace fs = std::filesystem;

std::string joined(std::string_view where, std::string_view key) {
    return where.empty() ? std::string(key) : fmt::format("{}.{}", where, key);
}

std::string range_text(const Field& field) {
    std::string text;
    if (field.minimum) text += fmt::format(" {} {}", field.exclusive_minimum ? "above" : "of at least", format_double(*field.minimum));
    if (field.maximum) text += fmt::format("{} at most {}", field.minimum ? " and" : " of", format_double(*field.maximum));
    if (!field.unit.empty()) text += fmt::format(" ({})", field.unit);
    return text;
}

/// What could stand in a list.
std::string_view example_items(const Field& item) {
    switch (item.type) {
        case FieldType::text:
            return "a, b";
        case FieldType::integer:
            return "1, 2";
        case FieldType::real:
            return "0.5, 1.0";
        default:
            return "...";
    }
}

/// "a whole number of at least 1 (steps)": what a message says was expected.
std::string expected(const Field& field) {
    std::string text;
    switch (field.type) {
        case FieldType::boolean:
            text = "true or false";
            break;
        case FieldType::integer:
            text = "a whole number" + range_text(field);
            break;
        case FieldType::real:
            text = "a number" + range_text(field);
            break;
        case FieldType::text:
            text = "text";
            break;
        case FieldType::path:
            text = "a path";
            break;
        case FieldType::choice:
            text = "one of " + join(field.choices, ", ");
            break;
        case FieldType::list:
            text = fmt::format("a list, such as [{}]", example_items(*field.item));
            break;
        case FieldType::map:
            text = "a map of names to settings";
            break;
        case FieldType::section:
            text = "a map of settings";
            break;
        case FieldType::any:
            text = "a value";
            break;
    }
    return field.nullable ? text + ", or null" : text;
}

struct Checker {
    const CheckContext& context;

    Json fallback(const Field& field) const;
    void problem(const YamlNode& node, std::string_view message) const {
        if (context.problems) context.problems->add(node.position(), message);
    }
    Json wrong(const Field& field, const YamlNode& node, std::string_view where) const {
        const std::string got = node.kind == YamlNode::Kind::scalar ? faceter::quoted(node.text) : std::string(node.kind_name());
        problem(node, fmt::format("{} is {}; expected {}", where, got, expected(field)));
        return fallback(field);
    }
    Json value(const Field& field, const YamlNode& node, std::string_view where) const;
    Json scalar(const Field& field, const YamlNode& node, std::string_view where) const;
    Json number(const Field& field, const Json& json, const YamlNode& node, std::string_view where) const;
    Json choice(const Field& field, const YamlNode& node, std::string_view where) const;
    Json items(const Field& field, const YamlNode& node, std::string_view where) const;
    Json named_items(const Field& field, const YamlNode& node, std::string_view where) const;
    Json section(const Schema& schema, const YamlNode& node, std::string_view where) const;
    std::string path(const std::string& text) const;
};

/// What messages and tables can show as it is.
bool is_one_line(const std::string& name) { return printable(name) == name; }

Json Checker::fallback(const Field& field) const {
    if (field.type == FieldType::section && !field.nullable && field.default_value.is_null()) return defaults_of(*field.section);
    if (field.type == FieldType::path && field.default_value.is_string() && !field.default_value.get_ref<const std::string&>().empty())
        return path(field.default_value.get<std::string>());
    return field.default_value;
}

std::string Checker::path(const std::string& text) const {
    if (text.starts_with("~/"))
        if (const fs::path home = home_folder(); !home.empty()) return (home / text.substr(2)).lexically_normal().string();
    if (context.base_folder.empty() || text.empty()) return text;
    return (context.base_folder / text).lexically_normal().string();
}

/// The same with the ends of the whole numbers that JSON's readers all hold exactly, where it names none.
Field within_whole_numbers(Field field, double end) {
    if (!field.minimum) field.minimum = -end;
    if (!field.maximum) field.maximum = end;
    return field;
}

Json Checker::number(const Field& field, const Json& json, const YamlNode& node, std::string_view where) const {
    constexpr double most_whole = 9007199254740992.0;
    if (!json.is_number()) return wrong(field, node, where);
    const double number = json.get<double>();
    if (field.type == FieldType::integer && std::abs(number) > most_whole)
        return wrong(within_whole_numbers(field, most_whole), node, where);
    if (field.type == FieldType::integer && number != std::floor(number)) return wrong(field, node, where);
    const bool low = field.minimum && (field.exclusive_minimum ? number <= *field.minimum : number < *field.minimum);
    if (low || (field.maximum && number > *field.maximum) || !std::isfinite(number)) return wrong(field, node, where);
    return field.type == FieldType::integer ? Json(static_cast<std::int64_t>(number)) : Json(number);
}

Json Checker::choice(const Field& field, const YamlNode& node, std::string_view where) const {
    if (std::find(field.choices.begin(), field.choices.end(), node.text) != field.choices.end()) return node.text;
    const auto near = nearest(node.text, field.choices);
    problem(node, fmt::format("{} is {}; expected {}{}", where, faceter::quoted(node.text), expected(field),
                              near ? fmt::format("; did you mean '{}'?", *near) : ""));
    return fallback(field);
}

Json Checker::scalar(const Field& field, const YamlNode& node, std::string_view where) const {
    if (node.kind != YamlNode::Kind::scalar) return wrong(field, node, where);
    const Json json = scalar_to_json(node);
    switch (field.type) {
        case FieldType::boolean:
            return json.is_boolean() ? json : wrong(field, node, where);
        case FieldType::integer:
        case FieldType::real:
            return number(field, json, node, where);
        case FieldType::choice:
            return choice(field, node, where);
        case FieldType::path:
            return path(node.text);
        default:
            if (field.key == "name" && !is_one_line(node.text))
                problem(node, fmt::format("{} is {}; expected a name without line breaks, control characters and marks of direction", where,
                                          faceter::quoted(node.text)));
            return node.text;
    }
}

Json Checker::items(const Field& field, const YamlNode& node, std::string_view where) const {
    if (node.kind != YamlNode::Kind::sequence) return wrong(field, node, where);
    Json list = Json::array();
    for (std::size_t i = 0; i < node.items.size(); ++i) list.push_back(value(*field.item, node.items[i], fmt::format("{}[{}]", where, i)));
    return list;
}

Json Checker::named_items(const Field& field, const YamlNode& node, std::string_view where) const {
    if (node.kind != YamlNode::Kind::map) return wrong(field, node, where);
    Json object = Json::object();
    for (const auto& entry : node.entries) {
        if (entry.key.empty() || entry.key.size() > 100 || !is_one_line(entry.key))
            problem(entry.value, fmt::format("{} is not a name (1 to 100 bytes, no control characters and no marks of direction)",
                                             faceter::quoted(entry.key)));
        object[entry.key] = value(*field.item, entry.value, joined(where, entry.key));
    }
    return object;
}

Json Checker::value(const Field& field, const YamlNode& node, std::string_view where) const {
    if (field.type == FieldType::any) return yaml_to_json(node);
    const bool null = node.kind == YamlNode::Kind::null || (node.kind == YamlNode::Kind::scalar && scalar_to_json(node).is_null());
    if (null && field.nullable) return nullptr;
    const bool container = field.type == FieldType::list || field.type == FieldType::map || field.type == FieldType::section;
    if (null && container && !field.required) return fallback(field);  // "training:" with nothing under it
    if (null) return wrong(field, node, where);
    switch (field.type) {
        case FieldType::list:
            return items(field, node, where);
        case FieldType::map:
            return named_items(field, node, where);
        case FieldType::section:
            return node.kind == YamlNode::Kind::map ? section(*field.section, node, where) : wrong(field, node, where);
        default:
            return scalar(field, node, where);
    }
}

Json Checker::section(const Schema& schema, const YamlNode& node, std::string_view where) const {
    if (node.kind != YamlNode::Kind::map && node.kind != YamlNode::Kind::null) {
        problem(node, fmt::format("{} is {}; expected a map of settings", where.empty() ? "the file" : where, node.kind_name()));
        return defaults_of(schema);
    }
    for (const auto& entry : node.entries) {
        if (schema.find(entry.key)) continue;
        std::vector<std::string> known = schema.keys();
        std::sort(known.begin(), known.end());
        const SourcePosition at{node.source ? *node.source : "", entry.line, entry.column};
        const std::string place = where.empty() ? std::string() : fmt::format(" in {}", where);
        const SourcePosition& position = entry.value.source && *entry.value.source != at.file ? entry.value.position() : at;
        if (context.problems)
            context.problems->add(position,
                                  fmt::format("unknown setting {}{}{}", faceter::quoted(entry.key), place, suggestion(entry.key, known)));
    }
    Json result = Json::object();
    for (const Field& field : schema.fields) {
        const YamlNode* given = node.find(field.key);
        const bool is_text = field.type == FieldType::text || field.type == FieldType::path;
        const bool empty = is_text && given && given->kind == YamlNode::Kind::scalar && given->text.empty();
        if (field.required && (!given || empty))
            problem(given ? *given : node, fmt::format("{} is {}; expected {}: {}", joined(where, field.key), empty ? "empty" : "missing",
                                                       expected(field), field.description));
        result[field.key] = given ? value(field, *given, joined(where, field.key)) : fallback(field);
    }
    return result;
}

}  // namespace

void Problems::add(const SourcePosition& position, std::string_view message) {
    const std::string at = position.text();
    if (lines_.size() >= limit)
        ++left_out_;
    else
        lines_.push_back(at.empty() ? std::string(message) : fmt::format("{}: {}", at, message));
}

void Problems::throw_if_any() const {
    if (lines_.empty()) return;
    std::string text = join(lines_, "\n");
    if (left_out_) text += fmt::format("\n... and {} more", left_out_);
    throw Error(ExitCode::settings, text);
}

Json check_section(const Schema& schema, const YamlNode& node, std::string_view where, const CheckContext& context) {
    return Checker{context}.section(schema, node, where);
}

Json check_value(const Field& field, const YamlNode& node, std::string_view where, const CheckContext& context) {
    return Checker{context}.value(field, node, where);
}

Json resolve(const Schema& schema, const YamlNode& node, const fs::path& base_folder) {
    Problems problems;
    Json result = check_section(schema, node, "", {base_folder, &problems});
    problems.throw_if_any();
    return result;
}

Json defaults_of(const Schema& schema) {
    Json result = Json::object();
    for (const Field& field : schema.fields) {
        if (field.required) continue;
        const bool nested = field.type == FieldType::section && !field.nullable && field.default_value.is_null();
        result[field.key] = nested ? defaults_of(*field.section) : field.default_value;
    }
    return result;
}

Json filled_in(const Schema& schema, Json settings) {
    if (!settings.is_object() && !settings.is_null()) return settings;
    const Json defaults = defaults_of(schema);
    for (const Field& field : schema.fields) {
        const bool is_missing = !settings.contains(field.key) || (settings.at(field.key).is_null() && !field.nullable);
        if (is_missing && !field.required)
            settings[field.key] = defaults.at(field.key);
        else if (field.type == FieldType::section && !is_missing && settings.at(field.key).is_object())
            settings[field.key] = filled_in(*field.section, settings.at(field.key));
    }
    return settings;
}

}  // namespace faceter
