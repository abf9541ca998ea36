#include <algorithm>
#include <charconv>

#include "common/strings.h"
#include "settings/yaml.h"

// What scalars mean, trees from and to JSON, and overrides (--set).

namespace faceter {
namespace {

bool looks_like_number(std::string_view text) {
    if (!text.empty() && (text.front() == '-' || text.front() == '+')) text.remove_prefix(1);
    if (text.empty()) return false;
    const bool digit_first = text[0] >= '0' && text[0] <= '9';
    const bool point_first = text[0] == '.' && text.size() > 1 && text[1] >= '0' && text[1] <= '9';
    return (digit_first || point_first) && text.find_first_not_of("0123456789.eE+-") == std::string_view::npos;
}

Json plain_scalar(const std::string& text) {
    if (text.empty() || text == "~" || text == "null") return nullptr;
    if (text == "true") return true;
    if (text == "false") return false;
    if (!looks_like_number(text)) return text;
    if (const auto integer = parse_int(text)) return *integer;
    if (const auto number = parse_double(text)) return *number;
    return text;
}

/// Text that needs no quotes: reads back as the same text, and nothing in it means anything to YAML.
bool is_plain(const std::string& text) {
    constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+ ";
    if (text.empty() || text.front() == ' ' || text.back() == ' ' || text.front() == '-' ||
        text.find_first_not_of(allowed) != std::string::npos)
        return false;
    const std::string lower = lowercase_ascii(text);
    for (const char* word : {"null", "yes", "no", "on", "off", "true", "false", "y", "n"})
        if (lower == word) return false;
    return plain_scalar(text).is_string();
}

std::string yaml_scalar(const Json& json) {
    if (json.is_string()) return is_plain(json.get_ref<const std::string&>()) ? json.get<std::string>() : json.dump();
    if (json.is_number_float()) {
        const std::string text = format_double(json.get<double>());
        return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
    }
    return json.dump();
}

bool is_scalar(const Json& json) { return !json.is_object() && !json.is_array(); }

bool fits_one_line(const Json& json) {
    if (json.empty() || is_scalar(json)) return true;
    return json.is_array() && std::all_of(json.begin(), json.end(), is_scalar) && json.size() <= 12;
}

std::string one_line(const Json& json) {
    if (is_scalar(json)) return yaml_scalar(json);
    if (json.is_object()) return "{}";
    std::string text = "[";
    for (const Json& item : json) text += (text.size() > 1 ? ", " : "") + yaml_scalar(item);
    return text + "]";
}

void emit(const Json& json, int indent, std::string& out);

/// What follows "key:" or "-".
void emit_value(const Json& json, int indent, std::string& out) {
    if (fits_one_line(json)) {
        out += " " + one_line(json) + "\n";
        return;
    }
    out += "\n";
    emit(json, indent, out);
}

void emit(const Json& json, int indent, std::string& out) {
    const std::string pad(static_cast<std::size_t>(indent), ' ');
    if (json.is_object())
        for (const auto& [key, value] : json.items()) {
            out += pad + yaml_scalar(key) + ":";
            emit_value(value, indent + 2, out);
        }
    else
        for (const Json& item : json) {
            out += pad + "-";
            emit_value(item, indent + 2, out);
        }
}

struct PathStep {
    std::string key;
    std::vector<std::size_t> indices;
};

/// "train[0].max" -> {train, [0]}, {max}.
std::vector<PathStep> split_path(std::string_view key_path, const YamlNode& value) {
    std::vector<PathStep> steps;
    const auto bad = [&] {
        return settings_error("{}: '{}' is not a setting's path; write it as in training.batch_size=32", value.position().text(), key_path);
    };
    for (std::string_view part : split(key_path, '.')) {
        PathStep step;
        const std::size_t bracket = part.find('[');
        step.key = part.substr(0, bracket);
        if (step.key.empty() || steps.size() > 32) throw bad();
        while (bracket != std::string_view::npos && (part = part.substr(part.find('['))).size() > 2) {
            const std::size_t end = part.find(']');
            const auto index = end == std::string_view::npos ? std::nullopt : parse_int(part.substr(1, end - 1));
            if (!index || *index < 0) throw bad();
            step.indices.push_back(static_cast<std::size_t>(*index));
            part.remove_prefix(end + 1);
            if (part.empty()) break;
            if (part.front() != '[') throw bad();
        }
        if (bracket != std::string_view::npos && step.indices.empty()) throw bad();
        steps.push_back(std::move(step));
    }
    return steps;
}

YamlNode& child(YamlNode& parent, const std::string& key, std::string_view so_far, const YamlNode& value) {
    if (parent.kind == YamlNode::Kind::null) {
        parent.kind = YamlNode::Kind::map;
        parent.source = value.source, parent.line = value.line, parent.column = value.column;
    }
    if (parent.kind != YamlNode::Kind::map)
        throw settings_error("{}: '{}' is {}, so it has no setting '{}'", value.position().text(), so_far, parent.kind_name(), key);
    if (YamlNode* found = parent.find(key)) return *found;
    parent.entries.push_back({key, value.line, value.column, YamlNode{}});
    YamlNode& made = parent.entries.back().value;
    made.source = value.source;
    return made;
}

}  // namespace

Json scalar_to_json(const YamlNode& scalar) { return scalar.quoted ? Json(scalar.text) : plain_scalar(scalar.text); }

Json yaml_to_json(const YamlNode& node) {
    switch (node.kind) {
        case YamlNode::Kind::null:
            return nullptr;
        case YamlNode::Kind::scalar:
            return scalar_to_json(node);
        case YamlNode::Kind::sequence: {
            Json list = Json::array();
            for (const YamlNode& item : node.items) list.push_back(yaml_to_json(item));
            return list;
        }
        case YamlNode::Kind::map:
            break;
    }
    Json object = Json::object();
    for (const auto& entry : node.entries) object[entry.key] = yaml_to_json(entry.value);
    return object;
}

YamlNode yaml_from_json(const Json& json, std::string_view source) {
    YamlNode node;
    node.source = std::make_shared<const std::string>(source);
    if (json.is_object()) {
        node.kind = YamlNode::Kind::map;
        for (const auto& [key, value] : json.items()) node.entries.push_back({key, 0, 0, yaml_from_json(value, source)});
    } else if (json.is_array()) {
        node.kind = YamlNode::Kind::sequence;
        for (const Json& item : json) node.items.push_back(yaml_from_json(item, source));
    } else if (!json.is_null()) {
        node.kind = YamlNode::Kind::scalar;
        node.quoted = json.is_string();
        node.text = json.is_string() ? json.get<std::string>() : yaml_scalar(json);
    }
    return node;
}

std::string to_yaml(const Json& json) {
    if (fits_one_line(json)) return one_line(json) + "\n";
    std::string out;
    emit(json, 0, out);
    return out;
}

void set_override(YamlNode& root, std::string_view key_path, const YamlNode& value) {
    YamlNode* at = &root;
    std::string so_far = "the file";
    for (const PathStep& step : split_path(key_path, value)) {
        at = &child(*at, step.key, so_far, value);
        so_far = so_far == "the file" ? step.key : so_far + "." + step.key;
        for (const std::size_t index : step.indices) {
            if (at->kind != YamlNode::Kind::sequence || index >= at->items.size())
                throw settings_error("{}: '{}' has no item {}; items count from 0", value.position().text(), so_far, index);
            at = &at->items[index];
            so_far += fmt::format("[{}]", index);
        }
    }
    *at = value;
}

void apply_override(YamlNode& root, std::string_view assignment) {
    const std::size_t equals = assignment.find('=');
    if (equals == std::string_view::npos || equals == 0)
        throw usage_error("--set {}: expected key=value, as in --set training.batch_size=32", faceter::quoted(assignment));
    const std::string key(trim(assignment.substr(0, equals)));
    const std::string source = "--set " + key;
    YamlNode value = parse_yaml(assignment.substr(equals + 1), source);
    if (value.kind != YamlNode::Kind::map && value.kind != YamlNode::Kind::sequence) value.line = value.column = 0;
    set_override(root, key, value);
}

}  // namespace faceter
