#include "store/filter_tokens.h"

#include "common/strings.h"

namespace faceter {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_symbol(char c) { return std::string_view("(),=!<>~").find(c) != std::string_view::npos; }
bool is_quote(char c) { return c == '"' || c == '\''; }

/// In quotes a doubled quote stands for one.
FilterToken quoted_token(std::string_view text, std::size_t begin) {
    FilterToken token{FilterToken::Kind::quoted, "", begin, begin + 1, true};
    const char quote = text[begin];
    while (token.end < text.size()) {
        if (text[token.end] == quote) {
            if (token.end + 1 >= text.size() || text[token.end + 1] != quote) {
                ++token.end;
                token.open = false;
                break;
            }
            ++token.end;
        }
        token.text += text[token.end++];
    }
    return token;
}

FilterToken symbol_token(std::string_view text, std::size_t begin) {
    for (const std::string_view two : {"==", "!=", "<=", ">=", "!~"})
        if (text.substr(begin, 2) == two) return {FilterToken::Kind::symbol, std::string(two), begin, begin + 2, false};
    return {FilterToken::Kind::symbol, std::string(1, text[begin]), begin, begin + 1, false};
}

}  // namespace

bool FilterToken::is_keyword(std::string_view word) const { return kind == Kind::word && lowercase_ascii(text) == word; }

std::vector<FilterToken> filter_tokens(std::string_view text) {
    std::vector<FilterToken> tokens;
    std::size_t at = 0;
    while (at < text.size()) {
        if (is_blank(text[at])) {
            ++at;
            continue;
        }
        if (is_quote(text[at])) {
            tokens.push_back(quoted_token(text, at));
        } else if (is_symbol(text[at])) {
            tokens.push_back(symbol_token(text, at));
        } else {
            std::size_t end = at;
            while (end < text.size() && !is_blank(text[end]) && !is_symbol(text[end]) && !is_quote(text[end])) ++end;
            tokens.push_back({FilterToken::Kind::word, std::string(text.substr(at, end - at)), at, end, false});
        }
        at = tokens.back().end;
    }
    tokens.push_back({FilterToken::Kind::end, "", text.size(), text.size(), false});
    return tokens;
}

std::string in_quotes(std::string_view text) {
    std::string quoted = "\"";
    for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
    return quoted + "\"";
}

}  // namespace faceter
