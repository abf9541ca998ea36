#pragma once
#include <string_view>

namespace faceter {

/// Of a task that does not say its own (MoTE, section 5.1).
inline double default_temperature(std::string_view type) { return type == "clustering" ? 0.06 : 0.03; }
/// MoTE, section 4.2.
inline const char* default_batching(std::string_view type) { return type == "retrieval" ? "homogeneous" : "heterogeneous"; }

}  // namespace faceter
