#pragma once
#include <ATen/core/Tensor.h>

#include <optional>
#include <vector>

#include "checkpoint/encoder_config.h"
#include "checkpoint/model_folder.h"
#include "model/packed.h"
#include "model/product_weights.h"
#include "model/routing.h"

/// The few parts that encoders are composed of, on packed batches, with gradients. Each has a form for the CPU in float32 (own kernels
/// around matrix products), one for accelerators (ATen operations over the whole batch that never wait for a result) and one that says the
/// equation as it stands, a sequence at a time, for every other type: what the other two are tested against. `ops_form()` is the only place
/// that chooses.
namespace faceter {

enum class OpsForm { kernels, device, plain };
/// The form that serves this tensor.
OpsForm ops_form(const at::Tensor& x);
/// For tests: one form for all tensors; nothing: as it should be.
void force_ops(std::optional<OpsForm> form);
/// True where the own kernels serve this tensor.
inline bool fast_path(const at::Tensor& x) { return ops_form(x) == OpsForm::kernels; }
/// Whether a product adds its bias itself, where else the norm behind it does in its own pass over memory.
inline bool products_add_bias(const at::Tensor& x) { return ops_form(x) == OpsForm::device; }

/// Cosines and sines of rotary positions, times rotary.amplitude: position p, pair i turns by p * rotary_frequency() (Su et al., 2021).
/// [L, rotary_dim / 2] each, float32.
struct RotaryTable {
    at::Tensor cosine, sine;
};
RotaryTable rotary_table(std::int64_t length, std::int64_t rotary_dim, const Rotary& rotary);

/// The terms of disentangled attention (DeBERTa; He et al., 2021, equation 4): a logit is scale (q_i k_j + q_i key[r] + query[r] k_j), r
/// the row of the distance i - j in a table of R rows. The table was projected once for each way that a text may take (its adapter's).
struct RelativeTerms {
    at::Tensor table;                    ///< [G R, (heads + 2 key_heads) w], columns as those of qkv; those of values are of no account
    std::vector<std::int64_t> table_of;  ///< of each sequence: which of the G; empty: the only one
    std::int64_t num_rows = 0;           ///< R
    std::vector<std::int32_t> row;       ///< [2 L - 1]: the row of distance (query - key) + L - 1, L the longest text; never falling
    at::Tensor row_there;                ///< the same, int64, where the table is
    bool query_reads = true, key_reads = true;  ///< whether there is the term q_i key[r], and query[r] k_j
};

/// What attention does beside its products.
struct AttentionForm {
    std::int64_t heads = 1, key_heads = 1;  ///< query head h reads key head h / (heads / key_heads) (Ainslie et al., 2023)
    double scale = 1;                       ///< of the logits
    Reach reach;                            ///< what a token sees
    std::shared_ptr<const RotaryTable>
        rotary;  ///< turns queries and keys, first half of the rotated elements against the second; may be null
    at::Tensor
        position_bias;  ///< [heads, 2 L - 1] added to the logits by distance (key - query) + L - 1, L the longest text; may be undefined
    std::shared_ptr<const RelativeTerms> relative{};  ///< with as many heads of keys as of queries; may be null
};
/// softmax(scale q k^T + bias) v within each sequence. qkv: [T, (heads + 2 key_heads) w], q | k | v, heads contiguous inside. Returns
/// [T, heads w]. qkv is consumed: its storage may be overwritten.
at::Tensor packed_attention(const at::Tensor& qkv, const LayoutPointer& layout, const AttentionForm& form, const DropoutSite& dropout);

/// The parameters of a residual norm for one segment: `bias` of the linear layer before it; bias and beta may be undefined.
struct NormWeights {
    at::Tensor bias, gamma, beta;
};
struct NormForm {
    Norm kind = Norm::layer;  ///< layer: (z - mean) / sd; rms: z / root mean square
    double epsilon = 1e-12;
    bool keep_sum = false;  ///< a pre-norm block needs z as well
};
struct ResidualNorm {
    at::Tensor sum;     ///< z = dropout(x + bias) + residual [T, D], where wanted
    at::Tensor normed;  ///< norm(z) [T, D]
};
/// `weights`: one for all rows, or one a segment of the layout (`by_expert`). `residual` may be undefined. x is consumed: its storage may
/// be overwritten.
ResidualNorm add_norm(const at::Tensor& x, const at::Tensor& residual, const std::vector<NormWeights>& weights, bool by_expert,
                      const NormForm& form, const LayoutPointer& layout, const DropoutSite& dropout);

/// Each head's query and key normed by itself, before rotary positions: qkv [T, (heads + 2 key_heads) w] -> the same shape, v as it was.
/// query_gamma, key_gamma: [w].
at::Tensor norm_heads(const at::Tensor& qkv, const at::Tensor& query_gamma, const at::Tensor& key_gamma, std::int64_t heads,
                      std::int64_t key_heads, const NormForm& form);

/// The weights of a feed-forward: up [U, D], up_bias [U] (may be undefined), down [D, I]. The bias of `down` [D] belongs to the norm that
/// follows, unless products_add_bias().
struct FeedForwardWeights {
    at::Tensor up, up_bias, down;
    ProductPointer prepared_up{}, prepared_down{};  ///< laid out, where they are
    at::Tensor down_bias{};
};
struct FeedForwardForm {
    Activation activation = Activation::gelu;
    bool gated = false;        ///< U = 2 I: activation(first half) * second half (Shazeer, 2020)
    bool gate_second = false;  ///< first half * activation(second half)
};
/// dropout(f(x up^T + up_bias)) down^T, each segment of rows through its own weights: the segment-GEMM of every mixture block. x: [T, D] ->
/// [T, D]. `layout`: what `dropout` counts rows by; not read without it.
at::Tensor feed_forward(const at::Tensor& x, const std::vector<Segment>& segments, const std::vector<FeedForwardWeights>& weights,
                        const FeedForwardForm& form, const LayoutPointer& layout = nullptr, const DropoutSite& dropout = {});
/// The same with stacked experts: rows of segment s go through rows expert * U ... of `up` and expert * D ... of `down`, or through
/// `prepared`, one an expert, where it is not empty.
at::Tensor stacked_feed_forward(const at::Tensor& x, const std::vector<Segment>& segments, const FeedForwardWeights& stacked,
                                std::int64_t num_experts, const FeedForwardForm& form, const std::vector<PreparedExpert>& prepared = {});

/// The activation alone: [T, U] -> [T, I].
at::Tensor activate(const at::Tensor& u, const FeedForwardForm& form);

/// What a router's input is multiplied by in training, uniform in [1 - jitter, 1 + jitter] (Switch Transformer, 2.2): like x [T, D], the
/// same for a sequence whatever batch it is in. An accelerator draws from its own generator.
at::Tensor router_noise(const at::Tensor& x, const PackedLayout& layout, double jitter, std::uint64_t seed);

/// A token-routed feed-forward on packed tokens [T, D]: dispatch by sorting, one segment-GEMM. `noise`: router_noise(), or undefined.
at::Tensor routed_feed_forward(const at::Tensor& x, const TokenRouting& routing, const FeedForwardForm& form, const at::Tensor& noise,
                               RouterOutput* output);

/// x with elements dropped, rows keyed by their sequence.
at::Tensor packed_dropout(const at::Tensor& x, const LayoutPointer& layout, const DropoutSite& dropout);

/// [T, D] -> [S, D]: a sequence's rows by one of the poolings. The first skip[s] rows stay out (include_prompt: false), so that CLS is the
/// row behind them; `skip` may be empty. A sequence of no rows is the zero vector.
at::Tensor pool(const at::Tensor& x, const LayoutPointer& layout, Pooling pooling, const std::vector<std::int64_t>& skip);

/// Rows divided by their length (at least 1e-12): [S, D].
at::Tensor normalize_rows(const at::Tensor& x);

}  // namespace faceter
