#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace faceter {

struct FilterToken {
    enum class Kind { word, quoted, symbol, end } kind = Kind::end;
    std::string text;
    std::size_t begin = 0, end = 0;  ///< bytes of the expression
    bool open = false;               ///< a quote that is not closed
    bool is(std::string_view symbol) const { return kind == Kind::symbol && text == symbol; }
    /// and, or, not, in: whatever the case, never in quotes.
    bool is_keyword(std::string_view word) const;
};
/// Ends with a token of kind `end`. Words are what stands between blanks and ( ) , = ! < > ~ and quotes.
std::vector<FilterToken> filter_tokens(std::string_view text);
/// A text as filter_tokens() reads it in quotes.
std::string in_quotes(std::string_view text);

}  // namespace faceter
