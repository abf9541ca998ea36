#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace faceter {

/// sentencepiece's precompiled_charsmap: replacements of character sequences, keyed by a double-array trie (darts-clone), each value the
/// place of a text that ends with a zero byte. Untrusted: every index is checked.
class Charsmap {
  public:
    Charsmap() = default;
    /// `blob`: length of the trie in bytes (32 bits, little endian), the trie, the texts. Throws a data error (`name` in front).
    Charsmap(std::string_view blob, std::string_view name);
    bool empty() const { return units_.empty(); }

    struct Match {
        std::size_t length = 0;  ///< of the key; 0: there is none
        std::string_view text;
    };
    /// The shortest key at the front of `text` (what Hugging Face takes).
    Match shortest(std::string_view text) const;
    /// The longest key at the front of `text` (what sentencepiece takes).
    Match longest(std::string_view text) const;
    /// True where a key starts with this byte.
    bool starts(unsigned char byte) const { return starts_[byte]; }

  private:
    template <bool shortest_only>
    Match search(std::string_view text) const;
    std::string_view text_at(std::uint32_t offset) const;
    std::vector<std::uint32_t> units_;
    std::string texts_;
    bool starts_[256] = {};
};

}  // namespace faceter
