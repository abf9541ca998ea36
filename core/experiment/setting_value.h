#pragma once
#include <string_view>

#include "common/json.h"

namespace faceter {

/// Whether a method's settings have a text or a switch's value, as in "placement=every_other" and "multi_task=true"; never of one without
/// '='.
inline bool has_value(const Json& method, std::string_view setting) {
    const std::size_t at = setting.find('=');
    if (at == std::string_view::npos) return false;
    const Json value = json_or<Json>(method, setting.substr(0, at), Json(), "method");
    return value == Json(setting.substr(at + 1)) || (value.is_boolean() && value.dump() == setting.substr(at + 1));
}

}  // namespace faceter
