#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace faceter {

/// The bytes that a base64 text (RFC 4648, with or without padding) stands for; nothing where it is none.
std::optional<std::string> decode_base64(std::string_view text);
/// The text that stands for these bytes, padded.
std::string encode_base64(std::string_view bytes);

}  // namespace faceter
