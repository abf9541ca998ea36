#pragma once
#include <ATen/core/Tensor.h>

#include <vector>

#include "train/objective.h"

namespace faceter {

/// Similarity or distance of rows with rows: [N, D], [N, D] -> [N].
using RowMeasure = at::Tensor (*)(const at::Tensor& a, const at::Tensor& b);
at::Tensor cosine(const at::Tensor& a, const at::Tensor& b);

/// The pairs of a batch that are kept: its positives, then each query's own hard negatives.
struct ScoredPairs {
    at::Tensor values;          ///< [N] the measure of each
    std::vector<double> gold;   ///< [N] its score; without one 1 for a positive, 0 for a negative
    at::Tensor scores() const;  ///< gold, as values are
    /// values of those that `wanted` (0 or 1) is the score of.
    at::Tensor values_of(double wanted) const;
};
ScoredPairs scored_pairs(const PairEmbeddings& batch, RowMeasure measure);

}  // namespace faceter
