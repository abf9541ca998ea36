#include "settings/yaml_layout.h"

#include <algorithm>

#include "common/strings.h"

namespace faceter {

YamlLayout::YamlLayout(std::string_view text) : text_(text), lines_{0} {
    for (std::size_t i = 0; i < text.size(); ++i)
        if (text[i] == '\n') lines_.push_back(i + 1);
    if (lines_.size() > 1 && lines_[1] >= 2 && text[lines_[1] - 2] == '\r') line_break_ = "\r\n";
}

std::size_t YamlLayout::offset(std::size_t line, std::size_t column) const {
    if (line == 0 || line > lines_.size()) return text_.size();
    return std::min(text_.size(), lines_[line - 1] + (column > 0 ? column - 1 : 0));
}

std::size_t YamlLayout::line_begin(std::size_t at) const { return *(std::upper_bound(lines_.begin(), lines_.end(), at) - 1); }

std::size_t YamlLayout::next_line(std::size_t at) const {
    const auto next = std::upper_bound(lines_.begin(), lines_.end(), at);
    return next == lines_.end() ? text_.size() : *next;
}

std::size_t YamlLayout::line_end(std::size_t at) const {
    std::size_t end = next_line(at);
    while (end > at && (text_[end - 1] == '\n' || text_[end - 1] == '\r')) --end;
    return end;
}

bool YamlLayout::is_flow(const YamlNode& node) const {
    const std::size_t at = offset(node.line, node.column);
    return node.line > 0 && at < text_.size() && (text_[at] == '{' || text_[at] == '[');
}

YamlSpot YamlLayout::child(const YamlSpot& spot, std::size_t index) const {
    YamlSpot inner;
    inner.parent = spot.node;
    inner.index = index;
    inner.entry = spot.node->kind == YamlNode::Kind::map ? &spot.node->entries[index] : nullptr;
    inner.node = inner.entry ? &inner.entry->value : &spot.node->items[index];
    inner.outer = std::make_shared<const YamlSpot>(spot);
    return inner;
}

YamlSpot YamlLayout::find(const YamlNode& root, const YamlPath& path) const {
    YamlSpot spot;
    spot.node = &root;
    for (const YamlStep& step : path) {
        std::size_t index = step.index;
        if (!step.is_item)
            for (index = 0; index < spot.node->entries.size() && spot.node->entries[index].key != step.key;) ++index;
        if (index >= size_of(*spot.node)) throw settings_error("{}: is not in the file", yaml_path_text(path));
        spot = child(spot, index);
    }
    return spot;
}

YamlLayout::Span YamlLayout::key_span(const YamlNode::Entry& entry) const {
    const std::size_t begin = offset(entry.line, entry.column);
    if (begin < text_.size() && (text_[begin] == '"' || text_[begin] == '\'')) return {begin, end_of_quoted(begin)};
    std::size_t end = std::min(text_.size(), begin + entry.key.size());
    return {begin, end};
}

std::size_t YamlLayout::behind_colon(const YamlNode::Entry& entry) const {
    std::size_t at = key_span(entry).end;
    while (at < text_.size() && text_[at] == ' ') ++at;
    return at < text_.size() && text_[at] == ':' ? at + 1 : at;
}

/// An empty value has no text of its own; `~` and `null` have.
bool YamlLayout::is_written(const YamlSpot& spot) const {
    if (spot.node->kind != YamlNode::Kind::null) return true;
    const std::size_t at = offset(spot.node->line, spot.node->column);
    if (!spot.entry || spot.node->line == 0 || at >= text_.size()) return false;
    const std::size_t colon = behind_colon(*spot.entry);
    if (at < colon || text_.substr(colon, at - colon).find_first_not_of(' ') != std::string_view::npos) return false;
    return text_[at] == '~' || lowercase_ascii(text_.substr(at, 4)) == "null";
}

std::size_t YamlLayout::dash_of(const YamlSpot& spot) const {
    std::size_t at = offset(spot.node->line, spot.node->column);
    while (at > 0 && (text_[at - 1] == ' ' || text_[at - 1] == '\n' || text_[at - 1] == '\r')) --at;
    return at > 0 ? at - 1 : 0;
}

std::size_t YamlLayout::begin_of(const YamlSpot& spot) const {
    if (!is_written(spot)) return spot.entry ? behind_colon(*spot.entry) : offset(spot.node->line, spot.node->column);
    return offset(spot.node->line, spot.node->column);
}

std::size_t YamlLayout::end_of_quoted(std::size_t at) const {
    const char quote = text_[at];
    for (++at; at < text_.size(); ++at) {
        if (quote == '"' && text_[at] == '\\')
            ++at;
        else if (text_[at] == quote && quote == '\'' && at + 1 < text_.size() && text_[at + 1] == quote)
            ++at;
        else if (text_[at] == quote)
            return at + 1;
    }
    return text_.size();
}

std::size_t YamlLayout::end_of_flow(std::size_t at) const {
    int depth = 0;
    for (; at < text_.size(); ++at) {
        const char c = text_[at];
        const char before = at > 0 ? text_[at - 1] : ' ';
        const bool starts = before == ' ' || before == ',' || before == '[' || before == '{' || before == ':' || before == '\n';
        if (starts && (c == '"' || c == '\''))
            at = end_of_quoted(at) - 1;
        else if (c == '#' && (before == ' ' || before == '\n'))
            at = line_end(at);
        else if (c == '[' || c == '{')
            ++depth;
        else if ((c == ']' || c == '}') && --depth == 0)
            return at + 1;
    }
    return text_.size();
}

/// Column of the key or dash that a value belongs to: its further lines stand deeper.
std::size_t YamlLayout::indent_of_holder(const YamlSpot& spot) const {
    if (!spot.parent) return 0;
    const std::size_t at = element_begin(spot);
    return at - line_begin(at);
}

/// The end of the last line that is deeper than `indent`, from the line of `at` on.
std::size_t YamlLayout::end_of_deeper_lines(std::size_t at, std::size_t indent) const {
    std::size_t end = line_end(at);
    for (std::size_t line = next_line(at); line < text_.size(); line = next_line(line)) {
        const std::size_t first = text_.find_first_not_of(' ', line);
        if (first == std::string_view::npos) break;
        const bool blank = text_[first] == '\n' || text_[first] == '\r';
        if (!blank && first - line <= indent) break;
        if (!blank) end = line_end(line);
        if (next_line(line) == line) break;
    }
    return end;
}

std::size_t YamlLayout::end_of_plain(const YamlSpot& spot, std::size_t at) const {
    const std::size_t line = line_end(at);
    const bool flow = spot.parent && is_flow(*spot.parent);
    std::size_t end = at;
    for (; end < line; ++end) {
        const char c = text_[end];
        const bool blank_next =
            end + 1 >= line || text_[end + 1] == ' ' || (flow && std::string_view(",]}").find(text_[end + 1]) != std::string_view::npos);
        if ((c == ':' && blank_next) || (c == '#' && end > at && text_[end - 1] == ' ')) break;
        if (flow && std::string_view(",[]{}").find(c) != std::string_view::npos) break;
    }
    while (end > at && text_[end - 1] == ' ') --end;
    const bool more = !flow && spot.node->kind == YamlNode::Kind::scalar && spot.node->text.size() > end - at;
    return more ? end_of_deeper_lines(at, indent_of_holder(spot)) : end;
}

std::size_t YamlLayout::end_of(const YamlSpot& spot) const {
    const std::size_t at = begin_of(spot);
    if (!is_written(spot)) return spot.entry ? at : std::max(at, dash_of(spot) + 1);
    if (is_flow(*spot.node)) return end_of_flow(at);
    if (const std::size_t count = size_of(*spot.node); count > 0 && spot.node->kind != YamlNode::Kind::scalar)
        return end_of(child(spot, count - 1));
    if (at >= text_.size()) return at;
    if (text_[at] == '"' || text_[at] == '\'') return end_of_quoted(at);
    if (text_[at] == '|' || text_[at] == '>') return end_of_deeper_lines(at, indent_of_holder(spot));
    return end_of_plain(spot, at);
}

std::size_t YamlLayout::element_begin(const YamlSpot& spot) const {
    if (spot.entry) return offset(spot.entry->line, spot.entry->column);
    return is_flow(*spot.parent) ? offset(spot.node->line, spot.node->column) : dash_of(spot);
}

}  // namespace faceter
