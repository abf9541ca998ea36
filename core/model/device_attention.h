#pragma once
#include "model/ops.h"

namespace faceter {

/// packed_attention() on an accelerator. bfloat16 and float16 without a bias go through the flash kernel of variable lengths on the packed
/// rows, in CUDA; everything else through PyTorch's scaled dot product on rows filled up to the longest text, which takes any type, bias
/// and window. Probabilities are dropped by the device's own generator (seed_device).
at::Tensor device_attention(const at::Tensor& qkv, const PackedLayout& layout, const AttentionForm& form, double dropout);

}  // namespace faceter
