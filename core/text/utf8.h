#pragma once
#include <string>
#include <string_view>

namespace faceter {

/// One character at the front of some bytes. Where they are not UTF-8, the code point is U+FFFD and `length` covers the maximal part of a
/// sequence (Unicode, chapter 3, "U+FFFD substitution of maximal subparts"), as Python's errors="replace" does.
struct DecodedChar {
    char32_t code_point = 0xFFFD;
    int length = 1;
    bool valid = false;
};

/// `at` must lie before `end`.
DecodedChar decode_utf8(const char* at, const char* end);
/// `code_point` must be a scalar value.
void append_utf8(char32_t code_point, std::string& out);
std::u32string utf8_to_utf32(std::string_view text);
std::string utf32_to_utf8(std::u32string_view text);
/// The text with every part that is not UTF-8 replaced by U+FFFD.
std::string replace_invalid_utf8(std::string_view text);

}  // namespace faceter
