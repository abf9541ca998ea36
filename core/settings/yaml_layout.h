#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "settings/yaml_edit.h"

namespace faceter {

/// A value in its file: what holds it and how that is written.
struct YamlSpot {
    const YamlNode* node = nullptr;
    const YamlNode* parent = nullptr;        ///< null: the top of the file
    const YamlNode::Entry* entry = nullptr;  ///< where the parent is a map
    std::size_t index = 0;                   ///< place among the parent's entries or items
    std::shared_ptr<const YamlSpot> outer;   ///< the parent's own spot
};

/// Finds where values begin and end in the text of a YAML file, and makes edits of it. yaml-cpp tells where a value begins; its end is
/// looked for here. What cannot be told is guessed: yaml_edit.cpp checks every edit by parsing what comes out.
class YamlLayout {
  public:
    explicit YamlLayout(std::string_view text);
    YamlSpot find(const YamlNode& root, const YamlPath& path) const;
    std::string line_break() const { return line_break_; }

    TextEdit replace(const YamlSpot& spot, std::string_view value) const;
    /// `entry`: "key: value", put behind the last entry of the map at `spot`.
    TextEdit insert_entry(const YamlSpot& spot, const std::string& entry) const;
    TextEdit append_item(const YamlSpot& spot, std::string_view value) const;
    TextEdit remove(const YamlSpot& spot) const;
    TextEdit rename(const YamlSpot& spot, const std::string& key) const;

  private:
    struct Span {
        std::size_t begin = 0, end = 0;
    };
    std::size_t offset(std::size_t line, std::size_t column) const;
    std::size_t line_begin(std::size_t at) const;
    std::size_t line_end(std::size_t at) const;   ///< before the line break
    std::size_t next_line(std::size_t at) const;  ///< behind the line break
    std::string pad(std::size_t at) const { return std::string(at - line_begin(at), ' '); }
    bool is_flow(const YamlNode& node) const;
    bool is_written(const YamlSpot& spot) const;  ///< not an empty value
    Span key_span(const YamlNode::Entry& entry) const;
    std::size_t behind_colon(const YamlNode::Entry& entry) const;
    std::size_t dash_of(const YamlSpot& spot) const;
    std::size_t begin_of(const YamlSpot& spot) const;
    std::size_t end_of(const YamlSpot& spot) const;
    std::size_t end_of_quoted(std::size_t at) const;
    std::size_t end_of_flow(std::size_t at) const;
    std::size_t end_of_plain(const YamlSpot& spot, std::size_t at) const;
    std::size_t end_of_deeper_lines(std::size_t at, std::size_t indent) const;
    YamlSpot child(const YamlSpot& spot, std::size_t index) const;
    std::size_t size_of(const YamlNode& node) const { return node.kind == YamlNode::Kind::map ? node.entries.size() : node.items.size(); }
    /// Where an entry or item begins, with its key or dash.
    std::size_t element_begin(const YamlSpot& spot) const;
    std::size_t indent_of_holder(const YamlSpot& spot) const;
    TextEdit replace_all_of(const YamlSpot& holder, const std::string& value) const;
    TextEdit remove_from_flow(const YamlSpot& spot) const;

    std::string_view text_;
    std::vector<std::size_t> lines_;
    std::string line_break_ = "\n";
};

}  // namespace faceter
