#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/piece_trie.h"

namespace faceter {

/// A token that is looked for in the text itself, before the model sees it ("[MASK]"), as tokenizer.json's added_tokens say.
struct AddedToken {
    std::string content;
    std::int32_t id = -1;
    bool single_word = false;  ///< only where no word character is beside it
    bool lstrip = false;       ///< takes the white space in front of it
    bool rstrip = false;       ///< takes the white space behind it
    bool normalized = false;   ///< looked for in the normalised text
    bool special = false;      ///< goes before the others where two have one pattern
};

/// Ids that go around a text.
struct SpecialIds {
    std::vector<std::int32_t> before, after;
};

/// Bytes of white space (Unicode's White_Space) at the front and at the end of a text.
std::size_t leading_whitespace(std::string_view text);
std::size_t trailing_whitespace(std::string_view text);

/// Finds added tokens as Hugging Face's AddedVocabulary does: leftmost longest matches; a match that is not a single word where it
/// must be is passed over.
class AddedTokenFinder {
  public:
    void add(std::string_view pattern, const AddedToken& token);
    bool empty() const { return tokens_.empty(); }

    struct Match {
        std::size_t begin = 0, end = 0;  ///< what is taken out of the text, stripped white space included
        std::int32_t id = -1;
    };
    /// Walks over one text.
    class Walk {
      public:
        Walk(const AddedTokenFinder& finder, std::string_view text) : finder_(finder), text_(text) {}
        std::optional<Match> next();

      private:
        const AddedTokenFinder& finder_;
        std::string_view text_;
        std::size_t search_ = 0;  // where the next match may start
        std::size_t taken_ = 0;   // where the last match ended, stripped white space included
    };

  private:
    std::size_t next_candidate(std::string_view text, std::size_t from) const;
    std::vector<AddedToken> tokens_;
    PieceTrie trie_;  // pattern -> index into tokens_
    std::array<bool, 256> starts_{};
    int only_start_ = -1;  // the byte that every pattern starts with, where there is one: memchr is fast
};

}  // namespace faceter
