#pragma once
#include <bitset>
#include <cstdint>
#include <vector>

#include "text/char_kinds.h"

namespace faceter {

/// A set of characters as a regular expression writes it: ranges, kinds (\p{L}, \s), \w, and complements of those.
class CharSet {
  public:
    void add_range(char32_t first, char32_t last, bool complement = false) { add({first, last, 0, false, complement}); }
    void add_kinds(std::uint32_t kinds, bool complement = false) { add({1, 0, kinds, false, complement}); }
    void add_word(bool complement = false) { add({1, 0, 0, true, complement}); }
    /// Both cases of its ASCII letters, and the two letters whose lower case is ASCII (U+017F, U+212A).
    void ignore_case();
    void negate();

    bool contains(char32_t c) const { return c < 128 ? ascii_[c] : contains_any(c); }
    /// True where a character beyond ASCII may be in the set.
    bool beyond_ascii() const { return negated_ || beyond_; }

  private:
    struct Item {
        char32_t first, last;
        std::uint32_t kinds;
        bool word, complement;
    };
    void add(const Item& item);
    void fill_ascii();
    bool contains_any(char32_t c) const;
    std::vector<Item> items_;
    std::bitset<128> ascii_;
    bool negated_ = false, beyond_ = false;
};

}  // namespace faceter
