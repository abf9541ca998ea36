#include "text/base64.h"

#include <array>

namespace faceter {
namespace {

constexpr std::array<signed char, 256> digits = [] {
    std::array<signed char, 256> table{};
    table.fill(-1);
    constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (std::size_t i = 0; i < alphabet.size(); ++i) table[static_cast<unsigned char>(alphabet[i])] = static_cast<signed char>(i);
    return table;
}();

}  // namespace

std::optional<std::string> decode_base64(std::string_view text) {
    for (int i = 0; i < 2 && text.ends_with('='); ++i) text.remove_suffix(1);
    if (text.size() % 4 == 1) return std::nullopt;
    std::string bytes;
    bytes.reserve(text.size() / 4 * 3 + 2);
    unsigned bits = 0, num_bits = 0;
    for (const char c : text) {
        const signed char digit = digits[static_cast<unsigned char>(c)];
        if (digit < 0) return std::nullopt;
        bits = bits << 6 | static_cast<unsigned>(digit);
        num_bits += 6;
        if (num_bits < 8) continue;
        num_bits -= 8;
        bytes.push_back(static_cast<char>(bits >> num_bits & 0xFF));
    }
    return bytes;
}

}  // namespace faceter
