#pragma once
#include <optional>
#include <string_view>

namespace faceter {

/// A pattern that byte-level tokenizers split with, matched by hand: many times as fast as an engine, and with the peers' version of
/// Unicode (char_kinds.h) whichever library is installed.
enum class WordPattern {
    gpt2,    ///< GPT-2, RoBERTa
    single,  ///< Qwen2: letters with one character before them, digits one by one
    triple,  ///< Llama 3: the same with up to three digits
};

/// The pattern that tokenizer.json writes so; nothing where it is another.
std::optional<WordPattern> known_word_pattern(std::string_view pattern);

/// The end of the match that begins at `at` of a text in UTF-8, which is before its end: these patterns match everywhere.
std::size_t match_word(WordPattern pattern, std::string_view text, std::size_t at);

}  // namespace faceter
