#pragma once
#include <ATen/core/Tensor.h>

#include <string_view>
#include <vector>

namespace faceter {

/// How an embedding is stored for serving. int8: each vector divided by its own largest magnitude, times 127, rounded (dynamic: no calibration set; cosine
/// similarities need no scale). binary: the sign of each element, eight a byte, the first element in the highest bit (as numpy.packbits; sentence-transformers
/// calls it ubinary).
enum class Precision { float32, int8, binary };

/// Errors (usage): a name that is none of float32, int8, binary.
Precision precision_from_name(std::string_view name);

/// float32 [N, D] -> int8 [N, D], or uint8 [N, ceil(D / 8)]; float32 as it is.
at::Tensor quantised(const at::Tensor& rows, Precision precision);
/// What a search over the stored form sees, as float32 [N, D]: int8 values, or -1 and 1 (whose dot product orders as the Hamming distance does).
at::Tensor as_stored(const at::Tensor& rows, Precision precision);

/// The first `prefix` elements (0: all), of length 1 again where `normalise`. Errors (usage): longer than the embedding.
at::Tensor shortened(const at::Tensor& rows, std::int64_t prefix, bool normalise);

}  // namespace faceter
