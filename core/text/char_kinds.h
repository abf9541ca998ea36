#pragma once
#include <cstdint>

namespace faceter {

// What a regular expression in a tokenizer.json sees of a character. Hugging Face's tokenizers run those with Oniguruma, whose tables are
// of a fixed Unicode version; ICU is asked for that version (char_kinds.cpp). tests/text compares every code point with recorded digests.

/// A character's kind: its general category (ICU's numbers, 0 to 29), but `white_control` for the control characters that are white space.
constexpr unsigned white_control = 30;
/// Beside the kind: the character belongs to \w.
constexpr std::uint8_t word_flag = 0x20, kind_mask = 0x1F;

/// Kind and flag of a scalar value. Thread safe.
std::uint8_t char_kind(char32_t c);

/// One bit a kind.
constexpr std::uint32_t kind_bit(unsigned kind) { return 1u << kind; }

/// Nd, Nl and No as Rust's char::is_numeric knows them.
bool is_numeric(char32_t c);
/// Category M*, as the crate unicode_normalization_alignments knows it (StripAccents).
bool is_combining_mark(char32_t c);

}  // namespace faceter
