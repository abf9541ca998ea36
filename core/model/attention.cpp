#include <ATen/ATen.h>

#include <cmath>
#include <limits>

#include "model/device_attention.h"
#include "model/ops_common.h"

namespace faceter {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

struct AttentionShape {
    LayoutPointer layout;
    AttentionForm form;
    DropoutSite dropout;
    std::int64_t heads() const { return form.heads; }
    /// Heads of queries that read one head of keys.
    std::int64_t group() const { return form.heads / form.key_heads; }
    std::int64_t width(const at::Tensor& qkv) const { return qkv.size(1) / (form.heads + 2 * form.key_heads); }
};

/// Where a head's rows of a sequence begin in the packed q | k | v of the batch.
struct HeadPlace {
    std::int64_t q, k, v;
};
HeadPlace place_of(const AttentionShape& shape, const at::Tensor& qkv, std::int64_t sequence, std::int64_t head) {
    const std::int64_t row = shape.layout->offsets()[static_cast<std::size_t>(sequence)] * qkv.size(1), width = shape.width(qkv),
                       keys = row + (shape.heads() + head / shape.group()) * width;
    return {row + head * width, keys, keys + shape.form.key_heads * width};
}

/// One head of one sequence; `bias`: the rows of the position bias, or nothing.
kernels::AttentionHead head_of(const AttentionShape& shape, const at::Tensor& qkv, std::int64_t sequence, std::int64_t head,
                               kernels::Dropout dropout, const at::Tensor& bias) {
    const HeadPlace place = place_of(shape, qkv, sequence, head);
    const std::int64_t width = shape.width(qkv), length = shape.layout->length(sequence);
    dropout.site = dropout.site * 1024 + static_cast<std::uint32_t>(head);
    kernels::AttentionHead result{data(qkv) + place.q,
                                  data(qkv) + place.k,
                                  data(qkv) + place.v,
                                  static_cast<std::size_t>(qkv.size(1)),
                                  static_cast<std::size_t>(shape.heads() * width),
                                  static_cast<std::size_t>(length),
                                  static_cast<std::size_t>(width),
                                  static_cast<float>(shape.form.scale),
                                  dropout,
                                  shape.layout->keys()[static_cast<std::size_t>(sequence)],
                                  static_cast<std::size_t>(std::min(shape.form.reach.before, length)),
                                  static_cast<std::size_t>(std::min(shape.form.reach.after, length))};
    if (bias.numel() > 0) result.bias = data(bias) + head * bias.size(1) + bias.size(1) / 2;
    return result;
}

/// task(sequence, head) for all sequences and `heads` heads.
template <typename Task>
void over_heads(const AttentionShape& shape, std::int64_t heads, Task task) {
    const auto& order = shape.layout->longest_first();
    parallel_tasks(static_cast<std::int64_t>(order.size()) * heads,
                   [&](std::int64_t i) { task(order[static_cast<std::size_t>(i / heads)], i % heads); });
}

/// Turns the queries and keys of packed q | k | v in place.
void rotate_packed(const at::Tensor& qkv, const AttentionShape& shape, bool inverse) {
    if (!shape.form.rotary) return;
    const RotaryTable& table = *shape.form.rotary;
    const std::int64_t dim = qkv.size(1), half = table.cosine.size(1);
    constexpr std::int64_t rows_a_task = 64;
    const auto& offsets = shape.layout->offsets();
    std::vector<std::pair<std::int64_t, std::int64_t>> parts;  // sequence, first row within it
    for (std::int64_t s = 0; s < shape.layout->num_sequences(); ++s)
        for (std::int64_t row = 0; row < shape.layout->length(s); row += rows_a_task) parts.emplace_back(s, row);
    parallel_tasks(static_cast<std::int64_t>(parts.size()), [&](std::int64_t i) {
        const auto [s, row] = parts[static_cast<std::size_t>(i)];
        const auto rows = static_cast<std::size_t>(std::min(rows_a_task, shape.layout->length(s) - row));
        kernels::kernels().rotate(data(qkv) + (offsets[static_cast<std::size_t>(s)] + row) * dim, rows, static_cast<std::size_t>(dim),
                                  static_cast<std::size_t>(shape.heads() + shape.form.key_heads),
                                  static_cast<std::size_t>(shape.width(qkv)), static_cast<std::size_t>(half),
                                  data(table.cosine) + row * half, data(table.sine) + row * half, inverse);
    });
}

/// The gradient of the position bias: each head of each sequence adds up its own distances, then they are summed in a fixed order.
class BiasGradient {
  public:
    BiasGradient(const AttentionShape& shape, const at::Tensor& bias) : shape_(shape), wanted_(bias.numel() > 0) {
        if (!wanted_) return;
        std::int64_t total = 0;
        for (std::int64_t s = 0; s < shape.layout->num_sequences(); ++s) {
            starts_.push_back(total);
            total += shape.heads() * (2 * shape.layout->length(s) - 1);
        }
        parts_.assign(static_cast<std::size_t>(total), 0.0f);
    }
    /// Where distance 0 of this head is, or null.
    float* of(std::int64_t sequence, std::int64_t head) {
        const std::int64_t length = shape_.layout->length(sequence);
        return wanted_ ? parts_.data() + starts_[sequence] + head * (2 * length - 1) + length - 1 : nullptr;
    }
    at::Tensor sum(const at::Tensor& bias) {
        if (!wanted_) return {};
        const at::Tensor total = at::zeros(bias.sizes(), at::kDouble);
        for (std::int64_t s = 0; s < shape_.layout->num_sequences(); ++s)
            for (std::int64_t h = 0; h < shape_.heads(); ++h) {
                const std::int64_t reach = shape_.layout->length(s) - 1;
                double* to = total.data_ptr<double>() + h * bias.size(1) + bias.size(1) / 2;
                const float* from = of(s, h);
                for (std::int64_t distance = -reach; distance <= reach; ++distance) to[distance] += from[distance];
            }
        return total.to(at::kFloat);
    }

