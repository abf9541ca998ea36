#pragma once
#include <utility>

#include "model/low_rank.h"
#include "model/ops.h"

namespace faceter {

/// The activation of rows u [T, U] -> [T, I] by the own kernels. No gradient.
at::Tensor activated_rows(const at::Tensor& u, const FeedForwardForm& form);
/// The same again, and the gradient of u from that of its result, dg [T, I]. All contiguous.
std::pair<at::Tensor, at::Tensor> activated_rows_again(const at::Tensor& u, const at::Tensor& dg, const FeedForwardForm& form);

/// add_low_rank() of g down^T and g = activate(u), in float32 on the CPU: of what is between u and the result nothing is kept for backward.
/// u: [T, U] -> [T, D]. `prepared`: the weight laid out, where it is.
at::Tensor adapted_activation(const at::Tensor& u, const FeedForwardForm& form, const at::Tensor& down, const ProductWeights* prepared,
                              const std::vector<LowRankPart>& parts);

}  // namespace faceter
