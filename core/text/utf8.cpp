#include "text/utf8.h"

namespace faceter {
namespace {

/// What the second byte of a sequence may be: narrower than 80..BF after E0, ED, F0 and F4 (Unicode, table 3-7).
struct LeadByte {
    int length = 0;
    unsigned char second_low = 0x80, second_high = 0xBF;
};

LeadByte lead_byte(unsigned char byte) {
    if (byte >= 0xC2 && byte <= 0xDF) return {2};
    if (byte == 0xE0) return {3, 0xA0, 0xBF};
    if (byte == 0xED) return {3, 0x80, 0x9F};
    if (byte >= 0xE1 && byte <= 0xEF) return {3};
    if (byte == 0xF0) return {4, 0x90, 0xBF};
    if (byte == 0xF4) return {4, 0x80, 0x8F};
    if (byte >= 0xF1 && byte <= 0xF3) return {4};
    return {0};
}

}  // namespace

DecodedChar decode_utf8(const char* at, const char* end) {
    const auto byte = [&](int i) { return static_cast<unsigned char>(at[i]); };
    if (byte(0) < 0x80) return {byte(0), 1, true};
    const LeadByte lead = lead_byte(byte(0));
    if (lead.length == 0) return {};
    char32_t code_point = byte(0) & (0xFF >> (lead.length + 1));
    for (int i = 1; i < lead.length; ++i) {
        const unsigned char low = i == 1 ? lead.second_low : 0x80, high = i == 1 ? lead.second_high : 0xBF;
        if (at + i >= end || byte(i) < low || byte(i) > high) return {0xFFFD, i, false};
        code_point = code_point << 6 | (byte(i) & 0x3F);
    }
    return {code_point, lead.length, true};
}

void append_utf8(char32_t code_point, std::string& out) {
    const auto put = [&](char32_t bits) { out.push_back(static_cast<char>(static_cast<unsigned char>(bits))); };
    if (code_point < 0x80) {
        put(code_point);
    } else if (code_point < 0x800) {
        put(0xC0 | code_point >> 6), put(0x80 | (code_point & 0x3F));
    } else if (code_point < 0x10000) {
        put(0xE0 | code_point >> 12), put(0x80 | (code_point >> 6 & 0x3F)), put(0x80 | (code_point & 0x3F));
    } else {
        put(0xF0 | code_point >> 18), put(0x80 | (code_point >> 12 & 0x3F)), put(0x80 | (code_point >> 6 & 0x3F));
        put(0x80 | (code_point & 0x3F));
    }
}

std::u32string utf8_to_utf32(std::string_view text) {
    std::u32string out;
    out.reserve(text.size());
    for (const char *at = text.data(), *end = at + text.size(); at < end;) {
        const DecodedChar decoded = decode_utf8(at, end);
        out.push_back(decoded.code_point);
        at += decoded.length;
    }
    return out;
}

std::string utf32_to_utf8(std::u32string_view text) {
    std::string out;
    out.reserve(text.size());
    for (const char32_t code_point : text) append_utf8(code_point, out);
    return out;
}

std::string replace_invalid_utf8(std::string_view text) { return utf32_to_utf8(utf8_to_utf32(text)); }

}  // namespace faceter
