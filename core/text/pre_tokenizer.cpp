#include "text/pre_tokenizer.h"

#include <array>

#include "text/bert_unicode.h"
#include "text/byte_chars.h"
#include "text/char_kinds.h"
#include "text/utf8.h"

namespace faceter {
namespace {

/// Collects the parts of one piece, in order, and joins them as the behaviour says (NormalizedString::split of the peers).
class Splitter {
  public:
    Splitter(std::vector<Piece>& out, SplitBehavior behavior, bool invert) : out_(out), behavior_(behavior), invert_(invert) {}

    void begin(const Piece& piece) {
        piece_ = piece;
        done_ = piece.begin;
        first_ = out_.size();
        previous_match_ = false;
    }
    /// A match from `begin` to `end`, in the list's text.
    void match(std::size_t begin, std::size_t end) {
        if (begin > done_) part(done_, begin, invert_);
        part(begin, end, !invert_);
        done_ = end;
    }
    void finish() {
        if (done_ < piece_.end) part(done_, piece_.end, invert_);
    }

  private:
    void part(std::size_t begin, std::size_t end, bool is_match) {
        if (begin == end) return;
        const bool previous = previous_match_, any = out_.size() > first_;
        previous_match_ = is_match;
        switch (behavior_) {
            case SplitBehavior::removed:
                if (is_match) return;
                break;
            case SplitBehavior::isolated:
                break;
            case SplitBehavior::contiguous:
                if (is_match == previous && any) return void(out_.back().end = end);
                break;
            case SplitBehavior::merged_with_previous:
                if (is_match && !previous && any) return void(out_.back().end = end);
                break;
            case SplitBehavior::merged_with_next:  // the last of several matches in a row belongs to what follows
                if (previous && !is_match) return void(out_.back().end = end);
                break;
        }
        out_.push_back({begin, end, piece_.at_start && begin == piece_.begin});
    }
    std::vector<Piece>& out_;
    const SplitBehavior behavior_;
    const bool invert_;
    Piece piece_;
    std::size_t done_ = 0, first_ = 0;
    bool previous_match_ = false;
};

/// Splits every piece; find(text, use) calls use(begin, end) for each match in order.
template <typename Find>
void split_pieces(PieceList& list, SplitBehavior behavior, bool invert, const Find& find) {
    list.next_pieces.clear();
    Splitter splitter(list.next_pieces, behavior, invert);
    for (const Piece& piece : list.pieces) {
        splitter.begin(piece);
        find(list.view(piece), [&](std::size_t begin, std::size_t end) { splitter.match(piece.begin + begin, piece.begin + end); });
        splitter.finish();
    }
    list.pieces.swap(list.next_pieces);
}

/// use(begin, end) for each character of which test(code point) holds.
template <typename Test, typename Use>
void for_each_match(std::string_view text, const Test& test, const Use& use) {
    for (std::size_t at = 0; at < text.size();) {
        const auto byte = static_cast<unsigned char>(text[at]);
        const DecodedChar decoded = byte < 0x80 ? DecodedChar{byte, 1, true} : decode_utf8(text.data() + at, text.data() + text.size());
        const std::size_t end = at + static_cast<std::size_t>(decoded.length);
        if (test(decoded.code_point)) use(at, end);
        at = end;
    }
}

class RegexSplit : public PreTokenizerStep {
  public:
    RegexSplit(Regex pattern, SplitBehavior behavior, bool invert) : pattern_(std::move(pattern)), behavior_(behavior), invert_(invert) {}
    void apply(PieceList& list) const override {
        split_pieces(list, behavior_, invert_,
                     [&](std::string_view text, const auto& use) { pattern_.for_each_match(text, *list.budget, use); });
    }

  private:
    Regex pattern_;
    SplitBehavior behavior_;
    bool invert_;
};

class WordSplit : public PreTokenizerStep {
  public:
    WordSplit(WordPattern pattern, SplitBehavior behavior, bool invert) : pattern_(pattern), behavior_(behavior), invert_(invert) {}
    void apply(PieceList& list) const override {
        split_pieces(list, behavior_, invert_, [&](std::string_view text, const auto& use) {
            for (std::size_t at = 0, end = 0; at < text.size(); at = end) use(at, end = match_word(pattern_, text, at));
        });
    }

