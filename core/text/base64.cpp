#include "text/base64.h"

#include <algorithm>
#include <array>

namespace faceter {
namespace {

constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<signed char, 256> digits = [] {
    std::array<signed char, 256> table{};
    table.fill(-1);
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

std::string encode_base64(std::string_view bytes) {
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
        unsigned bits = 0;
        for (std::size_t k = 0; k < 3; ++k) bits = bits << 8 | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0u);
        for (std::size_t k = 0; k < 4; ++k) text += k <= count ? alphabet[bits >> (18 - 6 * k) & 0x3F] : '=';
    }
    return text;
}

}  // namespace faceter
