#pragma once
#include <string>

namespace faceter::bert_unicode {

// Character properties as Hugging Face's tokenizers (Rust) see them, which are older than ICU's: general categories as of Unicode 8,
// decompositions as of Unicode 12, lower case as of Unicode 17. ICU is asked, and what it knows of later versions is left out again
// (u_charAge), so that the ids do not depend on the ICU of the machine. tests/text compares all code points with a recorded table.

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
