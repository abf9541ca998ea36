#include "text/bpe.h"

#include <algorithm>

#include "common/error.h"
#include "common/strings.h"
#include "text/byte_chars.h"
#include "text/utf8.h"

namespace faceter {

/// What a thread keeps between pieces.
struct BpeModel::Scratch {
    std::vector<Symbol> symbols;
    std::vector<Candidate> heap;
    std::string text;
    static Scratch& of_thread() {
        thread_local Scratch scratch;
        return scratch;
    }
    void add(std::int32_t id) {
        const auto at = static_cast<std::int32_t>(symbols.size());
        symbols.push_back({id, at - 1, at + 1, false});
    }
};

BpeModel::BpeModel(BpeSettings settings, std::string_view name)
    : prefix_(settings.continuing_prefix),
      suffix_(settings.end_suffix),
      fuse_unk_(settings.fuse_unk),
      byte_fallback_(settings.byte_fallback),
      ignore_merges_(settings.ignore_merges),
      byte_chars_(settings.byte_chars) {
    for (const auto& [piece, id] : settings.vocabulary) {
        if (id < 0) throw data_error("{}: the id of {} is negative", name, faceter::quoted(piece));
        check_piece(piece, name);
        if (!piece.empty()) trie_.insert(piece, id);
    }
    if (settings.unk_token && !settings.unk_token->empty()) {
        unk_id_ = find_id(*settings.unk_token);
        if (unk_id_ < 0 && !byte_chars_)  // of bytes none is unknown
            throw data_error("{}: the unknown token {} is not in the vocabulary", name, faceter::quoted(*settings.unk_token));
    }
    for (unsigned byte = 0; byte < 256; ++byte) {
        const char32_t c = byte_char(static_cast<unsigned char>(byte));
        byte_ids_[byte] = find_id(byte_chars_ ? utf32_to_utf8({&c, 1}) : fmt::format("<0x{:02X}>", byte));
    }
    add_merges(settings, name);
    find_mark_use(settings);
}

std::int32_t BpeModel::find_id(std::string_view piece) const {
    const PieceTrie::Node node = trie_.find(piece);
    return node == PieceTrie::none ? -1 : trie_.id(node);
}

void BpeModel::add_merges(const BpeSettings& settings, std::string_view name) {
    std::size_t size = 16;
    while (size < 2 * settings.merges.size()) size *= 2;
    merges_.resize(size);
    mask_ = size - 1;
    for (std::size_t rank = 0; rank < settings.merges.size(); ++rank) {
        const auto& [left, right] = settings.merges[rank];
        const std::string joined = left + right.substr(std::min(prefix_.size(), right.size()));
        const std::int32_t ids[] = {find_id(left), find_id(right), find_id(joined)};
        const std::string* const texts[] = {&left, &right, &joined};
        for (int i = 0; i < 3; ++i)
            if (ids[i] < 0)
                throw data_error("{}: {} of merge {} ({} {}) is not in the vocabulary", name, faceter::quoted(*texts[i]), rank + 1,
                                 faceter::quoted(left), faceter::quoted(right));
        insert_merge({pair_of(ids[0], ids[1]), static_cast<std::uint32_t>(rank), ids[2]});
    }
}

namespace {
std::size_t hash_pair(std::uint64_t pair) { return (pair ^ pair >> 29) * 0x9E3779B97F4A7C15ull >> 20; }
}  // namespace

void BpeModel::insert_merge(const Merge& merge) {
    std::size_t slot = hash_pair(merge.pair) & mask_;
    while (merges_[slot].pair != Merge::empty && merges_[slot].pair != merge.pair) slot = (slot + 1) & mask_;
    merges_[slot] = merge;  // of equal pairs the last counts
}

const BpeModel::Merge* BpeModel::find_merge(std::int32_t left, std::int32_t right) const {
    const std::uint64_t pair = pair_of(left, right);
    for (std::size_t slot = hash_pair(pair) & mask_;; slot = (slot + 1) & mask_) {
        if (merges_[slot].pair == pair) return &merges_[slot];
        if (merges_[slot].pair == Merge::empty) return nullptr;
    }
}

/// Vocabularies of SentencePiece have the mark of a blank only at the beginning of a piece, or pieces of marks alone. Then no merge joins a
/// character with a mark behind it, a long text falls into words that do not touch each other, and each can be looked up by itself.
void BpeModel::find_mark_use(const BpeSettings& settings) {
    cut_at_marks_ = !ignore_merges_ && !byte_chars_ && prefix_.empty() && suffix_.empty() && find_id(space_mark) >= 0;
    for (const auto& [left, right] : settings.merges) {
        const std::string joined = left + right;
        for (std::size_t at = joined.find(space_mark); at != std::string::npos; at = joined.find(space_mark, at + 1))
            if (at > 0 && !std::string_view(joined).substr(0, at).ends_with(space_mark)) cut_at_marks_ = false;
    }
}

std::size_t BpeModel::next_cut(std::string_view piece, std::size_t from) const {
    if (!cut_at_marks_) return piece.size();
    const auto is_mark = [&](std::size_t at) { return piece.substr(at, space_mark.size()) == space_mark; };
    while (from < piece.size() && is_mark(from)) from += space_mark.size();
    return std::min(piece.find(space_mark, from), piece.size());
}

/// The pieces "<0x..>" of a character; false where one is missing.
bool BpeModel::append_bytes(std::string_view text, Scratch& scratch) const {
    const auto id_of = [this](char byte) { return byte_ids_[static_cast<unsigned char>(byte)]; };
    if (std::any_of(text.begin(), text.end(), [&](char byte) { return id_of(byte) < 0; })) return false;
    for (const char byte : text) scratch.add(id_of(byte));
    return true;
}

void BpeModel::start_symbols(std::string_view piece, Scratch& scratch) const {
    std::size_t num_unknown = 0;  // found, but not yet written
    const auto flush = [&] {
        for (; num_unknown > 0; --num_unknown) scratch.add(unk_id_);
    };
    const auto unknown = [&] {
        if (unk_id_ < 0) return;  // without an unknown token, what is unknown disappears
        if (num_unknown > 0 && fuse_unk_) return;
        flush();
        num_unknown = 1;
    };
    for (std::size_t at = 0; at < piece.size();) {
        const std::size_t length =
            byte_chars_ ? 1 : static_cast<std::size_t>(decode_utf8(piece.data() + at, piece.data() + piece.size()).length);
        const std::string_view character = piece.substr(at, length);
        const bool first = at == 0, last = at + length == piece.size();
        at += length;
        std::int32_t id = -1;
        std::string_view looked = character;
        if (byte_chars_ || (!first && !prefix_.empty()) || (last && !suffix_.empty())) {
            scratch.text.assign(first ? "" : prefix_);
            byte_chars_ ? append_byte_chars(character, scratch.text) : void(scratch.text += character);
            if (last) scratch.text += suffix_;
            looked = scratch.text;
        }
        id = byte_chars_ && prefix_.empty() && suffix_.empty() ? byte_ids_[static_cast<unsigned char>(character[0])] : find_id(looked);
        if (id >= 0) {
            flush();
            scratch.add(id);
        } else if (!byte_fallback_ || byte_chars_ || !append_bytes(looked, scratch)) {
            unknown();
        }
    }
    flush();
    if (!scratch.symbols.empty()) scratch.symbols.back().next = -1;
}

void BpeModel::merge_all(Scratch& scratch) const {
    std::vector<Symbol>& symbols = scratch.symbols;
    std::vector<Candidate>& heap = scratch.heap;
    heap.clear();
    const auto offer = [&](std::int32_t at) {
        const Symbol& left = symbols[static_cast<std::size_t>(at)];
        if (left.next < 0) return;
        const Merge* merge = find_merge(left.id, symbols[static_cast<std::size_t>(left.next)].id);
        if (merge) heap.push_back({merge->rank, at, merge->id}), std::push_heap(heap.begin(), heap.end());
    };
    for (std::size_t i = 0; i + 1 < symbols.size(); ++i) offer(static_cast<std::int32_t>(i));
    while (!heap.empty()) {
        const Candidate best = heap.front();
        std::pop_heap(heap.begin(), heap.end());
        heap.pop_back();
        Symbol& left = symbols[static_cast<std::size_t>(best.at)];
        if (left.gone || left.next < 0) continue;
        Symbol& right = symbols[static_cast<std::size_t>(left.next)];
        const Merge* merge = find_merge(left.id, right.id);
        if (!merge || merge->id != best.id) continue;  // another merge was faster
        left.id = best.id;
        right.gone = true;
        left.next = right.next;
        if (left.next >= 0) symbols[static_cast<std::size_t>(left.next)].previous = best.at;
        if (left.previous >= 0) offer(left.previous);
        offer(best.at);
    }
}

void BpeModel::encode(std::string_view piece, std::vector<std::int32_t>& ids) const {
    if (piece.size() > std::size_t(1) << 30)
        throw data_error("a text of {} without a place to split it is too long to tokenize", format_bytes(piece.size()));
    Scratch& scratch = Scratch::of_thread();
    if (ignore_merges_) {
        std::string_view whole = piece;
        if (byte_chars_) {
            scratch.text.clear();
            append_byte_chars(piece, scratch.text);
            whole = scratch.text;
        }
        if (const std::int32_t id = find_id(whole); id >= 0) return ids.push_back(id);
    }
    scratch.symbols.clear();
    start_symbols(piece, scratch);
    merge_all(scratch);
    for (const Symbol& symbol : scratch.symbols)
        if (!symbol.gone) ids.push_back(symbol.id);
}

}  // namespace faceter
