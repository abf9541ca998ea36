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

/// The kernel has no backward pass for wide heads on GPUs with less shared memory than an A100 has. Whether one will come is not asked: a
/// pass that is taken again must go the same way.
bool flash_has_backward(std::int64_t width, double dropout) {
    const int capability = compute_capability();
    const bool little_memory = (capability > 80 && capability < 90) || capability >= 120;
    return !little_memory || width <= 192 || (width > 224 && dropout == 0);
}

bool flash_serves(const at::Tensor& qkv, std::int64_t width, const AttentionForm& form, double dropout) {
    const bool half = qkv.scalar_type() == at::kBFloat16 || qkv.scalar_type() == at::kHalf;
    const bool has_kernel = is_accelerator(qkv.device()) || qkv.is_meta();  // shapes stand for an accelerator's (shape_device.h)
    return has_kernel && half && !form.position_bias.defined() && !form.relative && width % 8 == 0 && width <= 256 &&
           flash_has_backward(width, dropout);
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

/// What keeps a bucket's queries from keys that are no token or out of reach: -inf there, 0 elsewhere. Broadcasts to [S, H, L, L].
at::Tensor bucket_mask(const at::Tensor& like, const LengthBucket& bucket, const Reach& reach) {
    const at::Tensor index = at::arange(bucket.longest, bucket.lengths.options()),
                     distance = index.unsqueeze(0) - index.unsqueeze(1);  // key - query
    at::Tensor absent = (index.unsqueeze(0) >= bucket.lengths.unsqueeze(1)).view({-1, 1, 1, bucket.longest});
    // A row beyond its text sees itself: a softmax over nothing has no value, and no gradient.
    if (reach.is_limited()) absent = (absent | (distance > reach.after) | (distance < -reach.before)) & (distance != 0);
    return at::zeros({1, 1, 1, bucket.longest}, like.options()).masked_fill(absent, -std::numeric_limits<double>::infinity());
}

/// What the table of distances adds to the logits of a bucket's sequences, q, k: [S, H, L, w] -> [S, H, L, L].
at::Tensor relative_bias(const at::Tensor& q, const at::Tensor& k, const LengthBucket& bucket, const AttentionForm& form) {
    const RelativeTerms& relative = *form.relative;
    const std::int64_t heads = q.size(1), longest = q.size(2), width = q.size(3);
    std::vector<std::int64_t> table_of;
    for (const std::int64_t s : bucket.sequences)
        if (!relative.table_of.empty()) table_of.push_back(relative.table_of[static_cast<std::size_t>(s)]);
    const auto part = [&](std::int64_t first) {  // [G, H, w, R], of every sequence its own
        const at::Tensor rows =
            relative.table.narrow(1, first, heads * width).reshape({-1, relative.num_rows, heads, width}).permute({0, 2, 3, 1});
        return table_of.empty() ? rows : rows.index_select(0, to_device(at::tensor(table_of), q.device()));
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

/// One bucket. `heads` [rows, H + 2 K, w]: queries, keys, values -> [rows, H, w]. `bias`: the position bias of its logits; may be
/// undefined.
at::Tensor padded_bucket(const at::Tensor& heads, const LengthBucket& bucket, const at::Tensor& bias, const AttentionForm& form,
                         double dropout) {
    const std::int64_t count = heads.size(1), width = heads.size(2);
    const std::vector<at::Tensor> filled = at::zeros({bucket.num_sequences * bucket.longest, count, width}, heads.options())
                                               .index_copy(0, bucket.places, heads)
                                               .view({-1, bucket.longest, count, width})
                                               .transpose(1, 2)
                                               .split_with_sizes({form.heads, form.key_heads, form.key_heads}, 1);  // [S, n, L, w]
    const auto shared = [&](const at::Tensor& x) {
        return form.heads == form.key_heads ? x : x.repeat_interleave(form.heads / form.key_heads, 1);
    };
    const at::Tensor &queries = filled[0], keys = shared(filled[1]);
    at::Tensor added = bias;
    if (!bias.defined() || form.reach.is_limited()) {
        const at::Tensor mask = bucket_mask(heads, bucket, form.reach);
        added = bias.defined() ? bias + mask : mask;
    }
    if (form.relative) added = added + relative_bias(queries, keys, bucket, form);
    const at::Tensor out = at::scaled_dot_product_attention(queries, keys, shared(filled[2]), added, dropout, false, form.scale);
    return out.transpose(1, 2).reshape({-1, form.heads, width}).index_select(0, bucket.places);
}

/// The position bias of each bucket, undefined where the form has none.
std::vector<at::Tensor> biases_of(const at::Tensor& like, const LengthBuckets& buckets, const AttentionForm& form, bool by_buckets) {
    if (!form.position_bias.defined()) return std::vector<at::Tensor>(buckets.all.size());
    const at::Tensor bias = form.position_bias.to(like.scalar_type());
    return split_by_buckets(by_buckets ? bias : bias_by_buckets(bias, buckets), buckets, form.heads);
}

/// heads: [T, H + 2 K, w] -> [T, H, w].
at::Tensor padded(const at::Tensor& heads, const PackedLayout& layout, const AttentionForm& form, double dropout, PassBuckets* pass) {
    PassBuckets own;
    const LengthBuckets& buckets = (pass ? pass : &own)->of(layout, heads.device());
    const std::vector<at::Tensor> biases = biases_of(heads, buckets, form, pass != nullptr);
    if (buckets.all.size() == 1) return padded_bucket(heads, buckets.all.front(), biases.front(), form, dropout);
    std::vector<std::int64_t> sizes;
    for (const LengthBucket& bucket : buckets.all) sizes.push_back(bucket.num_rows);
    const std::vector<at::Tensor> parts = heads.index_select(0, buckets.rows).split_with_sizes(sizes);
    std::vector<at::Tensor> outputs;
    for (std::size_t b = 0; b < sizes.size(); ++b) outputs.push_back(padded_bucket(parts[b], buckets.all[b], biases[b], form, dropout));
    return at::cat(outputs).index_select(0, buckets.back);
}

}  // namespace

RotaryTable rows_of(const RotaryTable& table, const PackedLayout& layout, const c10::Device& device) {
    if (table.cosine.size(0) == layout.num_tokens())  // taken already, or a single text, whose rows are the table's
        return {to_device(table.cosine, device), to_device(table.sine, device)};
    const at::Tensor& position = layout.on(device).position;
    return {to_device(table.cosine, device).index_select(0, position), to_device(table.sine, device).index_select(0, position)};
}

at::Tensor device_attention(const at::Tensor& qkv, const PackedLayout& layout, const AttentionForm& form, double dropout,
                            PassBuckets* pass) {
    const std::int64_t tokens = qkv.size(0), width = qkv.size(1) / (form.heads + 2 * form.key_heads), turned = form.heads + form.key_heads;
    const at::Tensor parts = qkv.view({tokens, -1, width});  // [T, H + 2 K, w]
    if (!form.rotary && !flash_serves(qkv, width, form, dropout))
        return padded(parts, layout, form, dropout, pass).reshape({tokens, form.heads * width});
    // Split, not narrowed: backward of each part alone would be as large as the whole, and then there are sums of these.
    if (!form.rotary) {
        const std::vector<at::Tensor> split = parts.split_with_sizes({form.heads, form.key_heads, form.key_heads}, 1);
        return flash(split[0], split[1], split[2], layout, form, dropout).reshape({tokens, form.heads * width});
    }
    const std::vector<at::Tensor> halves = parts.split_with_sizes({turned, form.key_heads}, 1);
    const RotaryTable rows = rows_of(*form.rotary, layout, qkv.device());
    const at::Tensor qk = Turn::apply(halves[0], rows.cosine.unsqueeze(1), rows.sine.unsqueeze(1));
    if (!flash_serves(qkv, width, form, dropout))
        return padded(at::cat({qk, halves[1]}, 1), layout, form, dropout, pass).reshape({tokens, form.heads * width});
    const std::vector<at::Tensor> both = qk.split_with_sizes({form.heads, form.key_heads}, 1);
    const at::Tensor out = flash(both[0], both[1], halves[1], layout, form, dropout);
    return out.reshape({tokens, form.heads * width});
}

}  // namespace faceter
