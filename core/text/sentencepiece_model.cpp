#include "text/sentencepiece_model.h"

#include <algorithm>
#include <cfloat>
#include <map>

#include "common/error.h"
#include "common/strings.h"
#include "text/best_path.h"
#include "text/utf8.h"

namespace faceter {
namespace {

using Type = SentencePieceFile::Type;

constexpr float unk_penalty = 10;

struct Symbol {
    std::int32_t previous, next;
    bool frozen;  // user-defined: never merged
    std::string_view text;
};
struct Candidate {
    float score;
    std::int32_t left, right;
    std::size_t size;
    bool operator<(const Candidate& other) const { return score != other.score ? score < other.score : left > other.left; }
};

}  // namespace

struct SentencePieceModel::Scratch {
    std::vector<PathNode<float>> nodes;
    std::vector<Part> parts;
    std::vector<Symbol> symbols;
    std::vector<Candidate> heap;
    std::map<std::string_view, std::pair<std::string_view, std::string_view>> unmerged;  // unused piece -> what it was made of
    static Scratch& of_thread() {
        thread_local Scratch scratch;
        return scratch;
    }
};

SentencePieceModel::SentencePieceModel(const SentencePieceFile& file, std::vector<std::int32_t> ids, std::string_view name)
    : bpe_(file.algorithm == SentencePieceFile::Algorithm::bpe), byte_fallback_(file.byte_fallback), ids_(std::move(ids)) {
    if (!bpe_ && file.algorithm != SentencePieceFile::Algorithm::unigram)
        throw data_error("{}: models of words or characters are not supported; unigram and BPE are", name);
    add_pieces(file, name);
}

void SentencePieceModel::add_pieces(const SentencePieceFile& file, std::string_view name) {
    byte_ids_.fill(-1);
    float lowest = FLT_MAX, highest = FLT_MIN;
    for (std::size_t i = 0; i < file.pieces.size(); ++i) {
        const auto& [text, score, type] = file.pieces[i];
        const auto id = static_cast<std::int32_t>(i);
        check_piece(text, name);
        scores_.push_back(score);
        types_.push_back(type);
        if (type == Type::unknown) unk_id_ = id;
        if (type == Type::normal) lowest = std::min(lowest, score), highest = std::max(highest, score);
        if (type == Type::normal || type == Type::user_defined || (type == Type::unused && bpe_)) trie_.insert(text, id);
        if (type == Type::user_defined) symbols_.insert(text, id), has_symbols_ = true;
        for (unsigned byte = 0; type == Type::byte && byte < 256; ++byte)
            if (text == fmt::format("<0x{:02X}>", byte)) byte_ids_[byte] = id;
    }
    max_score_ = highest;
    unk_score_ = lowest - unk_penalty;
    if (byte_fallback_ && std::count(byte_ids_.begin(), byte_ids_.end(), -1) > 0)
        throw data_error("{}: has byte_fallback, but not all of the pieces <0x00> to <0xFF>", name);
}

std::int32_t SentencePieceModel::find_id(std::string_view piece) const {
    const PieceTrie::Node node = trie_.find(piece);
    return node == PieceTrie::none ? -1 : trie_.id(node);
}

void SentencePieceModel::segment_unigram(std::string_view text, Scratch& scratch) const {
    const auto score_of = [this](std::int32_t id, std::size_t length) -> double {
        const auto i = static_cast<std::size_t>(id);
        // A user-defined symbol gets more than any other way to write it.
        return types_[i] == Type::user_defined ? static_cast<float>(length) * max_score_ - 0.1 : scores_[i];
    };
    find_best_path(trie_, text, score_of, unk_score_, unk_id_, scratch.nodes);
    for (std::size_t end = text.size(); end > 0;) {
        const auto begin = static_cast<std::size_t>(scratch.nodes[end].begin);
        scratch.parts.push_back({scratch.nodes[end].id, text.substr(begin, end - begin)});
        end = begin;
    }
    std::reverse(scratch.parts.begin(), scratch.parts.end());
}

void SentencePieceModel::start_symbols(std::string_view text, Scratch& scratch) const {
    scratch.symbols.clear();
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t symbol = has_symbols_ ? symbols_.longest(text.substr(at)).length : 0;
        const std::size_t length =
            symbol > 0 ? symbol : static_cast<std::size_t>(decode_utf8(text.data() + at, text.data() + text.size()).length);
        const auto index = static_cast<std::int32_t>(scratch.symbols.size());
        scratch.symbols.push_back({index - 1, index + 1, symbol > 0, text.substr(at, length)});
        at += length;
    }
    scratch.symbols.back().next = -1;
}

