#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/regex.h"
#include "text/word_pattern.h"

namespace faceter {

/// A part of a text that the model will see by itself.
struct Piece {
    std::size_t begin = 0, end = 0;  ///< in PieceList::text
    bool at_start = false;           ///< it begins where the whole input began
};

/// The pieces of one text on their way through the steps. Kept between calls, so that it is allocated once.
struct PieceList {
    std::string text;
    std::vector<Piece> pieces;
    std::string next_text;  ///< what a step builds, before it swaps
    std::vector<Piece> next_pieces;
    Regex::Budget* budget = nullptr;  ///< of patterns, set before the first step

    std::string_view view(const Piece& piece) const { return std::string_view(text).substr(piece.begin, piece.end - piece.begin); }
    void start(std::string_view whole, bool at_start);
};

/// One step that splits a text into pieces: a pre_tokenizer of tokenizer.json. Immutable; thread safe.
class PreTokenizerStep {
  public:
    virtual ~PreTokenizerStep() = default;
    virtual void apply(PieceList& list) const = 0;
};

/// What becomes of the parts that a pattern finds.
enum class SplitBehavior { removed, isolated, merged_with_previous, merged_with_next, contiguous };
enum class PrependScheme { always, first, never };

/// What tokenizer.json calls a Regex: by hand where the pattern is known, else by Oniguruma. Throws a data error (`name` in
/// front).
std::unique_ptr<PreTokenizerStep> make_regex_split(std::string_view pattern, std::string_view name, SplitBehavior behavior, bool invert);
std::unique_ptr<PreTokenizerStep> make_word_split(WordPattern pattern, SplitBehavior behavior, bool invert);
std::unique_ptr<PreTokenizerStep> make_split(std::string pattern, SplitBehavior behavior, bool invert);
/// At characters of which `is_separator` holds, each a match of its own.
std::unique_ptr<PreTokenizerStep> make_char_split(bool (*is_separator)(char32_t), SplitBehavior behavior);
/// \w+|[^\w\s]+ of Rust's regex crate.
std::unique_ptr<PreTokenizerStep> make_whitespace();
std::unique_ptr<PreTokenizerStep> make_whitespace_split();
std::unique_ptr<PreTokenizerStep> make_digits(bool individual);
std::unique_ptr<PreTokenizerStep> make_punctuation(SplitBehavior behavior);
std::unique_ptr<PreTokenizerStep> make_bert_split();
/// `mark` (UTF-8) takes the place of blanks and may go in front; `split`: every mark begins a piece.
std::unique_ptr<PreTokenizerStep> make_metaspace(std::string mark, PrependScheme scheme, bool split);
/// A blank in front of a piece that has none.
std::unique_ptr<PreTokenizerStep> make_prefix_space();
/// Every byte becomes the character that byte-level BPE writes for it.
std::unique_ptr<PreTokenizerStep> make_byte_chars_pieces();

}  // namespace faceter
