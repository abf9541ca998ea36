#pragma once
#include <ATen/core/Tensor.h>

#include "train/objective.h"

namespace faceter {

/// Which columns of a batch's logits are false negatives of which rows, a block of rows at a time: hashes compared on the device of the
/// embeddings. Columns: the batch's documents, then its hard negatives.
class PairMasks {
  public:
    /// `columns`: B, or B + N where hard negatives count.
    PairMasks(const PairEmbeddings& batch, const InfoNceSettings& settings, std::int64_t columns);
    bool any() const { return texts_.rows.defined() || queries_.rows.defined() || labels_.rows.defined() || owners_.defined(); }
    /// bool [rows, columns]: true where the logit of query first + i is to be left out. Its own document never is.
    at::Tensor block(std::int64_t first, std::int64_t rows) const;
    /// How many of a block's entries are false negatives: hard negatives that count for other queries alone are left out without being any.
    at::Tensor false_negatives(const at::Tensor& block, std::int64_t first) const;

  private:
    struct Hashes {
        at::Tensor rows, columns;  // int64 [B], [columns that have one]; undefined: not compared
    };
    Hashes texts_, labels_, queries_;
    at::Tensor owners_;  // int64 [N]: the only query that each hard negative counts for; undefined: all
    std::int64_t columns_;
};

}  // namespace faceter
