#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "model/product_weights.h"

namespace faceter {

/// The products of one expert, laid out.
struct PreparedExpert {
    ProductPointer up, down;
};

/// A feed-forward whose expert is picked per token (methods.md, section 3): p = softmax(x R^T), y = sum over the k best experts of p_e
/// FFN_e(x) + bias. Experts are stacked by rows; no token is dropped unless a capacity is set.
struct TokenRouting {
    at::Tensor router;  ///< R [E, D]
    at::Tensor up,
        up_bias;      ///< [E * U, D], [E * U]: U rows an expert (twice the inner size where the MLP is gated); the bias may be undefined
    at::Tensor down;  ///< [E * D, I]: D rows an expert
    at::Tensor bias;  ///< [D], added once behind the sum; may be undefined
    std::vector<PreparedExpert> prepared{};  ///< of each expert, or empty
    std::int64_t num_experts = 0, top_k = 1;
    bool renormalise = false;  ///< the kept probabilities sum to 1
    double jitter = 0;  ///< in training the router sees x multiplied by uniform noise in [1 - jitter, 1 + jitter] (Switch Transformer, 2.2)
    double capacity = 0;  ///< an expert takes at most capacity * tokens * k / E assignments, the first ones; 0: no limit
};

/// What one router did to a batch, with gradients through the probabilities.
struct RouterOutput {
    std::size_t block = 0;
    at::Tensor logits, probabilities;  ///< [T, E]
    at::Tensor experts;                ///< int64 [T, k], best first
    at::Tensor load;                   ///< float64 [E]: assignments to each
    at::Tensor dropped;                ///< float64 scalar: assignments beyond the capacity

    /// Entropy of the probabilities in nats, summed over tokens: a scalar on their device.
    at::Tensor entropy_sum() const;
};

/// Of all routers of one forward pass, in the order of their blocks.
using RoutingTrace = std::vector<RouterOutput>;

/// What a loss over routers needs of the whole batch, of which a trace may be a part (a chunk of the gradient cache, one rank).
struct RoutingTotals {
    std::vector<at::Tensor> load;  ///< float64 [E] of each router
    std::int64_t tokens = 0;
    void add(const RoutingTrace& trace);
};

}  // namespace faceter