  private:
    WordPattern pattern_;
    SplitBehavior behavior_;
    bool invert_;
};

class TextSplit : public PreTokenizerStep {
  public:
    TextSplit(std::string pattern, SplitBehavior behavior, bool invert)
        : pattern_(std::move(pattern)), behavior_(behavior), invert_(invert) {}
    void apply(PieceList& list) const override {
        split_pieces(list, behavior_, invert_, [&](std::string_view text, const auto& use) {
            for (std::size_t at = text.find(pattern_); at != std::string_view::npos; at = text.find(pattern_, at + pattern_.size()))
                use(at, at + pattern_.size());
        });
    }

  private:
    std::string pattern_;
    SplitBehavior behavior_;
    bool invert_;
};

class CharSplit : public PreTokenizerStep {
  public:
    CharSplit(bool (*is_separator)(char32_t), SplitBehavior behavior) : is_separator_(is_separator), behavior_(behavior) {
        for (char32_t c = 0; c < 128; ++c) ascii_[c] = is_separator(c);
    }
    void apply(PieceList& list) const override {
        const auto test = [this](char32_t c) { return c < 128 ? ascii_[c] : is_separator_(c); };
        split_pieces(list, behavior_, false, [&](std::string_view text, const auto& use) { for_each_match(text, test, use); });
    }

  private:
    bool (*is_separator_)(char32_t);
    std::array<bool, 128> ascii_;
    SplitBehavior behavior_;
};

class Whitespace : public PreTokenizerStep {
  public:
    void apply(PieceList& list) const override {
        list.next_pieces.clear();
        for (const Piece& piece : list.pieces) split(list, piece);
        list.pieces.swap(list.next_pieces);
    }

  private:
    enum class Kind { blank, word, other };
    static Kind kind_of(char32_t c) {
        if (bert_unicode::is_word_character(c)) return Kind::word;
        return bert_unicode::is_whitespace(c) ? Kind::blank : Kind::other;
    }
    static void split(PieceList& list, const Piece& piece) {
        const char *start = list.text.data(), *at = start + piece.begin, *end = start + piece.end;
        Kind last = Kind::blank;
        while (at < end) {
            const DecodedChar decoded = decode_utf8(at, end);
            const Kind kind = kind_of(decoded.code_point);
            const auto begin = static_cast<std::size_t>(at - start);
            at += decoded.length;
            if (kind != Kind::blank) {
                if (kind != last) list.next_pieces.push_back({begin, begin, piece.at_start && begin == piece.begin});
                list.next_pieces.back().end = static_cast<std::size_t>(at - start);
            }
            last = kind;
        }
    }
};

class BertSplit : public PreTokenizerStep {
  public:
    void apply(PieceList& list) const override {
        whitespace_.apply(list);
        punctuation_.apply(list);
    }

  private:
    CharSplit whitespace_{bert_unicode::is_whitespace, SplitBehavior::removed};
    CharSplit punctuation_{bert_unicode::is_punctuation, SplitBehavior::isolated};
};

class Metaspace : public PreTokenizerStep {
  public:
    Metaspace(std::string mark, PrependScheme scheme, bool split) : mark_(std::move(mark)), scheme_(scheme), split_(split) {}
    void apply(PieceList& list) const override {
        list.next_text.clear();
        list.next_pieces.clear();
        for (const Piece& piece : list.pieces) append(list, piece);
        list.text.swap(list.next_text);
        list.pieces.swap(list.next_pieces);
    }

