#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/char_set.h"

namespace faceter {

/// A regular expression as tokenizer.json files have them, with the meaning that Oniguruma gives it: characters, sets, \p{..}, alternation,
/// groups, (?i:..), repetition of a character or set (greedy, lazy, possessive), bounded repetition of a group, look-ahead, look-behind of
/// one character, line and text anchors. Immutable; thread safe.
class CharRegex {
  public:
    /// Throws a data error that names what is not supported and where.
    explicit CharRegex(std::string_view pattern);

    struct Match {
        std::size_t begin = 0, end = 0;
    };
    /// The leftmost match at or after `from`; `text` must be UTF-8. Throws a data error where backtracking takes too long (hostile
    /// patterns).
    bool find(std::string_view text, std::size_t from, Match& match) const;
    /// Calls use(begin, end) for each match, as find_iter does: an empty match directly behind another is no match.
    template <typename Use>
    void for_each_match(std::string_view text, const Use& use) const;

  private:
    friend class RegexParser;
    enum class Op : std::uint8_t { set, repeat, alternatives, look, text_start, text_end, line_start, line_end, accept };
    enum class Mode : std::uint8_t { greedy, lazy, possessive };
    struct Node {
        Op op = Op::accept;
        Mode mode = Mode::greedy;
        bool negative = false, behind = false;  // look
        std::uint32_t min = 1, max = 1;         // repeat
        std::uint32_t set = 0;                  // set, repeat, look-behind: index into sets_
        std::uint32_t next = 0;                 // the node that follows; 0 is accept
        std::vector<std::uint32_t> branches;    // alternatives, look: where each starts
    };
    struct Subject {
        const char *begin, *end;
        std::uint64_t steps_left;
    };
    const char* match(std::uint32_t node, const char* at, Subject& subject) const;
    const char* match_repeat(const Node& node, const char* at, Subject& subject) const;
    bool looks(const Node& node, const char* at, Subject& subject) const;
    void find_first_bytes(std::uint32_t node, unsigned depth);

    std::string pattern_;
    std::vector<Node> nodes_;
    std::vector<CharSet> sets_;
    std::uint32_t start_ = 0;
    std::array<bool, 256> first_bytes_{};  // those that a match can start with
};

template <typename Use>
void CharRegex::for_each_match(std::string_view text, const Use& use) const {
    Match match;
    std::size_t from = 0, last_end = std::string_view::npos;
    while (from <= text.size() && find(text, from, match)) {
        if (match.end == match.begin) {
            if (match.begin != last_end) use(match.begin, match.end);
            from = match.end + 1;
            while (from < text.size() && (static_cast<unsigned char>(text[from]) & 0xC0) == 0x80) ++from;
        } else {
            use(match.begin, match.end);
            from = match.end;
        }
        last_end = match.end;
    }
}

}  // namespace faceter
