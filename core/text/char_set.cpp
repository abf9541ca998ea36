#include "text/char_set.h"

#include <algorithm>

namespace faceter {

void CharSet::add(const Item& item) {
    items_.push_back(item);
    beyond_ = beyond_ || item.complement || item.kinds != 0 || item.word || item.last >= 128;
    fill_ascii();
}

void CharSet::negate() {
    negated_ = !negated_;
    fill_ascii();
}

void CharSet::fill_ascii() {
    for (char32_t c = 0; c < 128; ++c) ascii_[c] = contains_any(c);
}

bool CharSet::contains_any(char32_t c) const {
    const std::uint8_t kind = char_kind(c);
    const auto holds = [&](const Item& item) {
        const bool in =
            (c >= item.first && c <= item.last) || (item.kinds & kind_bit(kind & kind_mask)) != 0 || (item.word && (kind & word_flag));
        return in != item.complement;
    };
    return std::any_of(items_.begin(), items_.end(), holds) != negated_;
}

void CharSet::ignore_case() {
    std::vector<Item> others;
    for (const Item& item : items_) {
        if (item.complement || item.first > item.last) continue;
        for (char32_t c = item.first; c <= std::min<char32_t>(item.last, 'z'); ++c) {
            const char32_t lower = c | 0x20;
            if (lower < 'a' || lower > 'z' || c < 'A') continue;
            others.push_back({c ^ 0x20, c ^ 0x20, 0, false, false});
            if (lower == 's') others.push_back({0x17F, 0x17F, 0, false, false});
            if (lower == 'k') others.push_back({0x212A, 0x212A, 0, false, false});
        }
    }
    for (const Item& item : others) add(item);
}

}  // namespace faceter
