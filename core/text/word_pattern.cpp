#include "text/word_pattern.h"

#include <unicode/uchar.h>

#include <array>
#include <utility>

#include "text/char_kinds.h"
#include "text/utf8.h"

namespace faceter {
namespace {

constexpr std::string_view gpt2_pattern = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr std::string_view single_pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view triple_pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

enum class Kind { letter, number, blank, other };

Kind kind_of(char32_t c) {
    const std::uint32_t bit = kind_bit(char_kind(c) & kind_mask);
    if (bit & U_GC_L_MASK) return Kind::letter;
    if (bit & U_GC_N_MASK) return Kind::number;
    return bit & (U_GC_Z_MASK | kind_bit(white_control)) ? Kind::blank : Kind::other;
}

/// A place in the text and the character there.
class Cursor {
  public:
    Cursor(std::string_view text, std::size_t at) : text_(text), at_(at) { look(); }
    std::size_t at() const { return at_; }
    bool at_end() const { return at_ == text_.size(); }
    bool is(Kind kind) const { return !at_end() && kind_ == kind; }
    bool is_line_end() const { return !at_end() && (c_ == '\r' || c_ == '\n'); }
    bool is_blank_character() const { return !at_end() && c_ == ' '; }
    void next() {
        at_ += static_cast<std::size_t>(length_);
        look();
    }
    void pass(Kind kind) {
        while (is(kind)) next();
    }
    Cursor behind() const {
        Cursor cursor = *this;
        cursor.next();
        return cursor;
    }

  private:
    void look() {
        if (at_end()) return;
        const DecodedChar decoded = decode_utf8(text_.data() + at_, text_.data() + text_.size());
        c_ = decoded.code_point;
        length_ = decoded.length;
        kind_ = kind_of(c_);
    }
    std::string_view text_;
    std::size_t at_;
    char32_t c_ = 0;
    int length_ = 1;
    Kind kind_ = Kind::blank;
};

/// 's, 't, 're, 've, 'm, 'll, 'd: their length, or 0. Without regard to case, U+017F is an s too.
std::size_t contraction(std::string_view text, bool ignore_case) {
    if (!text.starts_with('\'')) return 0;
    const auto letter = [&](std::size_t at) {
        const char c = at < text.size() ? text[at] : '\0';
        return ignore_case && c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
    };
    if (std::string_view("stmd").find(letter(1)) != std::string_view::npos) return 2;
    if (ignore_case && text.substr(1).starts_with("\u017F")) return 3;
    static constexpr std::array<std::pair<char, char>, 3> pairs{{{'r', 'e'}, {'v', 'e'}, {'l', 'l'}}};
    for (const auto& [first, second] : pairs)
        if (letter(1) == first && letter(2) == second) return 3;
    return 0;
}

/// \s+(?!\S)|\s+: all blanks to the end of the text, else all but the one in front of the next word, and a single one.
std::size_t match_blanks(std::string_view text, std::size_t at) {
    Cursor cursor(text, at);
    std::size_t last = at;
    for (; cursor.is(Kind::blank); cursor.next()) last = cursor.at();
    return cursor.at_end() || last == at ? cursor.at() : last;
}

std::size_t match_gpt2(std::string_view text, std::size_t at) {
    if (const std::size_t length = contraction(text.substr(at), false)) return at + length;
    Cursor cursor(text, at);
    if (cursor.is_blank_character()) cursor.next();
    for (const Kind kind : {Kind::letter, Kind::number, Kind::other})
        if (cursor.is(kind)) return cursor.pass(kind), cursor.at();
    return match_blanks(text, at);
}

/// \s*[\r\n]+: to the last line end of these blanks; `at` where they have none.
std::size_t match_line_ends(std::string_view text, std::size_t at) {
    std::size_t end = at;
    for (Cursor cursor(text, at); cursor.is(Kind::blank);) {
        const bool line_end = cursor.is_line_end();
        cursor.next();
        if (line_end) end = cursor.at();
    }
    return end;
}

std::size_t match_later(std::string_view text, std::size_t at, int max_digits) {
    if (const std::size_t length = contraction(text.substr(at), true)) return at + length;
    Cursor cursor(text, at);
    Cursor behind = cursor.behind();
    const bool prefix = !cursor.is(Kind::letter) && !cursor.is(Kind::number) && !cursor.is_line_end();
    if (cursor.is(Kind::letter)) return cursor.pass(Kind::letter), cursor.at();
    if (prefix && behind.is(Kind::letter)) return behind.pass(Kind::letter), behind.at();
    if (cursor.is(Kind::number)) {
        for (int digits = 0; digits < max_digits && cursor.is(Kind::number); ++digits) cursor.next();
        return cursor.at();
    }
    Cursor symbols = cursor.is_blank_character() ? behind : cursor;
    if (symbols.is(Kind::other)) {
        symbols.pass(Kind::other);
        while (symbols.is_line_end()) symbols.next();
        return symbols.at();
    }
    const std::size_t end = match_line_ends(text, at);
    return end > at ? end : match_blanks(text, at);
}

}  // namespace

std::optional<WordPattern> known_word_pattern(std::string_view pattern) {
    if (pattern == gpt2_pattern) return WordPattern::gpt2;
    if (pattern == single_pattern) return WordPattern::single;
    if (pattern == triple_pattern) return WordPattern::triple;
    return std::nullopt;
}

std::size_t match_word(WordPattern pattern, std::string_view text, std::size_t at) {
    return pattern == WordPattern::gpt2 ? match_gpt2(text, at) : match_later(text, at, pattern == WordPattern::single ? 1 : 3);
}

}  // namespace faceter
