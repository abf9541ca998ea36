#include "figure/text_width.h"

#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include <algorithm>

namespace faceter {
namespace {

/// The code point at `at`, which moves past it; U+FFFD for what is no UTF-8.
UChar32 next_code_point(std::string_view text, std::size_t& at) {
    UChar32 c = 0;
    auto i = static_cast<int32_t>(at);
    U8_NEXT_OR_FFFD(reinterpret_cast<const uint8_t*>(text.data()), i, static_cast<int32_t>(text.size()), c);
    at = static_cast<std::size_t>(i);
    return c;
}

int width_of(UChar32 c) {
    const auto mask = U_GET_GC_MASK(c);
    if (mask & (U_GC_MN_MASK | U_GC_ME_MASK | U_GC_CF_MASK)) return 0;
    const int width = u_getIntPropertyValue(c, UCHAR_EAST_ASIAN_WIDTH);
    return width == U_EA_WIDE || width == U_EA_FULLWIDTH ? 2 : 1;
}

}  // namespace

int display_width(std::string_view text) {
    int width = 0;
    for (std::size_t at = 0; at < text.size();) width += width_of(next_code_point(text, at));
    return width;
}

std::string shorten(std::string_view text, int width) {
    if (display_width(text) <= width) return std::string(text);
    if (width < 1) return {};
    int used = 0;
    std::size_t at = 0;
    while (at < text.size()) {
        std::size_t next = at;
        const int w = width_of(next_code_point(text, next));
        if (used + w > width - 1) break;
        used += w;
        at = next;
    }
    return std::string(text.substr(0, at)) + "…";
}

std::vector<std::string> wrap(std::string_view text, int width, LongWords long_words) {
    width = std::max(width, 2);
    std::vector<std::string> lines(1);
    int used = 0;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find(' ', at), text.size());
        const std::string_view word = text.substr(at, end - at);
        const int w = display_width(word);
        if (used > 0 && used + 1 + w > width) {
            lines.emplace_back();
            used = 0;
        }
        if (used > 0) {
            lines.back() += ' ';
            ++used;
        }
        if (long_words == LongWords::whole) {
            lines.back() += word;
            used += w;
        }
        for (std::size_t i = long_words == LongWords::whole ? word.size() : 0; i < word.size();) {  // character by character
            std::size_t next = i;
            const int step = width_of(next_code_point(word, next));
            if (used + step > width) {
                lines.emplace_back();
                used = 0;
            }
            lines.back() += word.substr(i, next - i);
            used += step;
            i = next;
        }
        at = end + (end < text.size());
    }
    return lines;
}

std::string blanks(int count) { return std::string(static_cast<std::size_t>(std::max(count, 0)), ' '); }

}  // namespace faceter
