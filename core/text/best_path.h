#pragma once
#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "text/piece_trie.h"

namespace faceter {

/// The best way to a byte of a text: the piece that ends there and where it begins.
template <typename Score>
struct PathNode {
    Score score = 0;
    std::int32_t id = -1;
    std::int32_t begin = -1;
};

/// Viterbi over the pieces of a trie, character by character, as sentencepiece's EncodeOptimized and its descendants do: of equal scores
/// the first found stays; a character that is no piece by itself may be unknown, at `unk_score`. Sums are rounded to Score. nodes[i] is the
/// best way to byte i.
template <typename Score, typename ScoreOf>
void find_best_path(const PieceTrie& trie, std::string_view text, const ScoreOf& score_of, double unk_score, std::int32_t unk_id,
                    std::vector<PathNode<Score>>& nodes) {
    nodes.assign(text.size() + 1, {});
    const auto char_length = [&](std::size_t at) {
        const auto lead = static_cast<unsigned char>(text[at]);
        return std::min<std::size_t>(lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4, text.size() - at);
    };
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t single_end = begin + char_length(begin);
        const double so_far = nodes[begin].score;
        const auto offer = [&](std::size_t end, Score score, std::int32_t id) {
            PathNode<Score>& node = nodes[end];
            if (node.begin < 0 || score > node.score) node = {score, id, static_cast<std::int32_t>(begin)};
        };
        bool single = false;
        PieceTrie::Node at = PieceTrie::root;
        for (std::size_t i = begin; i < text.size();) {
            at = trie.step(at, static_cast<unsigned char>(text[i++]));
            if (at == PieceTrie::none) break;
            const std::int32_t id = trie.id(at);
            if (id < 0) continue;
            offer(i, static_cast<Score>(score_of(id, i - begin) + so_far), id);
            single = single || i == single_end;
        }
        if (!single) offer(single_end, static_cast<Score>(unk_score + so_far), unk_id);
        begin = single_end;
    }
}

}  // namespace faceter
