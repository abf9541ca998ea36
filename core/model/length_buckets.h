#pragma once
#include <ATen/core/Tensor.h>

#include <optional>
#include <vector>

#include "model/packed.h"

namespace faceter {

/// Sequences of about the same length, filled up to the longest of them: none takes twice its tokens.
struct LengthBucket {
    std::int64_t longest, num_sequences, num_rows;
    std::vector<std::int64_t> sequences;  ///< which of the batch
    at::Tensor lengths;                   ///< int64, of each
    at::Tensor places;                    ///< int64 [num_rows]: of its packed rows in [num_sequences * longest]
};

/// A batch's sequences that have tokens, by the power of two that their length does not exceed. On a device.
struct LengthBuckets {
    std::vector<LengthBucket> all;
    at::Tensor rows;  ///< int64 [T]: the packed rows, bucket by bucket; undefined where there is one bucket
    at::Tensor back;  ///< int64 [T]: rows' inverse
    LengthBuckets(const PackedLayout& layout, const c10::Device& device);
};

/// The buckets that all layers of a pass share, made when the first asks for them.
class PassBuckets {
  public:
    const LengthBuckets& of(const PackedLayout& layout, const c10::Device& device);

  private:
    std::optional<LengthBuckets> made_;
};

/// A position bias for all layers of a pass: bias [heads, 2 L - 1] by distance (key - query) + L - 1 -> what is added to the logits of each
/// bucket, [num_sequences, heads, longest, longest], -inf where a key is no token; one behind the other in one row of numbers. With
/// gradients.
at::Tensor bias_by_buckets(const at::Tensor& bias, const LengthBuckets& buckets);
/// One tensor a bucket of what that gave.
std::vector<at::Tensor> split_by_buckets(const at::Tensor& biases, const LengthBuckets& buckets, std::int64_t heads);

}  // namespace faceter
