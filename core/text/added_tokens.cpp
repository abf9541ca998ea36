#include "text/added_tokens.h"

#include <cstring>

#include "text/bert_unicode.h"
#include "text/utf8.h"

namespace faceter {
namespace {

/// The last character of a text that is not empty.
DecodedChar last_char(std::string_view text) {
    std::size_t start = text.size() - 1;
    while (start > 0 && text.size() - start < 4 && (static_cast<unsigned char>(text[start]) & 0xC0) == 0x80) --start;
    return decode_utf8(text.data() + start, text.data() + text.size());
}

DecodedChar first_char(std::string_view text) { return decode_utf8(text.data(), text.data() + text.size()); }

bool is_single_word(std::string_view text, std::size_t begin, std::size_t end) {
    const std::string_view before = text.substr(0, begin), after = text.substr(end);
    return (before.empty() || !bert_unicode::is_word_character(last_char(before).code_point)) &&
           (after.empty() || !bert_unicode::is_word_character(first_char(after).code_point));
}

}  // namespace

std::size_t trailing_whitespace(std::string_view text) {
    const std::size_t size = text.size();
    while (!text.empty() && bert_unicode::is_whitespace(last_char(text).code_point))
        text.remove_suffix(std::size_t(last_char(text).length));
    return size - text.size();
}

std::size_t leading_whitespace(std::string_view text) {
    const std::size_t size = text.size();
    while (!text.empty() && bert_unicode::is_whitespace(first_char(text).code_point))
        text.remove_prefix(std::size_t(first_char(text).length));
    return size - text.size();
}

void AddedTokenFinder::add(std::string_view pattern, const AddedToken& token) {
    if (pattern.empty()) return;
    const auto start = static_cast<unsigned char>(pattern[0]);
    only_start_ = tokens_.empty() || only_start_ == start ? start : -1;
    starts_[start] = true;
    // Of two tokens with one pattern the first counts, as in an Aho-Corasick automaton with leftmost longest matches.
    const PieceTrie::Node node = trie_.find(pattern);
    if (node == PieceTrie::none || trie_.id(node) < 0) trie_.insert(pattern, static_cast<std::int32_t>(tokens_.size()));
    tokens_.push_back(token);
}

std::size_t AddedTokenFinder::next_candidate(std::string_view text, std::size_t from) const {
    if (only_start_ >= 0) {
        const void* found = from < text.size() ? std::memchr(text.data() + from, only_start_, text.size() - from) : nullptr;
        return found ? std::size_t(static_cast<const char*>(found) - text.data()) : text.size();
    }
    while (from < text.size() && !starts_[static_cast<unsigned char>(text[from])]) ++from;
    return from;
}

std::optional<AddedTokenFinder::Match> AddedTokenFinder::Walk::next() {
    for (;;) {
        const std::size_t begin = finder_.next_candidate(text_, search_);
        if (begin >= text_.size()) return std::nullopt;
        const PieceTrie::Match match = finder_.trie_.longest(text_.substr(begin));
        if (match.id < 0) {
            search_ = begin + 1;
            continue;
        }
        const std::size_t end = begin + match.length;
        search_ = end;
        const AddedToken& token = finder_.tokens_[std::size_t(match.id)];
        if (token.single_word && !is_single_word(text_, begin, end)) continue;
        Match found{begin, end, token.id};
        if (token.lstrip) found.begin = std::max(begin - trailing_whitespace(text_.substr(0, begin)), taken_);
        if (token.rstrip) found.end += leading_whitespace(text_.substr(end));
        if (found.end <= found.begin) continue;  // the last token's white space was all of it
        taken_ = found.end;
        return found;
    }
}

}  // namespace faceter
