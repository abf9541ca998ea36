#include "text/unigram.h"

#include <cmath>

#include "common/error.h"
#include "common/strings.h"
#include "text/best_path.h"

namespace faceter {
namespace {

constexpr double unk_penalty = 10;

struct Scratch {
    std::vector<PathNode<double>> nodes;
    std::vector<std::pair<std::int32_t, std::string_view>> path;  // from the end
    static Scratch& of_thread() {
        thread_local Scratch scratch;
        return scratch;
    }
};

/// A text of gigabytes made of one word does not fit the nodes' 32 bits.
constexpr std::size_t max_piece_bytes = std::size_t(1) << 30;

}  // namespace

UnigramModel::UnigramModel(UnigramSettings settings, std::string_view name)
    : unk_id_(settings.unk_id), byte_fallback_(settings.byte_fallback) {
    if (unk_id_ < 0 || static_cast<std::size_t>(unk_id_) >= settings.pieces.size())
        throw data_error("{}: unk_id {} is not the place of one of its {} pieces", name, unk_id_, settings.pieces.size());
    double lowest = HUGE_VAL;
    for (const auto& [piece, score] : settings.pieces) {
        if (!std::isfinite(score)) throw data_error("{}: the score of {} is not a finite number", name, faceter::quoted(piece));
        lowest = std::min(lowest, score);
        check_piece(piece, name);
        if (!piece.empty()) trie_.insert(piece, static_cast<std::int32_t>(scores_.size()));
        scores_.push_back(score);
    }
    unk_score_ = lowest - unk_penalty;
}

/// The text that was unknown, as a whole: it may be a piece all the same ("<unk>" itself), else its bytes, else the unknown token.
void UnigramModel::append_unknown(std::string_view text, std::vector<std::int32_t>& ids) const {
    const PieceTrie::Node node = trie_.find(text);
    if (node != PieceTrie::none && trie_.id(node) >= 0) return ids.push_back(trie_.id(node));
    const std::size_t size = ids.size();
    for (const char byte : byte_fallback_ ? text : std::string_view()) {
        const PieceTrie::Node found = trie_.find(fmt::format("<0x{:02X}>", static_cast<unsigned char>(byte)));
        if (found == PieceTrie::none || trie_.id(found) < 0) {
            ids.resize(size);
            break;
        }
        ids.push_back(trie_.id(found));
    }
    if (ids.size() == size) ids.push_back(unk_id_);
}

void UnigramModel::encode(std::string_view piece, std::vector<std::int32_t>& ids) const {
    if (piece.size() > max_piece_bytes)
        throw data_error("a text of {} without a place to split it is too long to tokenize", format_bytes(piece.size()));
    Scratch& scratch = Scratch::of_thread();
    find_best_path(
        trie_, piece, [this](std::int32_t id, std::size_t) { return scores_[static_cast<std::size_t>(id)]; }, unk_score_, unk_id_,
        scratch.nodes);
    scratch.path.clear();
    for (std::size_t end = piece.size(); end > 0;) {
        const PathNode<double>& node = scratch.nodes[end];
        const auto begin = static_cast<std::size_t>(node.begin);
        const bool joins = node.id == unk_id_ && !scratch.path.empty() && scratch.path.back().first == unk_id_;
        if (joins) {
            std::string_view& text = scratch.path.back().second;
            text = {piece.data() + begin, end - begin + text.size()};
        } else {
            scratch.path.emplace_back(node.id, piece.substr(begin, end - begin));
        }
        end = begin;
    }
    for (auto part = scratch.path.rbegin(); part != scratch.path.rend(); ++part) {
        if (part->first == unk_id_) {
            append_unknown(part->second, ids);
        } else {
            ids.push_back(part->first);
        }
    }
}

}  // namespace faceter
