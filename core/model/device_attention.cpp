#include "model/device_attention.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include <limits>

#include "model/accelerator.h"
#include "model/device.h"

namespace faceter {
namespace {

/// x [T, H, w]: the first half of the rotated elements against the second, by the angles of each row [T, 1, half], in float32 whatever x
/// is.
at::Tensor turned(const at::Tensor& x, const at::Tensor& cosine, const at::Tensor& sine) {
    const std::int64_t half = cosine.size(2), rest = x.size(2) - 2 * half;
    const at::Tensor a = x.narrow(2, 0, half), b = x.narrow(2, half, half), out = at::empty(x.sizes(), x.options());
    out.narrow(2, 0, half).copy_(a * cosine - b * sine);
    out.narrow(2, half, half).copy_(b * cosine + a * sine);
    if (rest > 0) out.narrow(2, 2 * half, rest).copy_(x.narrow(2, 2 * half, rest));
    return out;
}

/// Keeps the angles alone; backward turns back.
struct Turn : torch::autograd::Function<Turn> {
    static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& x, const at::Tensor& cosine,
                              const at::Tensor& sine) {
        context->save_for_backward({cosine, sine});
        return turned(x, cosine, sine);
    }
    static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                   const torch::autograd::variable_list& gradients) {
        const auto angles = context->get_saved_variables();
        return {turned(gradients[0], angles[0], -angles[1]), {}, {}};
    }
};

bool flash_serves(const at::Tensor& qkv, std::int64_t width, const AttentionForm& form) {
    const bool half = qkv.scalar_type() == at::kBFloat16 || qkv.scalar_type() == at::kHalf;
    return is_accelerator(qkv.device()) && half && !form.position_bias.defined() && !form.relative && width % 8 == 0 && width <= 256;
}

/// q: [T, H, w], k, v: [T, K, w] -> [T, H, w].
at::Tensor flash(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const PackedLayout& layout, const AttentionForm& form,
                 double dropout) {
    const at::Tensor& offsets = layout.on(q.device()).offsets;
    const auto limit = [](std::int64_t tokens) { return tokens < Reach::everything ? std::optional<std::int64_t>(tokens) : std::nullopt; };
    const std::optional<at::Tensor> none;
    return std::get<0>(at::_flash_attention_forward(q, k, v, offsets, offsets, layout.max_length(), layout.max_length(), dropout,
                                                    /*is_causal=*/false,
                                                    /*return_debug_mask=*/false, form.scale, limit(form.reach.before),
                                                    limit(form.reach.after), none, none));
}

/// What is added to the logits: -inf where a key is no token or out of reach, the position bias elsewhere. Broadcasts to [S, H, L,
/// L].
at::Tensor padded_bias(const at::Tensor& like, const PackedLayout& layout, const AttentionForm& form) {
    const std::int64_t longest = layout.max_length();
    const at::Tensor index = at::arange(longest, like.options().dtype(at::kLong)),
                     distance = index.unsqueeze(0) - index.unsqueeze(1);  // key - query
    const at::Tensor lengths = layout.on(like.device()).offsets.diff();
    at::Tensor absent = (index.unsqueeze(0) >= lengths.unsqueeze(1)).view({-1, 1, 1, longest});
    // A row beyond its text sees itself: a softmax over nothing has no value, and no gradient.
    if (form.reach.is_limited()) absent = (absent | (distance > form.reach.after) | (distance < -form.reach.before)) & (distance != 0);
    const at::Tensor bias = form.position_bias.defined() ? form.position_bias.to(like.scalar_type())
                                                               .index_select(1, (distance + form.position_bias.size(1) / 2).flatten())
                                                               .view({1, -1, longest, longest})
                                                         : at::zeros({1, 1, 1, longest}, like.options());
    return bias.masked_fill(absent, -std::numeric_limits<double>::infinity());
}

