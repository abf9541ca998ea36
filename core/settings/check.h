#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "settings/schema.h"
#include "settings/yaml.h"

namespace faceter {

/// What is wrong with a file, each as "file:line:column: ...", in the file's order of discovery.
class Problems {
  public:
    static constexpr std::size_t limit = 20;
    void add(const SourcePosition& position, std::string_view message);
    bool empty() const { return lines_.empty(); }
    const std::vector<std::string>& lines() const { return lines_; }
    /// A settings error with one line a problem, where there are any.
    void throw_if_any() const;

  private:
    std::vector<std::string> lines_;
    std::size_t left_out_ = 0;
};

struct CheckContext {
    std::filesystem::path base_folder;  ///< `path` settings are made absolute against it; empty: left as they are
    Problems* problems = nullptr;
};

/// Checks `node` against the schema and returns the settings with every default filled in, in the schema's order.
/// `where` is the dotted path of the node ("" at the top) for messages. What is wrong goes to context.problems; a wrong value is replaced
/// by its default, so that checking goes on.
Json check_section(const Schema& schema, const YamlNode& node, std::string_view where, const CheckContext& context);
/// One value against one field (used for values that are not in a section: sweep points, list items).
Json check_value(const Field& field, const YamlNode& node, std::string_view where, const CheckContext& context);

/// check_section at the top of a file; throws a settings error that lists up to 20 problems, one a line.
Json resolve(const Schema& schema, const YamlNode& node, const std::filesystem::path& base_folder = {});
/// All defaults of a schema. A required setting is left out.
Json defaults_of(const Schema& schema);
/// `settings` with the default of each one that is missing, or is null where null is no value; of a section, those within it. What is given
/// stays as it is and is not checked; a required setting stays missing, and what is no map stays what it is.
Json filled_in(const Schema& schema, Json settings);

}  // namespace faceter
