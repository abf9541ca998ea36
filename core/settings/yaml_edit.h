#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "settings/yaml.h"

namespace faceter {

/// One step from a node to a value in it: a key of a map or a place in a list.
struct YamlStep {
    std::string key;
    std::size_t index = 0;
    bool is_item = false;
    YamlStep(std::string name) : key(std::move(name)) {}
    YamlStep(const char* name) : key(name) {}
    static YamlStep item(std::size_t place) {
        YamlStep step("");
        step.index = place;
        step.is_item = true;
        return step;
    }
    bool operator==(const YamlStep&) const = default;
};
/// From the top of the file. Empty: the whole.
using YamlPath = std::vector<YamlStep>;

/// "tasks.retrieval.train[0].name", as messages write it.
std::string yaml_path_text(const YamlPath& path);
/// The value there; null where there is none.
const YamlNode* yaml_at(const YamlNode& root, const YamlPath& path);
/// The innermost value that begins at or before a place of the file (from 1), by its key or itself. Empty: before everything.
YamlPath yaml_path_at(const YamlNode& root, std::size_t line, std::size_t column);

/// Puts `text` in place of the bytes [begin, end).
struct TextEdit {
    std::size_t begin = 0, end = 0;
    std::string text;
    std::string applied_to(std::string_view whole) const;
};

// Changes of one value that leave everything else of a file, its comments and its layout, as they are. Each parses what it made and
// compares it with what was meant; where the file's layout does not allow the change in place (aliases, keys over several lines ...), it
// throws a settings error that says so and the text has to be edited by hand. `value` is YAML on one line (yaml_inline, yaml_text).

/// Sets a value, adding its key and the maps on the way where they are not there.
TextEdit yaml_set(std::string_view text, const YamlPath& path, std::string_view value);
/// Removes a key or a list item with its comment on the same line; a map or list that is left empty stays as {} or [].
TextEdit yaml_remove(std::string_view text, const YamlPath& path);
/// Appends an item to a list, which is made where it is not there.
TextEdit yaml_append(std::string_view text, const YamlPath& list, std::string_view value);
/// Gives a key another name.
TextEdit yaml_rename(std::string_view text, const YamlPath& path, std::string_view key);

/// A value on one line: {a: 1, b: [x, y]}. Reads back as the same value wherever it stands.
std::string yaml_inline(const Json& json);
/// Text as a scalar, quoted where it would mean something else, or like `like` is (another scalar's source text) where that is quoted.
std::string yaml_text(std::string_view text, std::string_view like = {});

}  // namespace faceter
