#include "text/bert_unicode.h"

#include <unicode/uchar.h>
#include <unicode/unorm2.h>
#include <unicode/utf16.h>

#include <algorithm>
#include <array>
#include <utility>

namespace faceter::bert_unicode {
namespace {

constexpr int categories_version = 8, decompositions_version = 9;

/// The Unicode version that assigned the character; 0 where none did.
int age(char32_t c) {
    UVersionInfo version;
    u_charAge(static_cast<UChar32>(c), version);
    return version[0];
}

std::uint32_t category_mask(char32_t c) {
    return age(c) <= categories_version ? U_GET_GC_MASK(static_cast<UChar32>(c)) : std::uint32_t{U_GC_CN_MASK};
}

bool is_one_of(char32_t c, std::initializer_list<char32_t> list) { return std::find(list.begin(), list.end(), c) != list.end(); }

/// Capitals of Unicode 16 and 17, which ICU 72 to 74 do not know: `count` from `first` have their small letters from `small`.
struct CapitalRange {
    char32_t first, small;
    unsigned count;
};
constexpr std::array<CapitalRange, 10> late_capitals = {{{0x1C89, 0x1C8A, 1},
                                                         {0xA7CB, 0x0264, 1},
                                                         {0xA7CC, 0xA7CD, 1},
                                                         {0xA7CE, 0xA7CF, 1},
                                                         {0xA7D2, 0xA7D3, 1},
                                                         {0xA7D4, 0xA7D5, 1},
                                                         {0xA7DA, 0xA7DB, 1},
                                                         {0xA7DC, 0x019B, 1},
                                                         {0x10D50, 0x10D70, 22},
                                                         {0x16EA0, 0x16EBB, 25}}};

/// Letters, marks and digits of Unicode 15.1 and 16, which ICU 72 does not know.
constexpr std::array<std::pair<char32_t, char32_t>, 32> late_word_characters = {{
    {0x897, 0x897},     {0x1C89, 0x1C8A},   {0xA7CB, 0xA7CD},   {0xA7DA, 0xA7DC},   {0x105C0, 0x105F3}, {0x10D40, 0x10D65},
    {0x10D69, 0x10D6D}, {0x10D6F, 0x10D85}, {0x10EC2, 0x10EC4}, {0x10EFC, 0x10EFC}, {0x11380, 0x11389}, {0x1138B, 0x1138B},
    {0x1138E, 0x1138E}, {0x11390, 0x113B5}, {0x113B7, 0x113C0}, {0x113C2, 0x113C2}, {0x113C5, 0x113C5}, {0x113C7, 0x113CA},
    {0x113CC, 0x113D3}, {0x113E1, 0x113E2}, {0x116D0, 0x116E3}, {0x11BC0, 0x11BE0}, {0x11BF0, 0x11BF9}, {0x11F5A, 0x11F5A},
    {0x13460, 0x143FA}, {0x16100, 0x16139}, {0x16D40, 0x16D6C}, {0x16D70, 0x16D79}, {0x18CFF, 0x18CFF}, {0x1CCF0, 0x1CCF9},
    {0x1E5D0, 0x1E5FA}, {0x2EBF0, 0x2EE5D},
}};

}  // namespace

bool is_removed(char32_t c) {
    if (c == '\t' || c == '\n' || c == '\r') return false;
    return c == 0 || c == 0xFFFD || (category_mask(c) & (U_GC_CC_MASK | U_GC_CF_MASK | U_GC_CO_MASK)) != 0;
}

bool is_whitespace(char32_t c) { return u_isUWhiteSpace(static_cast<UChar32>(c)); }

bool is_chinese(char32_t c) {
    return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x20000 && c <= 0x2A6DF) ||
           (c >= 0x2A700 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF) || (c >= 0xF900 && c <= 0xFAFF) ||
           (c >= 0x2F800 && c <= 0x2FA1F);
}

bool is_nonspacing_mark(char32_t c) {
    if (is_one_of(c, {0x1885, 0x1886, 0xA9BD, 0x111C9})) return false;  // became Mn after Unicode 8
    return c == 0x1734 || (category_mask(c) & U_GC_MN_MASK) != 0;       // left Mn after Unicode 8
}

bool is_punctuation(char32_t c) {
    if (c < 0x80) return (c > 0x20 && c < '0') || (c > '9' && c < 'A') || (c > 'Z' && c < 'a') || (c > 'z' && c < 0x7F);
    return is_one_of(c, {0x166D, 0x111C9}) || (category_mask(c) & U_GC_P_MASK) != 0;  // these two left P after Unicode 8
}

int combining_class(char32_t c) { return age(c) <= decompositions_version ? u_getCombiningClass(static_cast<UChar32>(c)) : 0; }

void append_decomposition(char32_t c, std::u32string& out) {
    static const UNormalizer2* const nfd = [] {
        UErrorCode error = U_ZERO_ERROR;
        return unorm2_getNFDInstance(&error);
    }();
    std::array<UChar, 64> units;
    UErrorCode error = U_ZERO_ERROR;
    const bool known = nfd && age(c) <= decompositions_version;
    const int length = known ? unorm2_getDecomposition(nfd, static_cast<UChar32>(c), units.data(), int(units.size()), &error) : -1;
    if (length < 0 || U_FAILURE(error)) {
        out.push_back(c);
        return;
    }
    for (int i = 0; i < length;) {
        UChar32 decomposed;
        U16_NEXT(units.data(), i, length, decomposed);
        out.push_back(static_cast<char32_t>(decomposed));
    }
}

void append_lowercase(char32_t c, std::u32string& out) {
    if (c == 0x130) {
        out += U"i\u0307";
        return;
    }
    for (const CapitalRange& range : late_capitals)
        if (c >= range.first && c - range.first < range.count) {
            out.push_back(range.small + (c - range.first));
            return;
        }
    out.push_back(static_cast<char32_t>(u_tolower(static_cast<UChar32>(c))));
}

bool is_word_character(char32_t c) {
    const auto code_point = static_cast<UChar32>(c);
    const auto holds = [c](const auto& range) { return c >= range.first && c <= range.second; };
    if (std::any_of(late_word_characters.begin(), late_word_characters.end(), holds)) return true;
    return u_hasBinaryProperty(code_point, UCHAR_ALPHABETIC) || u_hasBinaryProperty(code_point, UCHAR_JOIN_CONTROL) ||
           (U_GET_GC_MASK(code_point) & (U_GC_M_MASK | U_GC_ND_MASK | U_GC_PC_MASK)) != 0;
}

}  // namespace faceter::bert_unicode
