#pragma once
#include <string_view>

#include "common/json.h"

namespace faceter {

/// Whether a method's settings have a text, as in "placement=every_other"; never of one without '='.
inline bool has_value(const Json& method, std::string_view setting) {
    const std::size_t at = setting.find('=');
    return at != std::string_view::npos && json_or<Json>(method, setting.substr(0, at), Json(), "method") == Json(setting.substr(at + 1));
}

}  // namespace faceter