void SentencePieceModel::segment_bpe(std::string_view text, Scratch& scratch) const {
    start_symbols(text, scratch);
    scratch.heap.clear();
    scratch.unmerged.clear();
    const auto symbol = [&](std::int32_t i) -> Symbol& { return scratch.symbols[static_cast<std::size_t>(i)]; };
    const auto offer = [&](std::int32_t left, std::int32_t right) {
        if (left < 0 || right < 0 || symbol(left).frozen || symbol(right).frozen) return;
        const std::string_view joined(symbol(left).text.data(), symbol(left).text.size() + symbol(right).text.size());
        const std::int32_t id = find_id(joined);
        if (id < 0) return;
        scratch.heap.push_back({scores_[static_cast<std::size_t>(id)], left, right, joined.size()});
        std::push_heap(scratch.heap.begin(), scratch.heap.end());
        if (types_[static_cast<std::size_t>(id)] == Type::unused) scratch.unmerged[joined] = {symbol(left).text, symbol(right).text};
    };
    for (std::int32_t i = 1; i < static_cast<std::int32_t>(scratch.symbols.size()); ++i) offer(i - 1, i);
    while (!scratch.heap.empty()) {
        const Candidate best = scratch.heap.front();
        std::pop_heap(scratch.heap.begin(), scratch.heap.end());
        scratch.heap.pop_back();
        Symbol &left = symbol(best.left), &right = symbol(best.right);
        if (left.text.empty() || right.text.empty() || left.text.size() + right.text.size() != best.size) continue;
        left.text = {left.text.data(), best.size};
        left.next = right.next;
        if (right.next >= 0) symbol(right.next).previous = best.left;
        right.text = {};
        offer(left.previous, best.left);
        offer(best.left, left.next);
    }
    for (std::int32_t i = 0; i >= 0; i = symbol(i).next) append_unmerged(symbol(i).text, scratch);
}

/// A piece, or what it was made of where it is unused, as often as needed.
void SentencePieceModel::append_unmerged(std::string_view text, Scratch& scratch) const {
    std::vector<std::string_view> rest{text};
    while (!rest.empty()) {
        const std::string_view part = rest.back();
        rest.pop_back();
        const std::int32_t id = find_id(part);
        const auto made_of =
            id >= 0 && types_[static_cast<std::size_t>(id)] == Type::unused ? scratch.unmerged.find(part) : scratch.unmerged.end();
        if (made_of == scratch.unmerged.end()) {
            scratch.parts.push_back({id < 0 ? unk_id_ : id, part});
        } else {
            rest.push_back(made_of->second.second);
            rest.push_back(made_of->second.first);
        }
    }
}

void SentencePieceModel::encode(std::string_view piece, std::vector<std::int32_t>& ids) const {
    if (piece.size() > std::size_t(1) << 30) throw data_error("a text of {} is too long to tokenize", format_bytes(piece.size()));
    Scratch& scratch = Scratch::of_thread();
    scratch.parts.clear();
    bpe_ ? segment_bpe(piece, scratch) : segment_unigram(piece, scratch);
    bool unknown_before = false;
    for (const auto& [id, text] : scratch.parts) {
        const bool unknown = id == unk_id_;
        if (unknown && byte_fallback_) {
            for (const char byte : text) ids.push_back(ids_[static_cast<std::size_t>(byte_ids_[static_cast<unsigned char>(byte)])]);
        } else if (!unknown || !unknown_before) {
            ids.push_back(ids_[static_cast<std::size_t>(id)]);
        }
        unknown_before = unknown;
    }
}

namespace {

class SentencePieceNormalizer : public NormalizerStep {
  public:
    SentencePieceNormalizer(const SentencePieceFile& file, std::string_view name)
        : dummy_prefix_(file.add_dummy_prefix),
          remove_extra_(file.remove_extra_whitespaces),
          suffix_(file.whitespace_as_suffix),
          blank_(file.escape_whitespaces ? space_mark : " ") {
        if (!file.charsmap.empty()) charsmap_ = Charsmap(file.charsmap, name);
        for (const auto& piece : file.pieces)
            if (piece.type == Type::user_defined) symbols_.insert(piece.text, 0), has_symbols_ = true;
    }

  private:
    struct Prefix {
        std::string_view text;
        std::size_t length;  // of what it replaces
    };
    /// What the front of `text` becomes: a user-defined symbol stays, else the longest key, else one character.
    Prefix next(std::string_view text) const {
        if (has_symbols_)
            if (const std::size_t length = symbols_.longest(text).length; length > 0) return {text.substr(0, length), length};
        if (const Charsmap::Match match = charsmap_.longest(text); match.length > 0) return {match.text, match.length};
        const auto length = static_cast<std::size_t>(decode_utf8(text.data(), text.data() + text.size()).length);
        return {text.substr(0, length), length};
    }
    std::string_view without_leading_blanks(std::string_view text) const {
        while (!text.empty()) {
            const Prefix prefix = next(text);
            if (prefix.text != " ") break;
            text.remove_prefix(prefix.length);
        }
        return text;
    }
    bool apply(std::string_view text, std::string& out, bool&, const NormalizerLimits& limits) const override {
        out.clear();
        if (remove_extra_) text = without_leading_blanks(text);
        if (text.empty()) return true;
        if (dummy_prefix_ && !suffix_) out += blank_;
        for (bool after_blank = remove_extra_; !text.empty();) {
            const Prefix prefix = next(text);
            std::string_view part = prefix.text;
            while (after_blank && part.starts_with(' ')) part.remove_prefix(1);
            for (const char byte : part) byte == ' ' ? out += blank_ : out += byte;
            check_growth(out.size(), limits.max_bytes);
            if (!part.empty()) after_blank = part.ends_with(' ');
            after_blank = after_blank && remove_extra_;
            text.remove_prefix(prefix.length);
        }
        while (remove_extra_ && std::string_view(out).ends_with(blank_)) out.resize(out.size() - blank_.size());
        if (dummy_prefix_ && suffix_) out += blank_;
        return true;
    }
    bool dummy_prefix_, remove_extra_, suffix_, has_symbols_ = false;
    std::string blank_;
    Charsmap charsmap_;
    PieceTrie symbols_;
};

}  // namespace

std::unique_ptr<NormalizerStep> make_sentencepiece_normalizer(const SentencePieceFile& file, std::string_view name) {
    return std::make_unique<SentencePieceNormalizer>(file, name);
}

}  // namespace faceter
