#pragma once
#include <string_view>
#include <vector>

#include "text/char_regex.h"

namespace faceter {

/// Builds the nodes of a CharRegex from its pattern, from the end of each sequence to its beginning, so that every node knows its next.
class RegexParser {
  public:
    explicit RegexParser(CharRegex& regex) : regex_(regex), pattern_(regex.pattern_) {}
    /// The node that a match starts with.
    std::uint32_t parse();

  private:
    struct Atom;
    using Sequence = std::vector<Atom>;
    using Alternation = std::vector<Sequence>;
    /// One part of a sequence, before it becomes nodes.
    struct Atom {
        CharRegex::Op op = CharRegex::Op::set;
        CharRegex::Mode mode = CharRegex::Mode::greedy;
        bool negative = false, behind = false;
        std::uint32_t min = 1, max = 1, set = 0;
        Alternation group;  // of alternatives and look
    };
    [[noreturn]] void fail(std::string_view what) const;
    bool at_end() const { return at_ >= pattern_.size(); }
    bool take(std::string_view text);
    char32_t next_char();

    Alternation parse_alternation(unsigned depth);
    Sequence parse_sequence(unsigned depth);
    bool parse_atom(Sequence& sequence, unsigned depth);
    void parse_group(Sequence& sequence, unsigned depth);
    void parse_escape(Sequence& sequence);
    void parse_repetition(Atom& atom);
    bool parse_counts(Atom& atom);
    void parse_set_into(CharSet& set);
    bool parse_class_escape(CharSet& set, char32_t letter);
    void parse_property(CharSet& set, bool complement);
    char32_t escaped_char(char32_t letter);
    std::uint32_t add_set(CharSet set);
    Atom set_atom(CharSet set);

    std::uint32_t build(const Alternation& alternation, std::uint32_t next);
    std::uint32_t build(const Sequence& sequence, std::uint32_t next);
    std::uint32_t build(const Atom& atom, std::uint32_t next);
    std::uint32_t build_group(const Atom& atom, std::uint32_t next);
    std::uint32_t add_node(CharRegex::Node node);

    CharRegex& regex_;
    std::string_view pattern_;
    std::size_t at_ = 0, num_built_ = 0;
    bool ignore_case_ = false;
};

}  // namespace faceter