  private:
    bool prepends(std::string_view text, bool at_start) const {
        if (scheme_ == PrependScheme::never || (scheme_ == PrependScheme::first && !at_start)) return false;
        return text[0] != ' ' && !text.starts_with(mark_);
    }
    void append(PieceList& list, const Piece& piece) const {
        std::string& out = list.next_text;
        const std::string_view text = list.view(piece);
        if (text.empty()) return;
        const std::size_t start = out.size();
        std::size_t begin = start;
        const auto cut = [&] {
            if (out.size() > begin) list.next_pieces.push_back({begin, out.size(), piece.at_start && begin == start});
            begin = out.size();
        };
        if (prepends(text, piece.at_start)) out += mark_;
        for (std::size_t at = 0; at < text.size();) {
            const bool literal = text[at] == mark_[0] && text.substr(at, mark_.size()) == mark_;
            if (literal || text[at] == ' ') {
                if (split_) cut();
                out += mark_;
                at += literal ? mark_.size() : 1;
            } else {
                out += text[at++];
            }
        }
        cut();
    }
    std::string mark_;
    PrependScheme scheme_;
    bool split_;
};

/// Steps that give every piece another text.
template <typename Append>
void rewrite_pieces(PieceList& list, const Append& append) {
    list.next_text.clear();
    for (Piece& piece : list.pieces) {
        const std::size_t begin = list.next_text.size();
        append(list.view(piece), list.next_text);
        piece = {begin, list.next_text.size(), piece.at_start};
    }
    list.text.swap(list.next_text);
}

class PrefixSpace : public PreTokenizerStep {
  public:
    void apply(PieceList& list) const override {
        rewrite_pieces(list, [](std::string_view text, std::string& out) {
            if (!text.empty() && text[0] != ' ') out += ' ';
            out += text;
        });
    }
};

class ByteCharsPieces : public PreTokenizerStep {
  public:
    void apply(PieceList& list) const override { rewrite_pieces(list, append_byte_chars); }
};

}  // namespace

void PieceList::start(std::string_view whole, bool at_start) {
    text = whole;
    pieces.assign(1, {0, whole.size(), at_start});
}

std::unique_ptr<PreTokenizerStep> make_regex_split(std::string_view pattern, std::string_view name, SplitBehavior behavior, bool invert) {
    if (const auto known = known_word_pattern(pattern)) return make_word_split(*known, behavior, invert);
    return std::make_unique<RegexSplit>(Regex(pattern, name), behavior, invert);
}
std::unique_ptr<PreTokenizerStep> make_word_split(WordPattern pattern, SplitBehavior behavior, bool invert) {
    return std::make_unique<WordSplit>(pattern, behavior, invert);
}
std::unique_ptr<PreTokenizerStep> make_split(std::string pattern, SplitBehavior behavior, bool invert) {
    return std::make_unique<TextSplit>(std::move(pattern), behavior, invert);
}
std::unique_ptr<PreTokenizerStep> make_char_split(bool (*is_separator)(char32_t), SplitBehavior behavior) {
    return std::make_unique<CharSplit>(is_separator, behavior);
}
std::unique_ptr<PreTokenizerStep> make_whitespace() { return std::make_unique<Whitespace>(); }
std::unique_ptr<PreTokenizerStep> make_whitespace_split() { return make_char_split(bert_unicode::is_whitespace, SplitBehavior::removed); }
std::unique_ptr<PreTokenizerStep> make_digits(bool individual) {
    return make_char_split(is_numeric, individual ? SplitBehavior::isolated : SplitBehavior::contiguous);
}
std::unique_ptr<PreTokenizerStep> make_punctuation(SplitBehavior behavior) {
    return make_char_split(bert_unicode::is_punctuation, behavior);
}
std::unique_ptr<PreTokenizerStep> make_bert_split() { return std::make_unique<BertSplit>(); }
std::unique_ptr<PreTokenizerStep> make_metaspace(std::string mark, PrependScheme scheme, bool split) {
    return std::make_unique<Metaspace>(std::move(mark), scheme, split);
}
std::unique_ptr<PreTokenizerStep> make_prefix_space() { return std::make_unique<PrefixSpace>(); }
std::unique_ptr<PreTokenizerStep> make_byte_chars_pieces() { return std::make_unique<ByteCharsPieces>(); }

}  // namespace faceter
