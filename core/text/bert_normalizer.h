#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace faceter {

/// Hugging Face's BertNormalizer.
struct BertNormalizer {
    bool clean_text = true;            ///< control characters out, every white space a blank
    bool handle_chinese_chars = true;  ///< blanks around CJK ideographs
    bool strip_accents = true;         ///< NFD, then nonspacing marks out
    bool lowercase = true;

    /// The normalised text; `text` must be UTF-8 (parts that are not count as U+FFFD).
    std::string normalize(std::string_view text) const;
};

/// What the normaliser followed by BertPreTokenizer (split at white space, every punctuation character a word) makes of one character,
/// for all of Unicode: filled block by block when first asked for. Thread safe.
class CharTable {
  public:
    enum Kind : std::uint8_t {
        letter,     ///< goes on with the word
        space,      ///< ends the word
        single,     ///< is a word by itself
        drop,       ///< disappears
        context,    ///< depends on its neighbours (canonical reordering): the text must go through BertNormalizer::normalize
        multibyte,  ///< of kind_of_byte only: look at the whole character
    };
    struct Entry {
        Kind kind = drop;
        std::uint8_t length = 0;   ///< bytes that it becomes
        std::uint16_t offset = 0;  ///< in Block::bytes
    };
    struct Block {
        std::array<Entry, 256> entries;
        std::string bytes;  ///< 8 bytes longer than what is used, so that 8 can be copied at once
    };

    /// `normalizer` with all flags off: the split alone.
    explicit CharTable(const BertNormalizer& normalizer);
    ~CharTable();
    CharTable(const CharTable&) = delete;
    CharTable& operator=(const CharTable&) = delete;

    /// What BertNormalizer::normalize gives, by the table as far as it goes.
    std::string normalize(std::string_view text) const;
    Kind kind_of_byte(unsigned char byte) const { return ascii_kinds_[byte]; }
    char ascii(unsigned char byte) const { return ascii_chars_[byte]; }
    bool lowercase() const { return normalizer_.lowercase; }
    const Block& block_of(char32_t c) const {
        const Block* block = blocks_[c >> 8].load(std::memory_order_acquire);
        return block ? *block : fill(c >> 8);
    }

  private:
    Kind classify(char32_t c, std::string& mapped) const;
    const Block& fill(std::size_t index) const;
    BertNormalizer normalizer_;
    std::array<Kind, 256> ascii_kinds_;
    std::array<char, 128> ascii_chars_;
    mutable std::array<std::atomic<const Block*>, 0x1100> blocks_{};
};

}  // namespace faceter
