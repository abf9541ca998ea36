#pragma once
#include "model/ops.h"

/// What the two forms of the token-routed block share. Not for others.
namespace faceter {

struct Routed {
    at::Tensor y;              ///< [T, D]
    at::Tensor load, dropped;  ///< float64 [E]: assignments to each expert; float64 scalar: those beyond the capacity
};

/// Tokens through the experts chosen for them, nothing read back: `experts` and `weight` are [T, k]. A dropped assignment is computed and
/// counts for nothing.
Routed through_experts_on_device(const at::Tensor& x, const at::Tensor& experts, const at::Tensor& weight, const TokenRouting& routing,
                                 const FeedForwardForm& form);

}  // namespace faceter
