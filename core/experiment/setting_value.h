#pragma once
#include <string>
#include <string_view>

#include "common/json.h"
#include "common/strings.h"

namespace faceter {

/// What is asked of a setting of a method: "placement=every_other", "multi_task=true" or "balance!=0".
struct Condition {
    std::string key, value;
    bool is_not = false;  ///< any other value is meant

    explicit Condition(std::string_view text) {
        const std::size_t at = text.find('=');
        if (at == std::string_view::npos) return;
        is_not = at > 0 && text[at - 1] == '!';
        key = text.substr(0, is_not ? at - 1 : at);
        value = text.substr(at + 1);
    }

    /// Never of a text without '='.
    bool holds(const Json& method) const { return !key.empty() && is_value(json_or<Json>(method, key, Json(), "method")) != is_not; }

  private:
    bool is_value(const Json& own) const {
        if (own.is_number()) return parse_double(value) == own.get<double>();
        return own == Json(value) || (own.is_boolean() && own.dump() == value);
    }
};

inline bool has_value(const Json& method, std::string_view setting) { return Condition(setting).holds(method); }

}  // namespace faceter
