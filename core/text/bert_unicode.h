#pragma once
#include <string>

namespace faceter::bert_unicode {

// Character properties as Hugging Face's tokenizers (Rust) see them, from crates of different ages: general categories as of Unicode 8,
// decompositions as of Unicode 9, lower case and \w as of Unicode 16. ICU is asked; what it knows of later versions is left out again
// (u_charAge) and what it does not know yet is added, so that ids do not depend on the ICU of the machine. tests/text compares all code
// points with recorded digests.

/// Removed by clean_text: NUL, U+FFFD and the categories Cc, Cf, Co except tab, line feed and carriage return. Unassigned ones stay.
bool is_removed(char32_t c);
/// Unicode's White_Space.
bool is_whitespace(char32_t c);
/// The CJK ideographs that BERT sets apart, each a word.
bool is_chinese(char32_t c);
/// Category Mn.
bool is_nonspacing_mark(char32_t c);
/// ASCII punctuation and symbols, and the categories P*.
bool is_punctuation(char32_t c);
/// Canonical combining class.
int combining_class(char32_t c);
/// Appends the full canonical decomposition of one character (Hangul included), or itself.
void append_decomposition(char32_t c, std::u32string& out);
/// Appends Rust's char::to_lowercase: one character, but two for U+0130.
void append_lowercase(char32_t c, std::u32string& out);
/// \w of Rust's regex crate: alphabetic, marks, decimal digits, connector punctuation, join controls.
bool is_word_character(char32_t c);

}  // namespace faceter::bert_unicode
