#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "checkpoint/model_folder.h"
#include "eval/feature_matrix.h"

namespace faceter {

/// Scores from numbers of 16 bits, at half the cost of ScoreKernel's, which only say which documents *cannot* be above a threshold. A
/// number x is rounded to x (1 + e) with |e| <= 2^-8, so that by Cauchy and Schwarz a dot product differs from that of the float32 numbers
/// by at most `reach` |q| |d|: what stays below the threshold by more than that is left out, and all else is scored as it would be without
/// the filter.
struct ScoreFilter {
    /// `panel`: [pairs, lanes], two features of a query in each number; `documents`: [rows, pairs]; `reaches` [lanes]: of the queries, as
    /// `reach_of` says; `lengths` [rows]: of the documents. Bit q of maybe[r] is 0 only where the score is at most thresholds[q].
    using Tile = void (*)(const std::uint32_t* panel, const std::uint32_t* documents, std::size_t pairs, const float* thresholds,
                          const float* reaches, const float* lengths, std::uint32_t* maybe);
    /// A row of `dim` numbers as the filter reads it, (dim + 1) / 2 numbers of two features; returns its length, not below the true one.
    using Pack = float (*)(const float* row, std::size_t dim, std::uint32_t* pairs);
    std::size_t lanes, rows;  ///< as ScoreKernel's
    Tile full, single;
    Pack pack;
};

/// Null where the processor has no products of such numbers, or the similarity is no dot product.
const ScoreFilter* score_filter(Similarity similarity);

/// Rows as the filter reads them: `pairs` [rows, (dim + 1) / 2] and `lengths` [rows].
struct FilterRows {
    std::vector<std::uint32_t> pairs;
    std::vector<float> lengths;
    void assign(const ScoreFilter& filter, const FeatureMatrix& rows);
};

/// By how much a score of a query of this length (Pack's) and a document of length 1 can differ between the filter and ScoreKernel.
float reach_of(float length, std::int64_t dim);

}  // namespace faceter
