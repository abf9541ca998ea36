#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/error.h"
#include "common/json.h"

namespace faceter {

/// A node of a YAML file as this project reads it: no aliases (expanded while reading), no duplicate keys, the place of everything.
/// Scalars keep their text; what they mean is decided by scalar_to_json and by the setting's type (core/settings/check.h).
struct YamlNode {
    enum class Kind { null, scalar, sequence, map };
    struct Entry;

    Kind kind = Kind::null;
    std::string text;                           ///< scalar
    bool quoted = false;                        ///< 'text' or "text" (or a block scalar): always text
    std::vector<YamlNode> items;                ///< sequence
    std::vector<Entry> entries;                 ///< map, in the file's order
    std::shared_ptr<const std::string> source;  ///< file, or "--set key"
    std::size_t line = 0, column = 0;           ///< from 1; 0: not from a file

    SourcePosition position() const { return {source ? *source : std::string(), line, column}; }
    const YamlNode* find(std::string_view key) const;
    YamlNode* find(std::string_view key);
    const Entry* entry(std::string_view key) const;
    /// "a map", "a list", "text", ... for messages.
    std::string_view kind_name() const;
};

struct YamlNode::Entry {
    std::string key;
    std::size_t line = 0, column = 0;  ///< of the key
    YamlNode value;
};

/// Limits against hostile files: an experiment file is small.
struct YamlLimits {
    std::size_t bytes = std::size_t(1) << 20;  ///< of the file, and of all text after expansion of aliases
    std::size_t nodes = 100'000;               ///< after expansion of aliases
    int depth = 64;
};

/// Parses one document. Errors (settings): syntax, duplicate keys, several documents, keys that are not plain text, custom tags, too large.
YamlNode parse_yaml(std::string_view text, std::string_view file, const YamlLimits& limits = {});
YamlNode read_yaml(const std::string& path, const YamlLimits& limits = {});

/// What a scalar means: null (`null`, `~`, empty), true/false, a decimal integer, a decimal number (1e3, 2.0e-5), else text. Quoted scalars
/// are text.
Json scalar_to_json(const YamlNode& scalar);
/// The whole tree by the same rules.
Json yaml_to_json(const YamlNode& node);
/// A JSON value as a tree without positions (`source` names where it comes from).
YamlNode yaml_from_json(const Json& json, std::string_view source);
/// JSON as readable YAML (what `faceter show --yaml` and the run directory hold). Reads back as the same values.
std::string to_yaml(const Json& json);

/// Sets the node at the dotted path ("training.learning_rate", "tasks.retrieval.train[0].max_examples"), creating maps on the way.
/// `value` is taken as YAML. Errors (settings) name the override.
void set_override(YamlNode& root, std::string_view key_path, const YamlNode& value);
/// One `--set key=value`. `value` is read as YAML (so `[1, 2]` is a list).
void apply_override(YamlNode& root, std::string_view assignment);

}  // namespace faceter
