#include "model/device_attention.h"

#include <ATen/ATen.h>

#include <limits>

#include "model/device.h"

namespace faceter {
namespace {

/// x [T, n, H, w] turned by the positions of its rows: the first half of the rotated elements against the second.
at::Tensor rotated(const at::Tensor& x, const RotaryTable& table, const at::Tensor& position) {
    const std::int64_t half = table.cosine.size(1);
    const auto rows = [&](const at::Tensor& t) {
        return to_device(t, x.device()).to(x.scalar_type()).index_select(0, position).view({-1, 1, 1, half});
    };
    const at::Tensor c = rows(table.cosine), s = rows(table.sine), a = x.narrow(3, 0, half), b = x.narrow(3, half, half);
    return at::cat({a * c - b * s, b * c + a * s, x.narrow(3, 2 * half, x.size(3) - 2 * half)}, 3);
}

bool flash_serves(const at::Tensor& qkv, std::int64_t width, const AttentionForm& form) {
    const bool half = qkv.scalar_type() == at::kBFloat16 || qkv.scalar_type() == at::kHalf;
    return qkv.is_cuda() && half && !form.position_bias.defined() && width % 8 == 0 && width <= 256;
}

/// q, k, v: [T, H, w] -> [T, H, w].
at::Tensor flash(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const PackedLayout& layout, const AttentionForm& form,
                 double dropout) {
    const at::Tensor& offsets = layout.on(q.device()).offsets;
    const auto window = form.window > 0 ? std::optional<std::int64_t>(form.window) : std::nullopt;
    const std::optional<at::Tensor> none;
    return std::get<0>(at::_flash_attention_forward(q, k, v, offsets, offsets, layout.max_length(), layout.max_length(), dropout,
                                                    /*is_causal=*/false,
                                                    /*return_debug_mask=*/false, form.scale, window, window, none, none));
}

/// What is added to the logits: -inf where a key is no token or outside of the window, the position bias elsewhere. Broadcasts to [S, H, L,
/// L].
at::Tensor padded_bias(const at::Tensor& like, const PackedLayout& layout, const AttentionForm& form) {
    const std::int64_t longest = layout.max_length();
    const at::Tensor index = at::arange(longest, like.options().dtype(at::kLong)),
                     distance = index.unsqueeze(0) - index.unsqueeze(1);  // key - query
    const at::Tensor lengths = layout.on(like.device()).offsets.diff();
    at::Tensor absent = (index.unsqueeze(0) >= lengths.unsqueeze(1)).view({-1, 1, 1, longest});
    // A row beyond its text sees itself: a softmax over nothing has no value, and no gradient.
    if (form.window > 0) absent = (absent | (distance.abs() > form.window)) & (distance != 0);
    const at::Tensor bias = form.position_bias.defined() ? form.position_bias.to(like.scalar_type())
                                                               .index_select(1, (distance + form.position_bias.size(1) / 2).flatten())
                                                               .view({1, -1, longest, longest})
                                                         : at::zeros({1, 1, 1, longest}, like.options());
    return bias.masked_fill(absent, -std::numeric_limits<double>::infinity());
}

/// parts: [T, 3, H, w] -> [T, H, w].
at::Tensor padded(const at::Tensor& parts, const PackedLayout& layout, const AttentionForm& form, double dropout) {
    const DeviceLayout& there = layout.on(parts.device());
    const std::int64_t longest = layout.max_length(), heads = parts.size(2), width = parts.size(3);
    const at::Tensor places = there.sequence * longest + there.position;  // [T]
    const at::Tensor filled = at::zeros({layout.num_sequences() * longest, 3, heads, width}, parts.options()).index_copy(0, places, parts);
    const auto qkv = filled.view({-1, longest, 3, heads, width}).permute({2, 0, 3, 1, 4}).unbind(0);  // [S, H, L, w] each
    const at::Tensor out =
        at::scaled_dot_product_attention(qkv[0], qkv[1], qkv[2], padded_bias(parts, layout, form), dropout, false, form.scale);
    return out.transpose(1, 2).reshape({-1, heads, width}).index_select(0, places);
}

}  // namespace

at::Tensor device_attention(const at::Tensor& qkv, const PackedLayout& layout, const AttentionForm& form, double dropout) {
    const std::int64_t tokens = qkv.size(0), dim = qkv.size(1) / 3, width = dim / form.heads;
    at::Tensor parts = qkv.view({tokens, 3, form.heads, width});
    if (form.rotary)
        parts = at::cat({rotated(parts.narrow(1, 0, 2), *form.rotary, layout.on(qkv.device()).position), parts.narrow(1, 2, 1)}, 1);
    const at::Tensor out = flash_serves(qkv, width, form)
                               ? flash(parts.select(1, 0), parts.select(1, 1), parts.select(1, 2), layout, form, dropout)
                               : padded(parts, layout, form, dropout);
    return out.reshape({tokens, dim});
}

}  // namespace faceter
