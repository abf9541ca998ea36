#include "text/char_regex.h"

#include <algorithm>

#include "common/error.h"
#include "common/strings.h"
#include "text/regex_parser.h"
#include "text/utf8.h"

namespace faceter {
namespace {

/// One character's length in UTF-8 that is known to be valid.
int char_length(unsigned char lead) { return lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4; }

char32_t decode_valid(const char* at) {
    const auto byte = [&](int i) { return static_cast<char32_t>(static_cast<unsigned char>(at[i])); };
    switch (char_length(static_cast<unsigned char>(*at))) {
        case 1:
            return byte(0);
        case 2:
            return (byte(0) & 0x1F) << 6 | (byte(1) & 0x3F);
        case 3:
            return (byte(0) & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F);
        default:
            return (byte(0) & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F);
    }
}

const char* step_back(const char* at) {
    do --at;
    while ((static_cast<unsigned char>(*at) & 0xC0) == 0x80);
    return at;
}

}  // namespace

CharRegex::CharRegex(std::string_view pattern) : pattern_(pattern) {
    nodes_.emplace_back();  // accept
    start_ = RegexParser(*this).parse();
    find_first_bytes(start_, 0);
}

/// Marks the bytes that a match from this node can start with; all of them where it may be empty or is not simple.
void CharRegex::find_first_bytes(std::uint32_t index, unsigned depth) {
    const Node& node = nodes_[index];
    if (depth < 64 && node.op == Op::alternatives) {
        for (const std::uint32_t branch : node.branches) find_first_bytes(branch, depth + 1);
        return;
    }
    if (depth >= 64 || (node.op != Op::set && node.op != Op::repeat)) {
        first_bytes_.fill(true);
        return;
    }
    const CharSet& set = sets_[node.set];
    for (unsigned byte = 0; byte < 256; ++byte)
        if (byte < 128 ? set.contains(byte) : set.beyond_ascii()) first_bytes_[byte] = true;
    if (node.op == Op::repeat && node.min == 0) find_first_bytes(node.next, depth + 1);
}

bool CharRegex::find(std::string_view text, std::size_t from, Match& found) const {
    // Linear in the text for every pattern that tokenizers have; what needs more than this is made to hang.
    Subject subject{text.data(), text.data() + text.size(), 10'000'000 + 200 * std::uint64_t{text.size()}};
    for (const char* at = subject.begin + from;; ++at) {
        while (at < subject.end && !first_bytes_[static_cast<unsigned char>(*at)]) ++at;
        if (at < subject.end && (static_cast<unsigned char>(*at) & 0xC0) == 0x80) continue;
        if (const char* end = match(start_, at, subject)) {
            found = {std::size_t(at - subject.begin), std::size_t(end - subject.begin)};
            return true;
        }
        if (at >= subject.end) return false;
    }
}

const char* CharRegex::match(std::uint32_t index, const char* at, Subject& subject) const {
    for (;;) {
        const Node& node = nodes_[index];
        if (subject.steps_left-- == 0)
            throw data_error("the pattern {} of the tokenizer takes too long on a text of {} bytes; its file is broken or hostile",
                             faceter::quoted(pattern_), subject.end - subject.begin);
        switch (node.op) {
            case Op::accept:
                return at;
            case Op::set:
                if (at == subject.end || !sets_[node.set].contains(decode_valid(at))) return nullptr;
                at += char_length(static_cast<unsigned char>(*at));
                break;
            case Op::repeat:
                return match_repeat(node, at, subject);
            case Op::alternatives:
                for (std::size_t i = 0; i + 1 < node.branches.size(); ++i)
                    if (const char* end = match(node.branches[i], at, subject)) return end;
                index = node.branches.back();
                continue;
            case Op::look:
                if (!looks(node, at, subject)) return nullptr;
                break;
            case Op::text_start:
                if (at != subject.begin) return nullptr;
                break;
            case Op::text_end:
                if (at != subject.end) return nullptr;
                break;
            case Op::line_start:
                if (at != subject.begin && (at[-1] != '\n' || at == subject.end)) return nullptr;
                break;
            case Op::line_end:
                if (at != subject.end && *at != '\n') return nullptr;
                break;
        }
        index = node.next;
    }
}

const char* CharRegex::match_repeat(const Node& node, const char* at, Subject& subject) const {
    const CharSet& set = sets_[node.set];
    std::uint32_t count = 0;
    const auto one_more = [&] {
        if (count == node.max || at == subject.end || !set.contains(decode_valid(at))) return false;
        at += char_length(static_cast<unsigned char>(*at));
        ++count;
        return true;
    };
    if (node.mode == Mode::lazy) {
        do {
            if (count < node.min) continue;
            if (const char* end = match(node.next, at, subject)) return end;
        } while (one_more());
        return nullptr;
    }
    while (one_more()) {
    }
    const std::uint64_t taken = std::min<std::uint64_t>(count / 4, subject.steps_left);
    subject.steps_left -= taken;
    if (count < node.min) return nullptr;
    if (node.mode == Mode::possessive) return match(node.next, at, subject);
    for (;; at = step_back(at), --count) {
        if (const char* end = match(node.next, at, subject)) return end;
        if (count == node.min) return nullptr;
    }
}

bool CharRegex::looks(const Node& node, const char* at, Subject& subject) const {
    const bool found = node.behind ? at != subject.begin && sets_[node.set].contains(decode_valid(step_back(at)))
                                   : match(node.branches[0], at, subject) != nullptr;
    return found != node.negative;
}

}  // namespace faceter
