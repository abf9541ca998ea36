#pragma once
#include <cstddef>
#include <string_view>

namespace faceter {

/// Bytes of the extended grapheme cluster at the front of `text` (not empty, UTF-8), by Unicode's annex 29 of version 16, rules GB3 to
/// GB13, as the crate unicode-segmentation has it.
std::size_t grapheme_length(std::string_view text);

}  // namespace faceter
