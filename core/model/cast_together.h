#pragma once
#include <ATen/core/Tensor.h>

#include <vector>

namespace faceter {

/// Casts of many tensors, many to a kernel on accelerators, and so are their gradients: the casts of a BERT's weights one by one are a
/// quarter of all kernels of a step. A tensor that is of that type already comes back itself. Those whose gradients are wanted go in the
/// given order and in groups, about a block each, so that gradients are ready while the blocks before are still under way; one that no loss
/// reads has none.
std::vector<at::Tensor> cast_together(const std::vector<at::Tensor>& tensors, at::ScalarType dtype);

}  // namespace faceter
