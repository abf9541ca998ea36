#pragma once
#include <cstddef>
#include <cstdint>

#include "checkpoint/model_folder.h"

namespace faceter {

/// Scores of a tile of documents against a panel of queries, compared with a threshold a query while they are still in registers: the
/// matrix of scores, of which a search keeps next to nothing, is never written.
struct ScoreKernel {
    /// `panel`: [dim, lanes], query q in column q. `documents`: rows of `dim` numbers, one after the other. For each row r, bit q of
    /// above[r] says whether the score is above thresholds[q]; scores[r * lanes ...] are written for rows with any such bit. A score is
    /// summed in the order of the features, so it does not depend on the tile it is computed in.
    using Tile = void (*)(const float* panel, const float* documents, std::size_t dim, const float* thresholds, float* scores,
                          std::uint32_t* above);

    std::size_t lanes;  ///< queries of a panel, at most 32
    std::size_t rows;   ///< documents of a full tile, at most `largest_rows`
    Tile full, single;  ///< `single` takes one document
    static constexpr std::size_t largest_rows = 16;
};

/// Dot products, for cosine too (its rows have length 1): the best one for this processor (FACETER_CPU=avx512|avx2|generic forces one that
/// it has, for tests). Euclidean: the squared distance with a minus, which orders as the distance does; Manhattan: the distance with a
/// minus.
const ScoreKernel& score_kernel(Similarity similarity);

}  // namespace faceter
