#pragma once
#include <ATen/core/Tensor.h>

#include <vector>

#include "checkpoint/model_folder.h"
#include "model/packed.h"

/// The few parts that encoders are composed of, on packed batches, with gradients. Each has one fast form (float32 on a CPU: own kernels
/// around matrix products) and one composed of ATen operations for every other type and device; `fast_path()` is the only place that chooses.
namespace faceter {

/// True where the own kernels serve this tensor.
bool fast_path(const at::Tensor& x);
/// For tests: the composed form everywhere.
void force_composed_ops(bool on);

/// softmax(scale q k^T) v within each sequence. qkv: [T, 3 D], q | k | v, heads contiguous inside. Returns [T, D].
at::Tensor packed_attention(const at::Tensor& qkv, const LayoutPointer& layout, std::int64_t heads, double scale, const DropoutSite& dropout);

/// The parameters of a residual norm for one segment: `bias` of the linear layer before it (may be undefined).
struct NormWeights {
    at::Tensor bias, gamma, beta;
};
/// LayerNorm(dropout(x + bias) + residual): [T, D]. `weights`: one for all rows, or one a segment of the layout (`by_expert`).
/// `residual` may be undefined. x is consumed: its storage may be overwritten.
at::Tensor add_norm(const at::Tensor& x, const at::Tensor& residual, const std::vector<NormWeights>& weights, bool by_expert, double epsilon,
                    const LayoutPointer& layout, const DropoutSite& dropout);

/// The weights of a feed-forward: up [I, D], up_bias [I], down [D, I]. The bias of `down` belongs to the norm that follows.
struct FeedForwardWeights {
    at::Tensor up, up_bias, down;
};
/// GELU(x up^T + up_bias) down^T, each segment of rows through its own weights: the segment-GEMM of every mixture block. x: [T, D] -> [T, D].
/// Source of the exact GELU: Hendrycks and Gimpel, 2016.
at::Tensor feed_forward(const at::Tensor& x, const std::vector<Segment>& segments, const std::vector<FeedForwardWeights>& weights);

/// x with elements dropped, rows keyed by their sequence.
at::Tensor packed_dropout(const at::Tensor& x, const LayoutPointer& layout, const DropoutSite& dropout);

/// [T, D] -> [S, D]: the mean of a sequence's rows, its first or its last row. The first skip[s] rows stay out of the mean (include_prompt: false);
/// `skip` may be empty.
at::Tensor pool(const at::Tensor& x, const LayoutPointer& layout, Pooling pooling, const std::vector<std::int64_t>& skip);

/// Rows divided by their length (at least 1e-12): [S, D].
at::Tensor normalize_rows(const at::Tensor& x);

}  // namespace faceter
