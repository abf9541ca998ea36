#pragma once
#include <cstdint>
#include <string>

namespace faceter {

/// The number of the plugin interface; raised with every change of what a plugin sees.
inline constexpr std::uint32_t plugin_abi = 1;

/// What must agree between a plugin and the program that loads it: compiler ABI, libtorch, Faceter and sanitizers, as one text of
/// "name=value" fields, so that a mismatch can name the field.
std::string build_fingerprint();

}  // namespace faceter
