#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

namespace faceter {

/// Throws a data error (`name` in front) of a piece that is longer than any training makes them (sentencepiece: 512 characters): finding
/// pieces takes the length of the text times that of the longest.
void check_piece(std::string_view piece, std::string_view name);

/// A byte trie whose edges lie in one flat hash table (open addressing): built in one pass, one probe a byte.
class PieceTrie {
  public:
    using Node = std::uint32_t;
    static constexpr Node root = 0, none = 0xFFFFFFFF;

    PieceTrie();
    /// The last id given to a piece counts. Throws a data error beyond 16 million nodes, far above any vocabulary.
    void insert(std::string_view piece, std::int32_t id);
    Node step(Node node, unsigned char byte) const {
        const std::uint32_t key = node << 8 | byte;
        for (std::size_t slot = slot_of(key);; slot = (slot + 1) & mask_) {
            const Edge& edge = edges_[slot];
            if (edge.child == none) return none;
            if (edge.key == key) return edge.child;
        }
    }
    /// The node that spells `prefix`, or none.
    Node find(std::string_view prefix, Node from = root) const;
    /// The id that ends at the node; -1 where none does.
    std::int32_t id(Node node) const { return ids_[node]; }
    std::size_t num_nodes() const { return ids_.size(); }

    struct Match {
        std::int32_t id = -1;
        std::size_t length = 0;
    };
    /// The longest piece at the front of `text`, spelled from `from`; id -1 where there is none.
    Match longest(std::string_view text, Node from = root) const;

  private:
    struct Edge {
        std::uint32_t key = 0;
        Node child = none;
    };
    std::size_t slot_of(std::uint32_t key) const { return (key * 0x9E3779B97F4A7C15ull >> 32) & mask_; }
    Node add_edge(Node node, unsigned char byte);
    void place(Edge edge);
    void grow();
    std::vector<Edge> edges_;
    std::size_t mask_, num_edges_ = 0;
    std::vector<std::int32_t> ids_;
};

}  // namespace faceter
