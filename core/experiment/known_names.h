#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "settings/schema.h"

namespace faceter {

/// Whether the text is that of the pattern, in which a star stands for any text, none too.
bool is_like(std::string_view pattern, std::string_view text);

/// Field::names of a setting that names layers of the start model.
inline constexpr std::string_view layer_names = "<layer>";

/// What a setting may name whose values are names (Field::names), in an experiment of these tasks.
class KnownNames {
  public:
    /// `method`: all settings of the field's method; `tasks`: the experiment's, with their instructions.
    KnownNames(const Field& field, const Json& method, const Json& tasks);
    /// Why it is none of them, with those that there are; empty where it is one.
    std::string why_not(const std::string& name) const;
    /// How many there are, of those that are counted out.
    std::size_t size() const { return names_.size(); }
    /// One that is kept in the folder of another form's name; empty: none is.
    const std::string& met() const { return met_; }

  private:
    bool is_counted(const std::string& name) const;
    bool is_like_an_instruction(const std::string& pattern) const;

    std::vector<std::string> names_, counted_;  ///< counted: with <number> at the end
    std::vector<std::string> instructions_;
    std::string met_;
    bool patterns_ = false;
};

}  // namespace faceter
