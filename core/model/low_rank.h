#pragma once
#include <ATen/core/Tensor.h>

#include <array>
#include <string>
#include <vector>

#include "checkpoint/adapter_folder.h"

namespace faceter {

/// The linear layers of a block.
enum class BlockLinear { qkv, attention_output, up, down };
inline constexpr std::size_t num_block_linears = 4;

/// One linear layer as its checkpoint names it: rows of a block's weight.
struct LinearPlace {
    std::string module;  ///< "encoder.layer.0.attention.self.query"
    std::size_t block = 0;
    BlockLinear which = BlockLinear::qkv;
    std::int64_t first_row = 0, rows = 0, columns = 0;
};

/// The low-rank update of one linear layer: rows [place.first_row, + place.rows) of its output gain scale * B A x.
struct LowRankUpdate {
    LinearPlace place;
    at::Tensor a, b;  ///< [r, in], [out, r]
};

/// The tables of embeddings that an adapter may change.
enum class EmbeddingTable { word, token_type };

/// One of them as its checkpoint names it.
struct TablePlace {
    std::string module;  ///< "embeddings.word_embeddings"
    EmbeddingTable which = EmbeddingTable::word;
    std::int64_t rows = 0, columns = 0;
};

/// The low-rank update of a table of embeddings: row i gains scale * B A[:, i].
struct TableUpdate {
    TablePlace place;
    at::Tensor a, b;  ///< [r, rows], [D, r]
};

/// A low-rank adapter of an encoder (LoRA): one update for each linear layer and each table that it targets.
struct Adapter {
    std::string name;
    AdapterConfig config;
    std::vector<std::array<std::vector<LowRankUpdate>, num_block_linears>> blocks;
    std::vector<TableUpdate> tables;
    std::int64_t num_parameters() const;
    /// The updates of the linear layers that a block joins.
    std::vector<LowRankUpdate>& at(const LinearPlace& place) { return blocks[place.block][static_cast<std::size_t>(place.which)]; }
};

/// visit(module, is_table, A, B) for every update of an adapter, in a fixed order.
template <typename AnyAdapter, typename Visit>
void for_each_update(AnyAdapter& adapter, Visit visit) {
    for (auto& update : adapter.tables) visit(update.place.module, true, update.a, update.b);
    for (auto& block : adapter.blocks)
        for (auto& updates : block)
            for (auto& update : updates) visit(update.place.module, false, update.a, update.b);
}

/// One product of `add_low_rank`: packed rows [begin, end) go through `update`.
struct LowRankPart {
    std::int64_t begin = 0, end = 0;
    const LowRankUpdate* update = nullptr;
    double scale = 1;
};
/// y + sum over the parts of scale * (x A^T) B^T in their rows and columns. y: [T, out], x: [T, in] -> [T, out]. y is consumed: it is added
/// to in place where it can be. Frozen weights and inputs get no gradient computed.
at::Tensor add_low_rank(const at::Tensor& y, const at::Tensor& x, const std::vector<LowRankPart>& parts);

}  // namespace faceter
