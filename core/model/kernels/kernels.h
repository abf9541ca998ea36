#pragma once
#include <cstddef>
#include <cstdint>

/// CPU kernels in float32 for what a matrix library does not offer: attention over packed sequences, bias + GELU, dropout + residual +
/// layer norm. Each is compiled for several instruction sets; kernels() asks the processor once which table to use. No torch here.
namespace faceter::kernels {

/// Counter-based dropout (Philox 4x32-10): whether element j of row i of a sequence is kept depends on (seed, step, sequence key, site, i,
/// j) only, so that packing, resuming and another number of threads or processes give the same mask, and backward draws it again.
struct Dropout {
    std::uint32_t threshold = 0;    ///< an element is dropped where its 16 random bits are below this; 0: no dropout
    float scale = 1;                ///< 1 / (1 - p)
    std::uint32_t key[2] = {0, 0};  ///< from (seed, step)
    std::uint32_t site = 0;         ///< which dropout of the model (layer, place, head)
};

/// What disentangled attention (DeBERTa) adds to q_i k_j before it is scaled: q_i key[r] + query[r] k_j, r = row[i - j] - first.
struct RelativeRows {
    std::size_t rows = 0;                          ///< 0: nothing is added
    const float *query = nullptr, *key = nullptr;  ///< [rows, head_dim], rows `stride` apart; null: no such term
    std::size_t stride = 0;
    const std::int32_t* row = nullptr;         ///< points at distance 0
    std::int32_t first = 0;                    ///< the row of the table where `query` and `key` begin
    float *dquery = nullptr, *dkey = nullptr;  ///< backward adds to them, [rows, head_dim] end to end
};

/// One head of one sequence of packed attention. Rows of q, k, v, out are `stride` floats apart.
struct AttentionHead {
    const float *q, *k, *v;  ///< [L, head_dim] each, rows `qkv_stride` apart
    std::size_t qkv_stride, out_stride;
    std::size_t length, head_dim;
    float scale;
    Dropout dropout;  ///< on the probabilities: row i, element j
    std::uint64_t sequence_key;
    std::size_t before, after;    ///< row i sees j from i - before to i + after; neither is more than the length
    const float* bias = nullptr;  ///< bias[j - i] is added to the scaled logits (points at distance 0); may be null
    float* dbias = nullptr;       ///< backward adds its gradient here, addressed alike
    bool add_to_keys = false;     ///< backward adds to dk and dv: another head of queries that reads these keys was there before
    RelativeRows relative{};
};

enum class Activation { gelu, gelu_tanh, relu, silu };

/// u [rows, inner], or [rows, 2 inner] where gated: activation(first half) * second half, or first half * activation(second half). `bias`
/// (as wide as u) may be null.
struct ActivationShape {
    Activation kind;
    bool gated, gate_second;
    std::size_t rows, inner;
};

/// Floats of scratch that one head of a sequence of `length` tokens needs (forward and backward).
std::size_t attention_scratch(std::size_t length, std::size_t head_dim, std::size_t relative_rows);

struct NormParameters {
    const float *gamma, *beta;  ///< beta may be null
    float epsilon;
    std::size_t width;
    bool rms;  ///< divide by the root mean square; no mean is taken off
};

struct Table {
    const char* instruction_set;

    /// out [L, head_dim] = dropout(softmax(scale q k^T)) v; lse[i] = log sum exp of row i.
    void (*attention_forward)(const AttentionHead& head, float* out, float* lse, float* scratch);
    /// dq, dk, dv (rows qkv_stride apart) from dout and out (rows out_stride apart).
    void (*attention_backward)(const AttentionHead& head, const float* out, const float* dout, const float* lse, float* dq, float* dk,
                               float* dv, float* scratch);

    /// y [rows, inner] = f(u + bias). y may be u where it is not gated.
    void (*activation)(const ActivationShape& shape, const float* u, const float* bias, float* y);
    /// From u (before bias) and dy [rows, inner]: y again, and du as wide as u; dbias (may be null) += column sums of du. du may be dy
    /// where it is not gated.
    void (*activation_backward)(const ActivationShape& shape, const float* u, const float* bias, const float* dy, float* y, float* du,
                                float* dbias);
    /// Turns elements i and i + half of a head's first 2 half by the angles of its row: out_i = x_i cos - x_{i+half} sin, out_{i+half} =
    /// x_{i+half} cos + x_i sin; `inverse` turns back. Rows are `stride` floats apart, heads `head_dim`; cosine and sine are [rows, half].
    void (*rotate)(float* x, std::size_t rows, std::size_t stride, std::size_t heads, std::size_t head_dim, std::size_t half,
                   const float* cosine, const float* sine, bool inverse);

    /// z = dropout(x + bias) + residual (written over x), y = norm(z); mean and rstd a row. `first_row` counts within the sequence.
    /// residual and bias may be null. Rows are of one sequence (one dropout key).
    void (*add_norm)(float* x, const float* bias, const float* residual, float* y, float* mean, float* rstd, std::size_t rows,
                     std::size_t first_row, std::uint64_t sequence_key, const Dropout& dropout, const NormParameters& norm);
    /// dz from dy, z and dsum (what else z has as gradient; may be null); dx = dropout mask applied to dz; dgamma, dbeta, dbias accumulate.
    /// dx may be dy, dz may be null when there is no residual.
    void (*add_norm_backward)(const float* z, const float* dy, const float* dsum, const float* mean, const float* rstd, float* dx,
                              float* dz, float* dgamma, float* dbeta, float* dbias, std::size_t rows, std::size_t first_row,
                              std::uint64_t sequence_key, const Dropout& dropout, const NormParameters& norm);
    /// y[i] = x[i] kept and scaled, or 0 (forward and backward of a plain dropout). y may be x.
    void (*dropout_rows)(const float* x, float* y, std::size_t rows, std::size_t width, std::size_t first_row, std::uint64_t sequence_key,
                         const Dropout& dropout);
};

/// The table of the best instruction set that this processor has (FACETER_CPU=avx512|avx2|generic overrides, for tests).
const Table& kernels();

extern const Table generic_table;
extern const Table avx2_table;
extern const Table avx512_table;

}  // namespace faceter::kernels