  private:
    const AttentionShape& shape_;
    bool wanted_;
    std::vector<std::int64_t> starts_;
    std::vector<float> parts_;
};

struct PackedAttention : Function<PackedAttention> {
    static at::Tensor forward(AutogradContext* context, const at::Tensor& packed, const at::Tensor& bias, const AttentionShape& shape) {
        const at::Tensor qkv = packed.detach().contiguous();
        const std::int64_t tokens = qkv.size(0), width = shape.width(qkv), dim = shape.heads() * width;
        const at::Tensor out = at::empty({tokens, dim}, qkv.options());
        const at::Tensor lse = at::empty({shape.heads(), tokens}, qkv.options());
        const auto scratch =
            kernels::attention_scratch(static_cast<std::size_t>(shape.layout->max_length()), static_cast<std::size_t>(width));
        const auto dropout = shape.dropout.kernel();
        rotate_packed(qkv, shape, false);
        over_heads(shape, shape.heads(), [&](std::int64_t s, std::int64_t h) {
            const std::int64_t row = shape.layout->offsets()[static_cast<std::size_t>(s)];
            kernels::kernels().attention_forward(head_of(shape, qkv, s, h, dropout, bias), data(out) + row * dim + h * width,
                                                 data(lse) + h * tokens + row, thread_scratch(scratch));
        });
        context->save_for_backward({qkv, out, lse, bias});
        context->saved_data["shape"] = Carried<AttentionShape>::wrap(shape);
        return out;
    }

