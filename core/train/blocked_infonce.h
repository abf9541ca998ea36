#pragma once
#include <ATen/core/Tensor.h>

#include <vector>

#include "train/pair_masks.h"

namespace faceter {

/// One view of a batch's embeddings (a prefix of them), ready for products.
struct ScoredRows {
    at::Tensor queries;    ///< [B, D]
    at::Tensor documents;  ///< [B + N, D]: row i < B is the positive of query i
};

struct BlockedLoss {
    at::Tensor losses;  ///< [views], with gradients to every view's rows
    at::Tensor masked;  ///< float64 scalar: how many logits were left out
};

/// InfoNCE over logits that never exist as a whole: a block of rows is made, reduced, turned into gradients and forgotten, so memory grows
/// with B x block. Gradients are computed with the loss, since it is the end of the graph; it can be differentiated once. The views share
/// their masks. `weights` [B]: what each row's cross entropy counts. `symmetric`: the mean with documents against queries, where hard
/// negatives, nobody's positive, have no row.
BlockedLoss blocked_infonce(const std::vector<ScoredRows>& views, const PairMasks& masks, const at::Tensor& weights, double temperature,
                            bool symmetric, std::int64_t block_rows);

}  // namespace faceter
