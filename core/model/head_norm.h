#pragma once
#include <array>
#include <utility>

#include "model/ops.h"

namespace faceter {

/// Norms of each head's query and key (Qwen3, Gemma 3), before rotary positions.
struct HeadNorm {
    at::Tensor query_gamma, key_gamma;  ///< [w]
    std::int64_t heads = 1, key_heads = 1;
    NormForm form;
    /// The queries and keys of qkv [T, (heads + 2 key_heads) w] normed, values as they are, and the moments of each head, [2, T, heads +
    /// key_heads], in float32 on the CPU. No gradient.
    std::pair<at::Tensor, at::Tensor> normed(const at::Tensor& qkv) const;
    /// From the gradient of what normed() gave: those of qkv, query_gamma and key_gamma.
    std::array<at::Tensor, 3> backward(const at::Tensor& qkv, const at::Tensor& moments, const at::Tensor& gradient) const;
};

/// norm_heads() of ops.h.
inline at::Tensor norm_heads(const at::Tensor& qkv, const HeadNorm& norm) {
    return norm_heads(qkv, norm.query_gamma, norm.key_gamma, norm.heads, norm.key_heads, norm.form);
}
/// packed_attention() of norm_heads(qkv): what is kept for backward is qkv as it came, and the rest is made of it again.
at::Tensor normed_attention(const at::Tensor& qkv, const HeadNorm& norm, const LayoutPointer& layout, const AttentionForm& form,
                            const DropoutSite& dropout);

}  // namespace faceter
