#pragma once
#include <map>
#include <string>
#include <string_view>

#include "settings/yaml_edit.h"

namespace faceter::desktop {

/// Where in a YAML file a place of its text is, told from the text before it alone: a file that is being typed is seldom valid.
struct YamlContext {
    YamlPath path;         ///< of the map, list or value that the place is in
    bool inValue = false;  ///< behind "key:" or at a list's item: `path` is the value's
    bool inComment = false, inQuotes = false;
    std::string prefix;                       ///< what of the key or value stands before the place
    std::size_t prefixBegin = 0;              ///< byte
    std::map<std::string, std::string> seen;  ///< keys of the same map before the place, with their values where they stand on the line
};

YamlContext yamlContext(std::string_view text, std::size_t byte);

}  // namespace faceter::desktop
