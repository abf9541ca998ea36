#include "text/char_kinds.h"

#include <unicode/uchar.h>

#include <algorithm>
#include <array>

#include "text/lazy_table.h"

namespace faceter {
namespace {

/// The Unicode versions of the peers' tables.
constexpr int onig_version = 16, marks_version = 9;

struct KindRange {
    char32_t first, last;
    std::uint8_t kind;  // with its flag
};
/// Characters of Unicode 15.1 and 16, which ICU 72 does not know.
constexpr std::array<KindRange, 83> late_kinds = {
    {{0x897, 0x897, 38},     {0x1B4E, 0x1B4F, 23},   {0x1B7F, 0x1B7F, 23},   {0x1C89, 0x1C89, 33},   {0x1C8A, 0x1C8A, 34},
     {0x2427, 0x2429, 27},   {0x2FFC, 0x2FFF, 27},   {0x31E4, 0x31E5, 27},   {0x31EF, 0x31EF, 27},   {0xA7CB, 0xA7CC, 33},
     {0xA7CD, 0xA7CD, 34},   {0xA7DA, 0xA7DA, 33},   {0xA7DB, 0xA7DB, 34},   {0xA7DC, 0xA7DC, 33},   {0x105C0, 0x105F3, 37},
     {0x10D40, 0x10D49, 41}, {0x10D4A, 0x10D4D, 37}, {0x10D4E, 0x10D4E, 36}, {0x10D4F, 0x10D4F, 37}, {0x10D50, 0x10D65, 33},
     {0x10D69, 0x10D6D, 38}, {0x10D6E, 0x10D6E, 19}, {0x10D6F, 0x10D6F, 36}, {0x10D70, 0x10D85, 34}, {0x10D8E, 0x10D8F, 24},
     {0x10EC2, 0x10EC4, 37}, {0x10EFC, 0x10EFC, 38}, {0x11380, 0x11389, 37}, {0x1138B, 0x1138B, 37}, {0x1138E, 0x1138E, 37},
     {0x11390, 0x113B5, 37}, {0x113B7, 0x113B7, 37}, {0x113B8, 0x113BA, 40}, {0x113BB, 0x113C0, 38}, {0x113C2, 0x113C2, 40},
     {0x113C5, 0x113C5, 40}, {0x113C7, 0x113CA, 40}, {0x113CC, 0x113CD, 40}, {0x113CE, 0x113CE, 38}, {0x113CF, 0x113CF, 40},
     {0x113D0, 0x113D0, 38}, {0x113D1, 0x113D1, 37}, {0x113D2, 0x113D2, 38}, {0x113D3, 0x113D3, 37}, {0x113D4, 0x113D5, 23},
     {0x113D7, 0x113D8, 23}, {0x113E1, 0x113E2, 38}, {0x116D0, 0x116E3, 41}, {0x11BC0, 0x11BE0, 37}, {0x11BE1, 0x11BE1, 23},
     {0x11BF0, 0x11BF9, 41}, {0x11F5A, 0x11F5A, 38}, {0x13460, 0x143FA, 37}, {0x16100, 0x1611D, 37}, {0x1611E, 0x16129, 38},
     {0x1612A, 0x1612C, 40}, {0x1612D, 0x1612F, 38}, {0x16130, 0x16139, 41}, {0x16D40, 0x16D42, 36}, {0x16D43, 0x16D6A, 37},
     {0x16D6B, 0x16D6C, 36}, {0x16D6D, 0x16D6F, 23}, {0x16D70, 0x16D79, 41}, {0x18CFF, 0x18CFF, 37}, {0x1CC00, 0x1CCEF, 27},
     {0x1CCF0, 0x1CCF9, 41}, {0x1CD00, 0x1CEB3, 27}, {0x1E5D0, 0x1E5ED, 37}, {0x1E5EE, 0x1E5EF, 38}, {0x1E5F0, 0x1E5F0, 37},
     {0x1E5F1, 0x1E5FA, 41}, {0x1E5FF, 0x1E5FF, 23}, {0x1F8B2, 0x1F8BB, 27}, {0x1F8C0, 0x1F8C1, 27}, {0x1FA89, 0x1FA89, 27},
     {0x1FA8F, 0x1FA8F, 27}, {0x1FABE, 0x1FABE, 27}, {0x1FAC6, 0x1FAC6, 27}, {0x1FADC, 0x1FADC, 27}, {0x1FADF, 0x1FADF, 27},
     {0x1FAE9, 0x1FAE9, 27}, {0x1FBCB, 0x1FBEF, 27}, {0x2EBF0, 0x2EE5D, 37}}};

struct CharRange {
    char32_t first, last;
};
/// Digits of Unicode 16 and 17.
constexpr std::array<CharRange, 9> late_numerics = {{{0x10D40, 0x10D49},
                                                     {0x116D0, 0x116E3},
                                                     {0x11BF0, 0x11BF9},
                                                     {0x11DE0, 0x11DE9},
                                                     {0x16130, 0x16139},
                                                     {0x16D70, 0x16D79},
                                                     {0x16FF4, 0x16FF6},
                                                     {0x1CCF0, 0x1CCF9},
                                                     {0x1E5F1, 0x1E5FA}}};

template <typename Ranges>
auto find_range(const Ranges& ranges, char32_t c) {
    const auto found = std::find_if(ranges.begin(), ranges.end(), [c](const auto& range) { return c >= range.first && c <= range.last; });
    return found == ranges.end() ? nullptr : &*found;
}

int age(char32_t c) {
    UVersionInfo version;
    u_charAge(static_cast<UChar32>(c), version);
    return version[0];
}

bool is_white_control(char32_t c) { return (c >= 9 && c <= 13) || c == 0x85; }

std::uint8_t find_kind(char32_t c) {
    if (const KindRange* late = find_range(late_kinds, c)) return late->kind;
    if (age(c) > onig_version) return U_UNASSIGNED;
    const auto code_point = static_cast<UChar32>(c);
    const bool word =
        u_hasBinaryProperty(code_point, UCHAR_ALPHABETIC) || (U_GET_GC_MASK(code_point) & (U_GC_M_MASK | U_GC_ND_MASK | U_GC_PC_MASK)) != 0;
    const unsigned kind = is_white_control(c) ? white_control : static_cast<unsigned>(u_charType(code_point));
    return static_cast<std::uint8_t>(kind | (word ? word_flag : 0));
}

}  // namespace

std::uint8_t char_kind(char32_t c) { return LazyTable<find_kind>::at(c); }

bool is_numeric(char32_t c) { return find_range(late_numerics, c) || (U_GET_GC_MASK(static_cast<UChar32>(c)) & U_GC_N_MASK) != 0; }

bool is_combining_mark(char32_t c) {
    if (c == 0x1CF2 || c == 0x1CF3) return true;  // left M after Unicode 9
    return c != 0x111C9 && age(c) <= marks_version && (U_GET_GC_MASK(static_cast<UChar32>(c)) & U_GC_M_MASK) != 0;
}

}  // namespace faceter
