#include "text/piece_trie.h"

#include "common/error.h"
#include "common/strings.h"

namespace faceter {
namespace {
constexpr std::size_t longest_piece = 4 * 512;  // bytes
}  // namespace

void check_piece(std::string_view piece, std::string_view name) {
    if (piece.size() > longest_piece)
        throw data_error("{}: the piece {} has {} bytes; none of a tokenizer has more than {}, so fetch the file again", name,
                         quoted(piece, 40), piece.size(), longest_piece);
}

PieceTrie::PieceTrie() : edges_(1024), mask_(edges_.size() - 1), ids_{-1} {}

void PieceTrie::place(Edge edge) {
    std::size_t slot = slot_of(edge.key);
    while (edges_[slot].child != none) slot = (slot + 1) & mask_;
    edges_[slot] = edge;
}

void PieceTrie::grow() {
    std::vector<Edge> old(edges_.size() * 2);
    old.swap(edges_);
    mask_ = edges_.size() - 1;
    for (const Edge& edge : old)
        if (edge.child != none) place(edge);
}

PieceTrie::Node PieceTrie::add_edge(Node node, unsigned char byte) {
    if (ids_.size() >= 1u << 24)
        throw data_error("the vocabulary has more than 16 million different prefixes; this is no tokenizer's vocabulary");
    if (++num_edges_ * 2 > edges_.size()) grow();
    const Node child = static_cast<Node>(ids_.size());
    ids_.push_back(-1);
    place({node << 8 | byte, child});
    return child;
}

void PieceTrie::insert(std::string_view piece, std::int32_t id) {
    Node node = root;
    for (const char c : piece) {
        const auto byte = static_cast<unsigned char>(c);
        const Node next = step(node, byte);
        node = next == none ? add_edge(node, byte) : next;
    }
    ids_[node] = id;
}

PieceTrie::Node PieceTrie::find(std::string_view prefix, Node from) const {
    for (const char c : prefix) {
        if (from == none) return none;
        from = step(from, static_cast<unsigned char>(c));
    }
    return from;
}

PieceTrie::Match PieceTrie::longest(std::string_view text, Node from) const {
    Match match;
    for (std::size_t i = 0; i < text.size(); ++i) {
        from = step(from, static_cast<unsigned char>(text[i]));
        if (from == none) break;
        if (ids_[from] >= 0) match = {ids_[from], i + 1};
    }
    return match;
}

}  // namespace faceter
