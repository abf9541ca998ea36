#include "text/graphemes.h"

#include <unicode/uchar.h>

#include <algorithm>
#include <array>
#include <utility>

#include "text/lazy_table.h"
#include "text/utf8.h"

namespace faceter {
namespace {

using Range = std::pair<char32_t, char32_t>;

template <std::size_t size>
bool is_in(const std::array<Range, size>& ranges, char32_t c) {
    return std::any_of(ranges.begin(), ranges.end(), [c](const Range& range) { return c >= range.first && c <= range.second; });
}

/// Rule GB9c: consonants and what links them into conjuncts, of six scripts. ICU 72 does not know the property.
constexpr std::array<Range, 26> conjunct_consonants = {
    {{0x915, 0x939}, {0x958, 0x95F}, {0x978, 0x97F}, {0x995, 0x9A8}, {0x9AA, 0x9B0}, {0x9B2, 0x9B2}, {0x9B6, 0x9B9},
     {0x9DC, 0x9DD}, {0x9DF, 0x9DF}, {0x9F0, 0x9F1}, {0xA95, 0xAA8}, {0xAAA, 0xAB0}, {0xAB2, 0xAB3}, {0xAB5, 0xAB9},
     {0xAF9, 0xAF9}, {0xB15, 0xB28}, {0xB2A, 0xB30}, {0xB32, 0xB33}, {0xB35, 0xB39}, {0xB5C, 0xB5D}, {0xB5F, 0xB5F},
     {0xB71, 0xB71}, {0xC15, 0xC28}, {0xC2A, 0xC39}, {0xC58, 0xC5A}, {0xD15, 0xD3A}}};
constexpr std::array<char32_t, 6> conjunct_linkers = {0x94D, 0x9CD, 0xACD, 0xB4D, 0xC4D, 0xD4D};
/// Marks of Unicode 16, which ICU 72 does not know.
constexpr std::array<Range, 1> late_extend = {{{0x897, 0x897}}};

constexpr std::uint8_t pictographic_flag = 0x20, consonant_flag = 0x40, linker_flag = 0x80, class_mask = 0x1F;

/// The break class with the flags of the character.
std::uint8_t find_properties(char32_t c) {
    const auto code_point = static_cast<UChar32>(c);
    const int break_class = is_in(late_extend, c) ? int{U_GCB_EXTEND} : u_getIntPropertyValue(code_point, UCHAR_GRAPHEME_CLUSTER_BREAK);
    auto value = static_cast<unsigned>(break_class);
    if (u_hasBinaryProperty(code_point, UCHAR_EXTENDED_PICTOGRAPHIC)) value |= pictographic_flag;
    if (is_in(conjunct_consonants, c)) value |= consonant_flag;
    if (std::find(conjunct_linkers.begin(), conjunct_linkers.end(), c) != conjunct_linkers.end()) value |= linker_flag;
    return static_cast<std::uint8_t>(value);
}

/// What rules GB11 to GB13 and GB9c must know of the characters before a border.
struct Before {
    int last_class = 0;
    bool pictograph = false;         // Extended_Pictographic Extend*
    bool pictograph_joined = false;  // ... ZWJ
    bool consonant = false, linked = false;
    unsigned regional_indicators = 0;

    void add(std::uint8_t properties) {
        const int klass = properties & class_mask;
        pictograph_joined = pictograph && klass == U_GCB_ZWJ;
        if (klass != U_GCB_EXTEND) pictograph = (properties & pictographic_flag) != 0;
        regional_indicators = klass == U_GCB_REGIONAL_INDICATOR ? regional_indicators + 1 : 0;
        if (properties & consonant_flag) {
            consonant = true, linked = false;
        } else if (klass == U_GCB_EXTEND || klass == U_GCB_ZWJ) {
            linked = linked || (consonant && (properties & linker_flag));
        } else {
            consonant = linked = false;
        }
        last_class = klass;
    }
};

bool is_control(int klass) { return klass == U_GCB_CONTROL || klass == U_GCB_CR || klass == U_GCB_LF; }

bool hangul_goes_on(int before, int after) {
    if (before == U_GCB_L) return after == U_GCB_L || after == U_GCB_V || after == U_GCB_LV || after == U_GCB_LVT;
    if (before == U_GCB_LV || before == U_GCB_V) return after == U_GCB_V || after == U_GCB_T;
    return (before == U_GCB_LVT || before == U_GCB_T) && after == U_GCB_T;
}

/// True where there is no border between what is in `before` and the next character.
bool goes_on(const Before& before, std::uint8_t properties) {
    const int klass = properties & class_mask;
    if (before.last_class == U_GCB_CR && klass == U_GCB_LF) return true;                          // GB3
    if (is_control(before.last_class) || is_control(klass)) return false;                         // GB4, GB5
    if (hangul_goes_on(before.last_class, klass)) return true;                                    // GB6 to GB8
    if (klass == U_GCB_EXTEND || klass == U_GCB_ZWJ || klass == U_GCB_SPACING_MARK) return true;  // GB9, GB9a
    if (before.last_class == U_GCB_PREPEND) return true;                                          // GB9b
    if (before.linked && (properties & consonant_flag)) return true;                              // GB9c
    if (before.pictograph_joined && (properties & pictographic_flag)) return true;                // GB11
    return klass == U_GCB_REGIONAL_INDICATOR && before.regional_indicators % 2 == 1;              // GB12, GB13
}

}  // namespace

std::size_t grapheme_length(std::string_view text) {
    const char *at = text.data(), *end = at + text.size();
    Before before;
    while (at < end) {
        const DecodedChar decoded = decode_utf8(at, end);
        const std::uint8_t properties = LazyTable<find_properties>::at(decoded.code_point);
        if (at != text.data() && !goes_on(before, properties)) break;
        before.add(properties);
        at += decoded.length;
    }
    return static_cast<std::size_t>(at - text.data());
}

}  // namespace faceter
