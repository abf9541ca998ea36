#include "settings/yaml_edit.h"

#include "common/printable.h"
#include "common/strings.h"
#include "settings/yaml_layout.h"

namespace faceter {
namespace {

constexpr const char* file_name = "experiment";

Error refused(const YamlPath& path) {
    return settings_error(
        "{} cannot be changed in place, because of how the file writes it (an alias, or a value over several lines); edit the text",
        yaml_path_text(path));
}

Json parsed(std::string_view text) { return yaml_to_json(parse_yaml(text, file_name)); }

/// The value at the path, with the maps on the way made.
Json& place_of(Json& root, const YamlPath& path) {
    Json* at = &root;
    for (const YamlStep& step : path) {
        if (step.is_item) {
            if (!at->is_array() || step.index >= at->size()) throw refused(path);
            at = &(*at)[step.index];
        } else {
            if (at->is_null()) *at = Json::object();
            if (!at->is_object()) throw refused(path);
            at = &(*at)[step.key];
        }
    }
    return *at;
}

YamlPath parent_of(const YamlPath& path) { return {path.begin(), path.end() - 1}; }

/// The edit where it does just what was meant.
TextEdit checked(std::string_view text, TextEdit edit, const Json& meant, const YamlPath& path) {
    try {
        if (parsed(edit.applied_to(text)) == meant) return edit;
    } catch (const Error&) {
        // what was made is no YAML: refused below
    }
    throw refused(path);
}

/// "a: {b: value}" for the keys of path behind the first `known` steps; the first level below the top of the file stands on a line of its
/// own.
std::string nested(const YamlPath& path, std::size_t known, std::string_view value, const YamlLayout& layout) {
    std::string text = yaml_text(path[known].key) + ":";
    if (known + 1 == path.size()) return text + " " + std::string(value);
    std::string inner = yaml_text(path.back().key) + ": " + std::string(value);
    for (std::size_t i = path.size() - 2; i > known; --i) inner = yaml_text(path[i].key) + ": {" + inner + "}";
    return known == 0 ? text + layout.line_break() + "  " + inner : text + " {" + inner + "}";
}

}  // namespace

std::string yaml_path_text(const YamlPath& path) {
    std::string text;
    for (const YamlStep& step : path)
        if (step.is_item)
            text += fmt::format("[{}]", step.index);
        else
            text += (text.empty() ? "" : ".") + printable(step.key);  // a zero byte would end the message
    return text;
}

const YamlNode* yaml_at(const YamlNode& root, const YamlPath& path) {
    const YamlNode* at = &root;
    for (const YamlStep& step : path) {
        if (step.is_item)
            at = at->kind == YamlNode::Kind::sequence && step.index < at->items.size() ? &at->items[step.index] : nullptr;
        else
            at = at->kind == YamlNode::Kind::map ? at->find(step.key) : nullptr;
        if (!at) return nullptr;
    }
    return at;
}

YamlPath yaml_path_at(const YamlNode& root, std::size_t line, std::size_t column) {
    const auto before = [&](std::size_t l, std::size_t c) { return l > 0 && (l < line || (l == line && c <= column)); };
    YamlPath path;
    for (const YamlNode* at = &root;;) {
        const YamlNode* inner = nullptr;
        YamlStep step("");
        for (const auto& entry : at->entries)
            if (before(entry.line, entry.column)) inner = &entry.value, step = YamlStep(entry.key);
        for (std::size_t i = 0; i < at->items.size(); ++i)
            if (before(at->items[i].line, at->items[i].column)) inner = &at->items[i], step = YamlStep::item(i);
        if (!inner) return path;
        path.push_back(step);
        at = inner;
    }
}

std::string TextEdit::applied_to(std::string_view whole) const {
    std::string result(whole.substr(0, begin));
    result += text;
    return result += whole.substr(end);
}

TextEdit yaml_set(std::string_view text, const YamlPath& path, std::string_view value) {
    const YamlNode root = parse_yaml(text, file_name);
    const YamlLayout layout(text);
    Json meant = yaml_to_json(root);
    place_of(meant, path) = parsed(value);
    // The deepest part of the path that is there.
    std::size_t known = path.size();
    while (known > 0 && !yaml_at(root, {path.begin(), path.begin() + static_cast<std::ptrdiff_t>(known)})) --known;
    const YamlPath there(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(known));
    const YamlSpot spot = layout.find(root, there);
    TextEdit edit;
    if (known == path.size())
        edit = layout.replace(spot, value);
    else if (path[known].is_item)
        throw refused(path);
    else
        edit = layout.insert_entry(spot, nested(path, known, value, layout));
    return checked(text, std::move(edit), meant, path);
}

TextEdit yaml_remove(std::string_view text, const YamlPath& path) {
    const YamlNode root = parse_yaml(text, file_name);
    const YamlLayout layout(text);
    Json meant = yaml_to_json(root);
    if (path.empty() || !yaml_at(root, path)) throw settings_error("{}: is not in the file", yaml_path_text(path));
    Json& parent = place_of(meant, parent_of(path));
    if (path.back().is_item)
        parent.erase(path.back().index);
    else
        parent.erase(path.back().key);
    if (path.size() == 1 && meant.empty()) meant = nullptr;
    return checked(text, layout.remove(layout.find(root, path)), meant, path);
}

TextEdit yaml_append(std::string_view text, const YamlPath& list, std::string_view value) {
    const YamlNode root = parse_yaml(text, file_name);
    const YamlNode* there = yaml_at(root, list);
    if (!there) return yaml_set(text, list, "[" + std::string(value) + "]");
    const YamlLayout layout(text);
    Json meant = yaml_to_json(root);
    Json& items = place_of(meant, list);
    if (!items.is_null() && !items.is_array()) throw refused(list);
    items.push_back(parsed(value));
    return checked(text, layout.append_item(layout.find(root, list), value), meant, list);
}

TextEdit yaml_rename(std::string_view text, const YamlPath& path, std::string_view key) {
    const YamlNode root = parse_yaml(text, file_name);
    const YamlLayout layout(text);
    if (path.empty() || path.back().is_item || !yaml_at(root, path)) throw settings_error("{}: is not in the file", yaml_path_text(path));
    Json meant = yaml_to_json(root), renamed = Json::object();
    Json& parent = place_of(meant, parent_of(path));
    if (path.back().key != key && parent.contains(std::string(key)))
        throw settings_error("{} is there already; choose another name", quoted(key));
    for (const auto& [name, value] : parent.items()) renamed[name == path.back().key ? std::string(key) : name] = value;
    parent = renamed;
    return checked(text, layout.rename(layout.find(root, path), yaml_text(key)), meant, path);
}

std::string yaml_text(std::string_view text, std::string_view like) {
    const bool single = like.starts_with('\''), dubious = text.find_first_of("\n\r\t\\\"") != std::string_view::npos;
    if (single && !dubious && is_valid_utf8(text)) {
        std::string quoted_text = "'";
        for (const char c : text) quoted_text += c == '\'' ? std::string("''") : std::string(1, c);
        return quoted_text + "'";
    }
    const std::string plain = yaml_inline(std::string(text));
    return like.starts_with('"') && !plain.starts_with('"') ? "\"" + plain + "\"" : plain;
}

std::string yaml_inline(const Json& json) {
    std::string text;
    if (json.is_object()) {
        for (const auto& [key, value] : json.items()) text += (text.empty() ? "" : ", ") + yaml_text(key) + ": " + yaml_inline(value);
        return "{" + text + "}";
    }
    if (json.is_array()) {
        for (const Json& item : json) text += (text.empty() ? "" : ", ") + yaml_inline(item);
        return "[" + text + "]";
    }
    text = to_yaml(json);  // one rule for what needs quotes
    text.pop_back();
    return text;
}

}  // namespace faceter