/// What the table of distances adds to the logits of padded sequences, q, k: [S, H, L, w] -> [S, H, L, L].
at::Tensor relative_bias(const at::Tensor& q, const at::Tensor& k, const AttentionForm& form) {
    const RelativeTerms& relative = *form.relative;
    const std::int64_t heads = q.size(1), longest = q.size(2), width = q.size(3);
    const auto part = [&](std::int64_t first) {  // [G, H, w, R], of every sequence its own
        const at::Tensor rows =
            relative.table.narrow(1, first, heads * width).reshape({-1, relative.num_rows, heads, width}).permute({0, 2, 3, 1});
        return relative.table_of.empty() ? rows : rows.index_select(0, to_device(at::tensor(relative.table_of), q.device()));
    };
    const at::Tensor index = at::arange(longest, relative.row_there.options()),
                     distance = index.unsqueeze(1) - index.unsqueeze(0);  // query - key
    const at::Tensor row = relative.row_there.index_select(0, (distance + relative.row_there.size(0) / 2).flatten())
                               .view({1, 1, longest, longest})
                               .expand({q.size(0), heads, longest, longest});
    at::Tensor sum = at::zeros({1, 1, 1, longest}, q.options());
    if (relative.query_reads) sum = sum + at::matmul(q, part(heads * width)).gather(3, row);
    if (relative.key_reads) sum = sum + at::matmul(k, part(0)).gather(3, row.transpose(2, 3)).transpose(2, 3);
    return sum * form.scale;
}

/// q: [T, H, w], k, v: [T, K, w] -> [T, H, w].
at::Tensor padded(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const PackedLayout& layout, const AttentionForm& form,
                  double dropout) {
    const DeviceLayout& there = layout.on(q.device());
    const std::int64_t longest = layout.max_length(), heads = q.size(1), width = q.size(2);
    const at::Tensor places = there.sequence * longest + there.position;  // [T]
    const auto filled = [&](const at::Tensor& x) {                        // [T, n, w] -> [S, n, L, w]
        return at::zeros({layout.num_sequences() * longest, x.size(1), width}, x.options())
            .index_copy(0, places, x)
            .view({-1, longest, x.size(1), width})
            .transpose(1, 2);
    };
    const auto shared = [&](const at::Tensor& x) { return filled(x).repeat_interleave(form.heads / form.key_heads, 1); };
    const at::Tensor queries = filled(q), keys = shared(k);
    at::Tensor bias = padded_bias(q, layout, form);
    if (form.relative) bias = bias + relative_bias(queries, keys, form);
    const at::Tensor out = at::scaled_dot_product_attention(queries, keys, shared(v), bias, dropout, false, form.scale);
    return out.transpose(1, 2).reshape({-1, heads, width}).index_select(0, places);
}

}  // namespace

RotaryTable rows_of(const RotaryTable& table, const PackedLayout& layout, const c10::Device& device) {
    if (table.cosine.size(0) == layout.num_tokens())  // taken already, or a single text, whose rows are the table's
        return {to_device(table.cosine, device), to_device(table.sine, device)};
    const at::Tensor& position = layout.on(device).position;
    return {to_device(table.cosine, device).index_select(0, position), to_device(table.sine, device).index_select(0, position)};
}

at::Tensor device_attention(const at::Tensor& qkv, const PackedLayout& layout, const AttentionForm& form, double dropout) {
    const std::int64_t tokens = qkv.size(0), width = qkv.size(1) / (form.heads + 2 * form.key_heads), turned = form.heads + form.key_heads;
    const at::Tensor parts = qkv.view({tokens, -1, width});  // [T, H + 2 K, w]
    at::Tensor qk = parts.narrow(1, 0, turned);
    if (form.rotary) {
        const RotaryTable rows = rows_of(*form.rotary, layout, qkv.device());
        qk = Turn::apply(qk, rows.cosine.unsqueeze(1), rows.sine.unsqueeze(1));
    }
    const at::Tensor q = qk.narrow(1, 0, form.heads), k = qk.narrow(1, form.heads, form.key_heads),
                     v = parts.narrow(1, turned, form.key_heads);
    const at::Tensor out = flash_serves(qkv, width, form) ? flash(q, k, v, layout, form, dropout) : padded(q, k, v, layout, form, dropout);
    return out.reshape({tokens, form.heads * width});
}

}  // namespace faceter