    /// The heads that read the same keys follow each other in one task, which adds up the gradients of those keys.
    static variable_list backward(AutogradContext* context, const variable_list& gradients) {
        const auto saved = context->get_saved_variables();
        const auto& shape = Carried<AttentionShape>::from(context->saved_data["shape"]);
        const at::Tensor &qkv = saved[0], &out = saved[1], &lse = saved[2], &bias = saved[3], dout = gradients[0].contiguous();
        const std::int64_t tokens = qkv.size(0), width = shape.width(qkv), dim = shape.heads() * width, group = shape.group();
        const at::Tensor dqkv = at::empty_like(qkv);
        const auto scratch =
            kernels::attention_scratch(static_cast<std::size_t>(shape.layout->max_length()), static_cast<std::size_t>(width));
        const auto dropout = shape.dropout.kernel();
        BiasGradient dbias(shape, bias);
        over_heads(shape, shape.form.key_heads, [&](std::int64_t s, std::int64_t key_head) {
            const std::int64_t row = shape.layout->offsets()[static_cast<std::size_t>(s)];
            for (std::int64_t h = key_head * group; h < (key_head + 1) * group; ++h) {
                const HeadPlace place = place_of(shape, dqkv, s, h);
                auto head = head_of(shape, qkv, s, h, dropout, bias);
                head.dbias = dbias.of(s, h);
                head.add_to_keys = h > key_head * group;
                kernels::kernels().attention_backward(head, data(out) + row * dim + h * width, data(dout) + row * dim + h * width,
                                                      data(lse) + h * tokens + row, data(dqkv) + place.q, data(dqkv) + place.k,
                                                      data(dqkv) + place.v, thread_scratch(scratch));
            }
        });
        rotate_packed(dqkv, shape, true);
        return {dqkv, dbias.sum(bias), {}};
    }
};

/// The dropout mask of one sequence's probabilities, [heads, L, L], from the same random words as the kernels draw.
at::Tensor probability_mask(const AttentionShape& shape, std::int64_t s, const at::Tensor& like) {
    const std::int64_t length = shape.layout->length(s), heads = shape.heads();
    const at::Tensor ones = at::ones({length, length}, at::kFloat), mask = at::empty({heads, length, length}, at::kFloat);
    for (std::int64_t h = 0; h < heads; ++h) {
        auto dropout = shape.dropout.kernel();
        dropout.site = dropout.site * 1024 + static_cast<std::uint32_t>(h);
        kernels::kernels().dropout_rows(data(ones), data(mask) + h * length * length, static_cast<std::size_t>(length),
                                        static_cast<std::size_t>(length), 0, shape.layout->keys()[static_cast<std::size_t>(s)], dropout);
    }
    return mask.to(like.options());
}

/// x [heads, L, width] turned by its positions.
at::Tensor rotated(const at::Tensor& x, const RotaryTable& table) {
    const std::int64_t half = table.cosine.size(1), length = x.size(1);
    const at::Tensor c = table.cosine.narrow(0, 0, length).to(x.options()), s = table.sine.narrow(0, 0, length).to(x.options());
    const at::Tensor a = x.narrow(2, 0, half), b = x.narrow(2, half, half);
    return at::cat({a * c - b * s, b * c + a * s, x.narrow(2, 2 * half, x.size(2) - 2 * half)}, 2);
}

/// One sequence at a time, the equation as it stands.
at::Tensor plain_attention(const at::Tensor& qkv, const AttentionShape& shape) {
    const AttentionForm& form = shape.form;
    const std::int64_t width = shape.width(qkv), dim = form.heads * width, key_dim = form.key_heads * width;
    std::vector<at::Tensor> outputs;
    for (std::int64_t s = 0; s < shape.layout->num_sequences(); ++s) {
        const std::int64_t length = shape.layout->length(s);
        const at::Tensor rows = qkv.narrow(0, shape.layout->offsets()[static_cast<std::size_t>(s)], length);
        const auto by_head = [&](std::int64_t first, std::int64_t columns) {
            return rows.narrow(1, first, columns).reshape({length, -1, width}).transpose(0, 1);  // [heads, L, width]
        };
        at::Tensor q = by_head(0, dim), k = by_head(dim, key_dim), v = by_head(dim + key_dim, key_dim);
        if (form.rotary) q = rotated(q, *form.rotary), k = rotated(k, *form.rotary);
        k = k.repeat_interleave(shape.group(), 0), v = v.repeat_interleave(shape.group(), 0);
        at::Tensor logits = at::matmul(q, k.transpose(1, 2)) * form.scale;  // [heads, L, L]
        const at::Tensor index = at::arange(length, qkv.options().dtype(at::kLong));
        const at::Tensor distance = index.unsqueeze(0) - index.unsqueeze(1);  // key - query
        if (form.position_bias.defined())
            logits = logits + form.position_bias.index_select(1, (distance + form.position_bias.size(1) / 2).flatten())
                                  .view({form.heads, length, length});
        if (form.reach.is_limited())
            logits = logits.masked_fill((distance > form.reach.after) | (distance < -form.reach.before),
                                        -std::numeric_limits<double>::infinity());
        at::Tensor p = logits.softmax(-1);
        if (shape.dropout.p > 0) p = p * probability_mask(shape, s, p);
        outputs.push_back(at::matmul(p, v).transpose(0, 1).reshape({length, dim}));
    }
    return at::cat(outputs);
}

}  // namespace

RotaryTable rotary_table(std::int64_t length, std::int64_t rotary_dim, const Rotary& rotary) {
    const std::int64_t half = rotary_dim / 2;
    RotaryTable table{at::empty({length, half}, at::kFloat), at::empty({length, half}, at::kFloat)};
    for (std::int64_t i = 0; i < half; ++i) {
        // Frequencies and angles in float32, as the released code has them.
        const float frequency = 1.0f /
                                std::pow(static_cast<float>(rotary.base), static_cast<float>(2 * i) / static_cast<float>(rotary_dim)) /
                                static_cast<float>(rotary.stretch);
        for (std::int64_t p = 0; p < length; ++p) {
            const float angle = static_cast<float>(p) * frequency;
            data(table.cosine)[p * half + i] = std::cos(angle);
            data(table.sine)[p * half + i] = std::sin(angle);
        }
    }
    return table;
}

at::Tensor packed_attention(const at::Tensor& qkv, const LayoutPointer& layout, const AttentionForm& form, const DropoutSite& dropout) {
    AttentionShape shape{layout, form, dropout};
    switch (ops_form(qkv)) {
        case OpsForm::kernels:
            break;
        case OpsForm::device:
            return device_attention(qkv, *layout, form, dropout.p);
        case OpsForm::plain:
            return plain_attention(qkv, shape);
    }
    const at::Tensor bias = form.position_bias.defined() ? form.position_bias.contiguous() : at::empty({0}, qkv.options());
    shape.form.position_bias = at::Tensor();  // travels as an input, for its gradient
    return PackedAttention::apply(qkv, bias, shape);
}

}  // namespace faceter
