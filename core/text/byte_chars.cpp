#include "text/byte_chars.h"

#include <array>

#include "text/utf8.h"

namespace faceter {
namespace {

constexpr bool is_itself(unsigned byte) { return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE; }

constexpr std::array<char32_t, 256> chars = [] {
    std::array<char32_t, 256> table{};
    char32_t next = 0x100;
    for (unsigned byte = 0; byte < 256; ++byte) table[byte] = is_itself(byte) ? byte : next++;
    return table;
}();

}  // namespace

char32_t byte_char(unsigned char byte) { return chars[byte]; }

void append_byte_chars(std::string_view bytes, std::string& out) {
    for (const char byte : bytes) append_utf8(chars[static_cast<unsigned char>(byte)], out);
}

}  // namespace faceter
