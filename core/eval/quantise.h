#pragma once
#include <ATen/core/Tensor.h>

#include <string>
#include <string_view>
#include <vector>

namespace faceter {

/// How an embedding is stored for serving. int8: each vector divided by its own largest magnitude, times 127, rounded (dynamic: no
/// calibration set), and beside it the scale that undoes this: without it a dot product or a distance does not know a vector's length.
/// binary: the sign of each element, eight a byte, the first element in the highest
/// bit (as numpy.packbits; sentence-transformers calls it ubinary).
enum class Precision { float32, int8, binary };

/// Errors (usage): a name that is none of float32, int8, binary.
Precision precision_from_name(std::string_view name);
std::string_view precision_name(Precision precision);

/// float32 [N, D] -> int8 [N, D], or uint8 [N, ceil(D / 8)]; float32 as it is.
at::Tensor quantised(const at::Tensor& rows, Precision precision);
/// What a vector's int8 values are multiplied by to be its elements again: a 127th of its largest magnitude. [N, D] -> float32 [N].
at::Tensor int8_scales(const at::Tensor& rows);
/// What a search over the stored form sees, as float32 [N, D]: int8 values times their scale, or -1 and 1 (whose dot product orders as the
/// Hamming distance does).
at::Tensor as_stored(const at::Tensor& rows, Precision precision);

/// The first `prefix` elements (0: all), of length 1 again where `normalise`. Errors (usage): longer than the embedding.
at::Tensor shortened(const at::Tensor& rows, std::int64_t prefix, bool normalise);

/// A form in which embeddings are kept for serving.
struct EmbeddingForm {
    std::int64_t prefix = 0;  ///< elements; 0: all
    Precision precision = Precision::float32;
    bool is_whole() const { return prefix == 0 && precision == Precision::float32; }
    /// "256 int8"; `dim`: of the whole embedding.
    std::string name(std::int64_t dim) const;
    /// Bytes of a vector, its scale included.
    std::int64_t bytes(std::int64_t dim) const;
    /// What a score over the stored form sees: float32 [N, D] -> [N, prefix], of length 1 where `normalise`.
    at::Tensor applied(const at::Tensor& rows, bool normalise) const;
};
/// All prefixes at all precisions, the whole float32 embedding first. Errors (usage): a prefix longer than `dim` or below 1, an unknown
/// precision.
std::vector<EmbeddingForm> embedding_forms(const std::vector<std::int64_t>& prefixes, const std::vector<std::string>& precisions,
                                           std::int64_t dim);

}  // namespace faceter
