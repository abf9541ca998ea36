#include <ATen/ATen.h>

#include "model/ops_common.h"

namespace faceter {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

struct AttentionShape {
    LayoutPointer layout;
    std::int64_t heads;
    double scale;
    DropoutSite dropout;
};

/// One head of one sequence; `rows` is where the packed q | k | v of the batch starts.
kernels::AttentionHead head_of(const AttentionShape& shape, const float* qkv, std::int64_t dim, std::int64_t sequence, std::int64_t head,
                               kernels::Dropout dropout) {
    const std::int64_t width = dim / shape.heads;
    const float* q = qkv + shape.layout->offsets()[sequence] * 3 * dim + head * width;
    dropout.site = dropout.site * 1024 + static_cast<std::uint32_t>(head);
    return {q,
            q + dim,
            q + 2 * dim,
            static_cast<std::size_t>(3 * dim),
            static_cast<std::size_t>(dim),
            static_cast<std::size_t>(shape.layout->length(sequence)),
            static_cast<std::size_t>(width),
            static_cast<float>(shape.scale),
            dropout,
            shape.layout->keys()[sequence]};
}

template <typename Task>
void over_heads(const AttentionShape& shape, Task task) {
    const auto& order = shape.layout->longest_first();
    parallel_tasks(static_cast<std::int64_t>(order.size()) * shape.heads,
                   [&](std::int64_t i) { task(order[static_cast<std::size_t>(i / shape.heads)], i % shape.heads); });
}

struct PackedAttention : Function<PackedAttention> {
    static at::Tensor forward(AutogradContext* context, const at::Tensor& packed, const AttentionShape& shape) {
        const at::Tensor qkv = packed.contiguous();
        const std::int64_t dim = qkv.size(1) / 3, tokens = qkv.size(0);
        const at::Tensor out = at::empty({tokens, dim}, qkv.options());
        const at::Tensor lse = at::empty({shape.heads, tokens}, qkv.options());
        const auto scratch = kernels::attention_scratch(static_cast<std::size_t>(shape.layout->max_length()), static_cast<std::size_t>(dim / shape.heads));
        const auto dropout = shape.dropout.kernel();
        over_heads(shape, [&](std::int64_t s, std::int64_t h) {
            const std::int64_t row = shape.layout->offsets()[static_cast<std::size_t>(s)];
            kernels::kernels().attention_forward(head_of(shape, data(qkv), dim, s, h, dropout), data(out) + row * dim + h * (dim / shape.heads),
                                                 data(lse) + h * tokens + row, thread_scratch(scratch));
        });
        context->save_for_backward({qkv, out, lse});
        context->saved_data["shape"] = Carried<AttentionShape>::wrap(shape);
        return out;
    }

    static variable_list backward(AutogradContext* context, const variable_list& gradients) {
        const auto saved = context->get_saved_variables();
        const auto& shape = Carried<AttentionShape>::from(context->saved_data["shape"]);
        const at::Tensor &qkv = saved[0], &out = saved[1], &lse = saved[2], dout = gradients[0].contiguous();
        const std::int64_t dim = qkv.size(1) / 3, tokens = qkv.size(0), width = dim / shape.heads;
        const at::Tensor dqkv = at::empty_like(qkv);
        const auto scratch = kernels::attention_scratch(static_cast<std::size_t>(shape.layout->max_length()), static_cast<std::size_t>(width));
        const auto dropout = shape.dropout.kernel();
        over_heads(shape, [&](std::int64_t s, std::int64_t h) {
            const std::int64_t row = shape.layout->offsets()[static_cast<std::size_t>(s)];
            float* dq = data(dqkv) + row * 3 * dim + h * width;
            kernels::kernels().attention_backward(head_of(shape, data(qkv), dim, s, h, dropout), data(out) + row * dim + h * width,
                                                  data(dout) + row * dim + h * width, data(lse) + h * tokens + row, dq, dq + dim, dq + 2 * dim,
                                                  thread_scratch(scratch));
        });
        return {dqkv, {}};
    }
};

/// The dropout mask of one sequence's probabilities, [heads, L, L], from the same random words as the kernels draw.
at::Tensor probability_mask(const AttentionShape& shape, std::int64_t s, const at::Tensor& like) {
    const std::int64_t length = shape.layout->length(s);
    const at::Tensor ones = at::ones({length, length}, at::kFloat), mask = at::empty({shape.heads, length, length}, at::kFloat);
    for (std::int64_t h = 0; h < shape.heads; ++h) {
        auto dropout = shape.dropout.kernel();
        dropout.site = dropout.site * 1024 + static_cast<std::uint32_t>(h);
        kernels::kernels().dropout_rows(data(ones), data(mask) + h * length * length, static_cast<std::size_t>(length), static_cast<std::size_t>(length), 0,
                                        shape.layout->keys()[static_cast<std::size_t>(s)], dropout);
    }
    return mask.to(like.options());
}

/// One sequence at a time, the equation as it stands.
at::Tensor composed_attention(const at::Tensor& qkv, const AttentionShape& shape) {
    const std::int64_t dim = qkv.size(1) / 3, width = dim / shape.heads;
    std::vector<at::Tensor> outputs;
    for (std::int64_t s = 0; s < shape.layout->num_sequences(); ++s) {
        const std::int64_t length = shape.layout->length(s);
        const at::Tensor rows = qkv.narrow(0, shape.layout->offsets()[static_cast<std::size_t>(s)], length);
        const auto parts = rows.reshape({length, 3, shape.heads, width}).permute({1, 2, 0, 3}).unbind(0);  // q, k, v: [heads, L, width]
        at::Tensor p = (at::matmul(parts[0], parts[1].transpose(1, 2)) * shape.scale).softmax(-1);           // [heads, L, L]
        if (shape.dropout.p > 0) p = p * probability_mask(shape, s, p);
        outputs.push_back(at::matmul(p, parts[2]).transpose(0, 1).reshape({length, dim}));
    }
    return at::cat(outputs);
}

}  // namespace

at::Tensor packed_attention(const at::Tensor& qkv, const LayoutPointer& layout, std::int64_t heads, double scale, const DropoutSite& dropout) {
    const AttentionShape shape{layout, heads, scale, dropout};
    return fast_path(qkv) ? PackedAttention::apply(qkv, shape) : composed_attention(qkv, shape);
}

}  // namespace faceter
