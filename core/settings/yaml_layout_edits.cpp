#include "settings/yaml_layout.h"

// The edits themselves: what is put in, and what goes.

namespace faceter {

/// A whole value, whatever its shape, by one on the key's (or dash's) line; a comment behind the key stays.
TextEdit YamlLayout::replace_all_of(const YamlSpot& holder, const std::string& value) const {
    if (!holder.parent) return {begin_of(holder), end_of(holder), value};
    const std::size_t begin = holder.entry ? behind_colon(*holder.entry) : dash_of(holder) + 1;
    const std::size_t end = end_of(holder), line = line_end(begin);
    const bool below = end > line;
    std::string kept = below ? std::string(text_.substr(begin, line - begin)) : std::string();
    if (kept.find('#') == std::string::npos) kept.clear();
    return {begin, end, " " + value + kept};
}

TextEdit YamlLayout::replace(const YamlSpot& spot, std::string_view value) const {
    if (!is_written(spot)) return {begin_of(spot), begin_of(spot), " " + std::string(value)};
    const bool block = spot.node->kind != YamlNode::Kind::scalar && spot.node->kind != YamlNode::Kind::null && !is_flow(*spot.node);
    if (block) return replace_all_of(spot, std::string(value));
    return {begin_of(spot), end_of(spot), std::string(value)};
}

TextEdit YamlLayout::insert_entry(const YamlSpot& spot, const std::string& entry) const {
    if (!spot.parent && size_of(*spot.node) == 0 && !is_flow(*spot.node)) {
        const bool fresh_line = text_.empty() || text_.back() == '\n';
        return {text_.size(), text_.size(), (fresh_line ? "" : line_break_) + entry + line_break_};
    }
    if (spot.node->kind == YamlNode::Kind::null) {
        if (!spot.entry || is_written(spot) || is_flow(*spot.parent)) return replace(spot, "{" + entry + "}");
        const std::size_t at = line_end(behind_colon(*spot.entry));
        return {at, at, line_break_ + pad(element_begin(spot)) + "  " + entry};
    }
    if (is_flow(*spot.node)) {
        if (size_of(*spot.node) == 0) return {begin_of(spot) + 1, begin_of(spot) + 1, entry};
        const std::size_t at = end_of(child(spot, size_of(*spot.node) - 1));
        return {at, at, ", " + entry};
    }
    const std::size_t at = line_end(end_of(spot));
    // A nested block in `entry` stands two deeper than the map.
    std::string text = entry;
    const std::string indent = pad(begin_of(spot));
    for (std::size_t from = text.find('\n'); from != std::string::npos; from = text.find('\n', from + 1 + indent.size()))
        text.insert(from + 1, indent);
    return {at, at, line_break_ + indent + text};
}

TextEdit YamlLayout::append_item(const YamlSpot& spot, std::string_view value) const {
    const std::string item(value);
    if (spot.node->kind == YamlNode::Kind::null) {
        if (!spot.entry || is_written(spot) || is_flow(*spot.parent)) return replace(spot, "[" + item + "]");
        const std::size_t at = line_end(behind_colon(*spot.entry));
        return {at, at, line_break_ + pad(element_begin(spot)) + "  - " + item};
    }
    if (is_flow(*spot.node)) {
        if (spot.node->items.empty()) return {begin_of(spot) + 1, begin_of(spot) + 1, item};
        const std::size_t at = end_of(child(spot, spot.node->items.size() - 1));
        return {at, at, ", " + item};
    }
    const std::size_t at = line_end(end_of(spot));
    return {at, at, line_break_ + pad(element_begin(child(spot, 0))) + "- " + item};
}

TextEdit YamlLayout::remove_from_flow(const YamlSpot& spot) const {
    const YamlSpot& holder = *spot.outer;
    const std::size_t count = size_of(*spot.parent);
    if (count == 1) return {begin_of(holder) + 1, end_of(holder) - 1, ""};
    if (spot.index + 1 < count) return {element_begin(spot), element_begin(child(holder, spot.index + 1)), ""};
    return {end_of(child(holder, spot.index - 1)), end_of(spot), ""};
}

TextEdit YamlLayout::remove(const YamlSpot& spot) const {
    if (is_flow(*spot.parent)) return remove_from_flow(spot);
    const YamlSpot& holder = *spot.outer;
    const std::size_t begin = element_begin(spot), line = line_begin(begin);
    if (size_of(*spot.parent) == 1 && holder.parent) return replace_all_of(holder, spot.entry ? "{}" : "[]");
    // "- name: x" with further keys below: the dash stays, the next key moves up to it.
    const bool shares_line = text_.substr(line, begin - line).find_first_not_of(' ') != std::string_view::npos;
    if (shares_line && spot.index + 1 < size_of(*spot.parent)) return {begin, element_begin(child(holder, spot.index + 1)), ""};
    return {line, next_line(end_of(spot)), ""};
}

TextEdit YamlLayout::rename(const YamlSpot& spot, const std::string& key) const {
    const Span span = key_span(*spot.entry);
    return {span.begin, span.end, key};
}

}  // namespace faceter
