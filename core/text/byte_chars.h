#pragma once
#include <string>
#include <string_view>

namespace faceter {

/// The character that GPT-2's byte-level BPE writes for a byte: itself where it is printable in Latin-1, else one from U+0100 on.
char32_t byte_char(unsigned char byte);
void append_byte_chars(std::string_view bytes, std::string& out);

}  // namespace faceter
