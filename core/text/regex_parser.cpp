#include "text/regex_parser.h"

#include <unicode/uchar.h>

#include <algorithm>
#include <array>
#include <utility>

#include "common/error.h"
#include "common/strings.h"
#include "text/utf8.h"

namespace faceter {
namespace {

constexpr std::uint32_t unbounded = 0xFFFFFFFF;
constexpr unsigned max_depth = 32;
constexpr std::size_t max_nodes = 20'000;

constexpr std::uint32_t white_kinds = U_GC_Z_MASK | kind_bit(white_control);
constexpr std::uint32_t control_kinds = U_GC_CC_MASK | kind_bit(white_control);
constexpr std::uint32_t all_kinds = 0x7FFFFFFF;

struct Property {
    std::string_view name;
    std::uint32_t kinds;
};
constexpr std::array<Property, 44> properties = {{
    {"L", U_GC_L_MASK},      {"Lu", U_GC_LU_MASK},       {"Ll", U_GC_LL_MASK},    {"Lt", U_GC_LT_MASK},
    {"Lm", U_GC_LM_MASK},    {"Lo", U_GC_LO_MASK},       {"M", U_GC_M_MASK},      {"Mn", U_GC_MN_MASK},
    {"Mc", U_GC_MC_MASK},    {"Me", U_GC_ME_MASK},       {"N", U_GC_N_MASK},      {"Nd", U_GC_ND_MASK},
    {"Nl", U_GC_NL_MASK},    {"No", U_GC_NO_MASK},       {"P", U_GC_P_MASK},      {"Pc", U_GC_PC_MASK},
    {"Pd", U_GC_PD_MASK},    {"Ps", U_GC_PS_MASK},       {"Pe", U_GC_PE_MASK},    {"Pi", U_GC_PI_MASK},
    {"Pf", U_GC_PF_MASK},    {"Po", U_GC_PO_MASK},       {"S", U_GC_S_MASK},      {"Sm", U_GC_SM_MASK},
    {"Sc", U_GC_SC_MASK},    {"Sk", U_GC_SK_MASK},       {"So", U_GC_SO_MASK},    {"Z", U_GC_Z_MASK},
    {"Zs", U_GC_ZS_MASK},    {"Zl", U_GC_ZL_MASK},       {"Zp", U_GC_ZP_MASK},    {"C", U_GC_C_MASK | kind_bit(white_control)},
    {"Cc", control_kinds},   {"Cf", U_GC_CF_MASK},       {"Co", U_GC_CO_MASK},    {"Cn", U_GC_CN_MASK},
    {"Letter", U_GC_L_MASK}, {"Mark", U_GC_M_MASK},      {"Number", U_GC_N_MASK}, {"Punctuation", U_GC_P_MASK},
    {"Symbol", U_GC_S_MASK}, {"Separator", U_GC_Z_MASK}, {"Space", white_kinds},  {"Digit", U_GC_ND_MASK},
}};

}  // namespace

void RegexParser::fail(std::string_view what) const {
    throw data_error("the pattern {} is not supported: {} at byte {}", quoted(pattern_), what, at_);
}

bool RegexParser::take(std::string_view text) {
    if (pattern_.substr(at_, text.size()) != text) return false;
    at_ += text.size();
    return true;
}

char32_t RegexParser::next_char() {
    const DecodedChar decoded = decode_utf8(pattern_.data() + at_, pattern_.data() + pattern_.size());
    at_ += static_cast<std::size_t>(decoded.length);
    return decoded.code_point;
}

std::uint32_t RegexParser::parse() {
    const Alternation whole = parse_alternation(0);
    if (!at_end()) fail("a ')' without its '('");
    return build(whole, 0);
}

RegexParser::Alternation RegexParser::parse_alternation(unsigned depth) {
    if (depth > max_depth) fail("too many groups in each other");
    const bool ignored = ignore_case_;
    Alternation alternation{parse_sequence(depth)};
    while (take("|")) alternation.push_back(parse_sequence(depth));
    ignore_case_ = ignored;
    return alternation;
}

RegexParser::Sequence RegexParser::parse_sequence(unsigned depth) {
    Sequence sequence;
    while (!at_end() && pattern_[at_] != '|' && pattern_[at_] != ')')
        if (parse_atom(sequence, depth)) parse_repetition(sequence.back());
    return sequence;
}

/// Appends one part; false where there is nothing that could be repeated.
bool RegexParser::parse_atom(Sequence& sequence, unsigned depth) {
    const std::size_t size = sequence.size();
    CharSet set;
    if (take("(")) {
        parse_group(sequence, depth);
    } else if (take("[")) {
        parse_set_into(set);
        sequence.push_back(set_atom(std::move(set)));
    } else if (take("\\")) {
        parse_escape(sequence);
    } else if (take("^") || take("$")) {
        sequence.push_back({pattern_[at_ - 1] == '^' ? CharRegex::Op::line_start : CharRegex::Op::line_end, {}, {}, {}, 1, 1, 0, {}});
    } else if (take(".")) {
        set.add_range('\n', '\n');
        set.negate();
        sequence.push_back(set_atom(std::move(set)));
    } else {
        if (std::string_view("*+?").find(pattern_[at_]) != std::string_view::npos) fail("a repetition of nothing");
        const char32_t c = next_char();
        set.add_range(c, c);
        sequence.push_back(set_atom(std::move(set)));
    }
    return sequence.size() > size;
}

void RegexParser::parse_group(Sequence& sequence, unsigned depth) {
    Atom atom;
    atom.op = CharRegex::Op::alternatives;
    const bool ignored = ignore_case_;
    if (take("?i)")) {  // to the end of the group around it
        ignore_case_ = true;
        return;
    }
    if (take("?i:")) {
        ignore_case_ = true;
    } else if (take("?=") || take("?!") || take("?<=") || take("?<!")) {
        atom.op = CharRegex::Op::look;
        atom.negative = pattern_[at_ - 1] == '!';
        atom.behind = pattern_[at_ - 2] == '<';
    } else if (!take("?:") && take("?")) {
        fail("this kind of group");
    }
    atom.group = parse_alternation(depth + 1);
    ignore_case_ = ignored;
    if (!take(")")) fail("a '(' without its ')'");
    if (atom.behind) {
        const bool one_set = atom.group.size() == 1 && atom.group[0].size() == 1 && atom.group[0][0].op == CharRegex::Op::set;
        if (!one_set) fail("a look-behind of other than one character");
        atom.set = atom.group[0][0].set;
    }
    sequence.push_back(std::move(atom));
}

void RegexParser::parse_escape(Sequence& sequence) {
    if (at_end()) fail("a lone '\\'");
    Atom anchor;
    if (take("A") || take("z")) {
        anchor.op = pattern_[at_ - 1] == 'A' ? CharRegex::Op::text_start : CharRegex::Op::text_end;
        sequence.push_back(anchor);
        return;
    }
    const char32_t letter = next_char();
    CharSet set;
    if (letter == 'w' || letter == 'W') {
        // Outside of a set, and only there, Oniguruma counts the superscripts and fractions of Latin-1 too.
        set.add_word();
        for (const char32_t c : {0xB2, 0xB3, 0xB9, 0xBC, 0xBD, 0xBE}) set.add_range(c, c);
        if (letter == 'W') set.negate();
    } else if (!parse_class_escape(set, letter)) {
        const char32_t c = escaped_char(letter);
        set.add_range(c, c);
    }
    sequence.push_back(set_atom(std::move(set)));
}

/// \s, \p{L} and the like; false where the letter names no class.
bool RegexParser::parse_class_escape(CharSet& set, char32_t letter) {
    switch (letter) {
        case 's':
        case 'S':
            set.add_kinds(white_kinds, letter == 'S');
            return true;
        case 'd':
        case 'D':
            set.add_kinds(U_GC_ND_MASK, letter == 'D');
            return true;
        case 'w':
        case 'W':
            set.add_word(letter == 'W');
            return true;
        case 'p':
        case 'P':
            parse_property(set, letter == 'P');
            return true;
        default:
            return false;
    }
}

void RegexParser::parse_property(CharSet& set, bool complement) {
    if (!take("{")) fail("\\p without '{'");
    if (take("^")) complement = !complement;
    const std::size_t end = std::min(pattern_.find('}', at_), pattern_.size());
    const std::string_view name = pattern_.substr(at_, end - at_);
    const auto found = std::find_if(properties.begin(), properties.end(), [&](const Property& property) { return property.name == name; });
    if (found == properties.end()) fail(fmt::format("the property {}", quoted(name)));
    at_ = std::min(end + 1, pattern_.size());
    set.add_kinds(found->kinds, complement);
}

char32_t RegexParser::escaped_char(char32_t letter) {
    static constexpr std::pair<char32_t, char32_t> controls[] = {{'t', '\t'}, {'n', '\n'}, {'r', '\r'}, {'f', '\f'},
                                                                 {'v', '\v'}, {'a', 7},    {'e', 27}};
    for (const auto& [name, control] : controls)
        if (name == letter) return control;
    const bool plain = letter >= 128 || !(('a' <= (letter | 0x20) && (letter | 0x20) <= 'z') || ('0' <= letter && letter <= '9'));
    if (plain) return letter;
    if (letter != 'x' && letter != 'u') fail(fmt::format("the escape \\{}", static_cast<char>(letter)));
    const bool braces = take("{");
    const std::size_t most = braces ? 6 : letter == 'u' ? 4 : 2;
    char32_t value = 0;
    std::size_t digits = 0;
    for (; digits < most && !at_end(); ++digits, ++at_) {
        const std::size_t digit = std::string_view("0123456789abcdef").find(lowercase_ascii(pattern_.substr(at_, 1)));
        if (digit == std::string_view::npos) break;
        value = value << 4 | static_cast<char32_t>(digit);
    }
    if (digits == 0 || (braces && !take("}")) || value > 0x10FFFF) fail("a number of a character");
    return value;
}

/// What stands between '[' and ']'.
void RegexParser::parse_set_into(CharSet& set) {
    const bool negated = take("^");
    for (bool first = true; first || !take("]"); first = false) {
        if (at_end()) fail("a '[' without its ']'");
        if (pattern_.substr(at_, 2) == "&&" || pattern_[at_] == '[') fail("a set within a set");
        char32_t from = next_char();
        if (from == '\\') {
            if (at_end()) fail("a lone '\\'");
            const char32_t letter = next_char();
            if (parse_class_escape(set, letter)) continue;
            from = escaped_char(letter);
        }
        char32_t to = from;
        if (pattern_.substr(at_, 1) == "-" && pattern_.substr(at_ + 1, 1) != "]" && at_ + 1 < pattern_.size()) {
            ++at_;
            to = next_char();
            if (to == '\\' && !at_end()) to = escaped_char(next_char());
            if (to < from) fail("an empty range");
        }
        set.add_range(from, to);
    }
    if (ignore_case_) set.ignore_case();
    if (negated) set.negate();
}

std::uint32_t RegexParser::add_set(CharSet set) {
    if (regex_.sets_.size() >= max_nodes) fail("a pattern of this size");
    regex_.sets_.push_back(std::move(set));
    return static_cast<std::uint32_t>(regex_.sets_.size() - 1);
}

RegexParser::Atom RegexParser::set_atom(CharSet set) {
    if (ignore_case_) set.ignore_case();
    Atom atom;
    atom.set = add_set(std::move(set));
    return atom;
}

void RegexParser::parse_repetition(Atom& atom) {
    const bool counted = !at_end() && pattern_[at_] == '{';
    if (take("*")) {
        atom.min = 0, atom.max = unbounded;
    } else if (take("+")) {
        atom.max = unbounded;
    } else if (take("?")) {
        atom.min = 0;
    } else if (!counted || !parse_counts(atom)) {
        return;
    }
    const bool anchor = atom.op != CharRegex::Op::set && atom.op != CharRegex::Op::alternatives;
    if (anchor) fail("a repetition of a look or an anchor");
    if (take("?")) atom.mode = CharRegex::Mode::lazy;
    if (!counted && take("+")) atom.mode = CharRegex::Mode::possessive;
    if (!at_end() && std::string_view("*+?").find(pattern_[at_]) != std::string_view::npos) fail("a repetition of a repetition");
    if (atom.op == CharRegex::Op::alternatives && (atom.max > 64 || atom.mode != CharRegex::Mode::greedy))
        fail("a repetition of a group that is lazy, possessive or without a bound of at most 64");
}

/// {n}, {n,}, {n,m}, {,m}; false (and nothing taken) where the brace is a plain character, as in "{}".
bool RegexParser::parse_counts(Atom& atom) {
    const std::size_t end = pattern_.find('}', at_);
    if (end == std::string_view::npos) return false;
    const auto parts = split(pattern_.substr(at_ + 1, end - at_ - 1), ',');
    const auto number = [&](std::string_view text, std::uint32_t fallback) -> std::optional<std::uint32_t> {
        if (text.empty()) return fallback;
        const auto value = parse_int(text);
        return value && *value >= 0 && *value <= 100'000 ? std::optional(static_cast<std::uint32_t>(*value)) : std::nullopt;
    };
    const bool empty = parts.empty() || parts.size() > 2 || (parts[0].empty() && parts.back().empty());
    const auto min = empty ? std::nullopt : number(parts[0], 0), max = empty ? std::nullopt : number(parts.back(), unbounded);
    if (!min || !max) return false;
    if (*max < *min) fail("a repetition whose bounds are the wrong way round");
    atom.min = *min, atom.max = *max;
    at_ = end + 1;
    return true;
}

std::uint32_t RegexParser::add_node(CharRegex::Node node) {
    if (regex_.nodes_.size() >= max_nodes) fail("a pattern of this size");
    regex_.nodes_.push_back(std::move(node));
    return static_cast<std::uint32_t>(regex_.nodes_.size() - 1);
}

std::uint32_t RegexParser::build(const Alternation& alternation, std::uint32_t next) {
    if (alternation.size() == 1) return build(alternation[0], next);
    CharRegex::Node node;
    node.op = CharRegex::Op::alternatives;
    for (const Sequence& sequence : alternation) node.branches.push_back(build(sequence, next));
    return add_node(std::move(node));
}

std::uint32_t RegexParser::build(const Sequence& sequence, std::uint32_t next) {
    if (++num_built_ > max_nodes) fail("a pattern of this size");  // repeated empty groups make no nodes, but take time
    for (auto atom = sequence.rbegin(); atom != sequence.rend(); ++atom) next = build(*atom, next);
    return next;
}

std::uint32_t RegexParser::build(const Atom& atom, std::uint32_t next) {
    if (atom.op == CharRegex::Op::alternatives) return build_group(atom, next);
    CharRegex::Node node;
    node.op = atom.op;
    node.mode = atom.mode;
    node.negative = atom.negative;
    node.behind = atom.behind;
    node.set = atom.set;
    node.min = atom.min;
    node.max = atom.max;
    node.next = next;
    if (atom.op == CharRegex::Op::set && (atom.min != 1 || atom.max != 1)) node.op = CharRegex::Op::repeat;
    if (atom.op == CharRegex::Op::look && !atom.behind) node.branches.push_back(build(atom.group, 0));
    return add_node(std::move(node));
}

/// A group {min,max} times: written out, from the last time to the first.
std::uint32_t RegexParser::build_group(const Atom& atom, std::uint32_t next) {
    const std::uint32_t end = next;
    for (std::uint32_t i = atom.max; i > 0; --i) {
        next = build(atom.group, next);
        if (i <= atom.min) continue;
        CharRegex::Node node;  // this time, or no more
        node.op = CharRegex::Op::alternatives;
        node.branches = {next, end};
        next = add_node(std::move(node));
    }
    return next;
}

}  // namespace faceter
