#pragma once
#include "model/length_buckets.h"
#include "model/ops.h"

namespace faceter {

/// Angles of rotary positions, taken once for all layers of a pass: from a table of the positions of the longest text, [L, half] each, to
/// one row for each packed one, [T, half], on the device. A table of such rows is moved there.
RotaryTable rows_of(const RotaryTable& table, const PackedLayout& layout, const c10::Device& device);

/// packed_attention() on an accelerator. bfloat16 and float16 without a bias go through the flash kernel of variable lengths on the packed
/// rows, in CUDA; everything else through PyTorch's scaled dot product, which takes any type, bias and window, on rows filled up to the
/// longest of their bucket. Probabilities are dropped by the device's own generator (seed_device). `pass`: what the layers of a pass share;
/// the form's position bias is then that of bias_by_buckets(). Null: this is the only layer.
at::Tensor device_attention(const at::Tensor& qkv, const PackedLayout& layout, const AttentionForm& form, double dropout,
                            PassBuckets* pass = nullptr);

}  // namespace faceter
