#include <ATen/ATen.h>

#include "model/head_norm.h"
#include "model/ops_common.h"

namespace faceter {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

struct NormShape {
    LayoutPointer layout;
    bool by_expert, has_residual, has_bias, has_beta;
    NormForm form;
    DropoutSite dropout;
};

kernels::NormParameters parameters_of(const at::TensorList& weights, int segment, const NormShape& shape) {
    const at::Tensor& gamma = weights[3 * segment + 1];
    return {data(gamma), shape.has_beta ? data(weights[3 * segment + 2]) : nullptr, static_cast<float>(shape.form.epsilon),
            static_cast<std::size_t>(gamma.size(0)), shape.form.kind == Norm::rms};
}

/// weights: bias, gamma, beta of each segment; what is absent is an empty tensor. Outputs: norm(z), and z where it is kept.
struct AddNorm : Function<AddNorm> {
    static variable_list forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& residual, const NormShape& shape,
                                 at::TensorList weights) {
        const at::Tensor z = x.variable_data(), base = residual.contiguous(), y = at::empty_like(z);
        const at::Tensor moments = at::empty({2, z.size(0)}, z.options());
        const auto& groups = shape.layout->groups(shape.by_expert);
        const auto dropout = shape.dropout.kernel();
        const std::int64_t width = z.size(1), tokens = z.size(0);
        parallel_tasks(static_cast<std::int64_t>(groups.size()), [&](std::int64_t g) {
            const auto norm = parameters_of(weights, groups[g].segment, shape);
            const float* bias = shape.has_bias ? data(weights[3 * groups[g].segment]) : nullptr;
            for (const RowBlock& b : groups[g].blocks)
                kernels::kernels().add_norm(data(z) + b.begin * width, bias, shape.has_residual ? data(base) + b.begin * width : nullptr,
                                            data(y) + b.begin * width, data(moments) + b.begin, data(moments) + tokens + b.begin, b.rows,
                                            b.first_row, b.sequence_key, dropout, norm);
        });
        variable_list saved{z.variable_data(), moments};
        saved.insert(saved.end(), weights.begin(), weights.end());
        context->save_for_backward(std::move(saved));
        context->saved_data["shape"] = Carried<NormShape>::wrap(shape);
        if (!shape.form.keep_sum) return {y};
        return {y, z};
    }

    static variable_list backward(AutogradContext* context, const variable_list& gradients) {
        const auto saved = context->get_saved_variables();
        const at::TensorList weights(saved.data() + 2, saved.size() - 2);
        const auto& shape = Carried<NormShape>::from(context->saved_data["shape"]);
        const at::Tensor &z = saved[0], &moments = saved[1];
        const at::Tensor dy = gradients[0].defined() ? gradients[0].contiguous() : at::zeros_like(z);
        const at::Tensor dsum = gradients.size() > 1 && gradients[1].defined() ? gradients[1].contiguous() : at::Tensor();
        const auto& groups = shape.layout->groups(shape.by_expert);
        const std::int64_t width = z.size(1), tokens = z.size(0);
        const at::Tensor dx = at::empty_like(z), dz = shape.has_residual ? at::empty_like(z) : at::Tensor();
        const at::Tensor sums =
            at::zeros({static_cast<std::int64_t>(groups.size()), 3, width}, z.options());  // dbias, dgamma, dbeta of each group
        const auto dropout = shape.dropout.kernel();
        parallel_tasks(static_cast<std::int64_t>(groups.size()), [&](std::int64_t g) {
            const auto norm = parameters_of(weights, groups[g].segment, shape);
            float* sum = data(sums) + g * 3 * width;
            for (const RowBlock& b : groups[g].blocks) {
                const std::int64_t at = b.begin * width;
                kernels::kernels().add_norm_backward(data(z) + at, data(dy) + at, dsum.defined() ? data(dsum) + at : nullptr,
                                                     data(moments) + b.begin, data(moments) + tokens + b.begin, data(dx) + at,
                                                     shape.has_residual ? data(dz) + at : nullptr, sum + width, sum + 2 * width,
                                                     shape.has_bias ? sum : nullptr, b.rows, b.first_row, b.sequence_key, dropout, norm);
            }
        });
        return with_weights({dx, dz, {}}, weights.size(), groups, sums, shape);
    }

  private:
    /// The gradients of the weights: the groups of a segment are neighbours.
    static variable_list with_weights(variable_list result, std::size_t num_weights, const std::vector<PackedLayout::Group>& groups,
                                      const at::Tensor& sums, const NormShape& shape) {
        result.resize(3 + num_weights);
        const bool present[] = {shape.has_bias, true, shape.has_beta};
        std::size_t first = 0;
        for (std::size_t s = 0; s < num_weights / 3; ++s) {
            std::size_t last = first;
            while (last < groups.size() && groups[last].segment == static_cast<int>(s)) ++last;
            const at::Tensor total = sums.narrow(0, static_cast<std::int64_t>(first), static_cast<std::int64_t>(last - first)).sum(0);
            for (std::size_t part = 0; part < 3; ++part)
                if (present[part]) result[3 + 3 * s + part] = total.select(0, static_cast<std::int64_t>(part));
            first = last;
        }
        return result;
    }
};

at::Tensor plain_norm(const at::Tensor& z, const NormWeights& weights, const NormForm& form) {
    const auto beta = weights.beta.defined() ? std::optional<at::Tensor>(weights.beta) : std::nullopt;
    if (form.kind == Norm::layer) return at::layer_norm(z, {z.size(1)}, weights.gamma, beta, form.epsilon);
    const at::Tensor exact = z.scalar_type() == at::kDouble ? z : z.to(at::kFloat);
    const at::Tensor scaled = (exact * (exact.pow(2).mean(-1, true) + form.epsilon).rsqrt()).to(z.scalar_type()) * weights.gamma;
    return beta ? scaled + *beta : scaled;
}

/// In ATen operations, on the CPU and on accelerators.
ResidualNorm plain_add_norm(const at::Tensor& x, const at::Tensor& residual, const std::vector<NormWeights>& weights,
                            const NormShape& shape) {
    const auto& segments = shape.by_expert ? shape.layout->segments() : shape.layout->whole();
    const auto by_segment = [&](const at::Tensor& rows, const auto& each) {
        std::vector<at::Tensor> parts = rows_by_segment(rows, segments);
        for (std::size_t s = 0; s < segments.size(); ++s) parts[s] = each(parts[s], weights[s]);
        return parts.size() == 1 ? parts[0] : at::cat(parts);
    };
    at::Tensor z = x;
    if (shape.has_bias)
        z = by_segment(z, [](const at::Tensor& rows, const NormWeights& w) { return w.bias.defined() ? rows + w.bias : rows; });
    z = packed_dropout(z, shape.layout, shape.dropout);
    if (residual.defined()) z = z + residual;
    return {shape.form.keep_sum ? z : at::Tensor(),
            by_segment(z, [&](const at::Tensor& rows, const NormWeights& w) { return plain_norm(rows, w, shape.form); })};
}

constexpr std::int64_t head_rows = 64;  // tokens a task

std::int64_t normed_heads(const HeadNorm& norm) { return norm.heads + norm.key_heads; }
std::int64_t head_width(const HeadNorm& norm, const at::Tensor& qkv) { return qkv.size(1) / (norm.heads + 2 * norm.key_heads); }

kernels::NormParameters head_parameters(const HeadNorm& norm, const at::Tensor& gamma) {
    return {data(gamma), nullptr, static_cast<float>(norm.form.epsilon), static_cast<std::size_t>(gamma.size(0)),
            norm.form.kind == Norm::rms};
}

/// task(number, first token, end) for all tokens, head_rows at a time.
template <typename Task>
void over_tokens(std::int64_t tokens, const Task& task) {
    parallel_tasks((tokens + head_rows - 1) / head_rows,
                   [&](std::int64_t i) { task(i, i * head_rows, std::min(tokens, (i + 1) * head_rows)); });
}

}  // namespace

std::pair<at::Tensor, at::Tensor> HeadNorm::normed(const at::Tensor& qkv) const {
    const std::int64_t tokens = qkv.size(0), dim = qkv.size(1), width = head_width(*this, qkv), n = normed_heads(*this);
    const at::Tensor out = at::empty_like(qkv, qkv.options().requires_grad(false)), moments = at::empty({2, tokens, n}, out.options());
    const auto of_query = head_parameters(*this, query_gamma), of_key = head_parameters(*this, key_gamma);
    over_tokens(tokens, [&](std::int64_t, std::int64_t first_token, std::int64_t end) {
        for (std::int64_t t = first_token; t < end; ++t) {
            const auto norm = [&](std::int64_t first, std::int64_t rows, const kernels::NormParameters& by) {
                float* mean = data(moments) + t * n + first;
                kernels::kernels().add_norm(data(qkv) + t * dim + first * width, nullptr, nullptr, data(out) + t * dim + first * width,
                                            mean, mean + tokens * n, static_cast<std::size_t>(rows), 0, 0, {}, by);
            };
            norm(0, heads, of_query);
            norm(heads, key_heads, of_key);
            std::copy_n(data(qkv) + t * dim + n * width, dim - n * width, data(out) + t * dim + n * width);
        }
    });
    return {out, moments};
}

std::array<at::Tensor, 3> HeadNorm::backward(const at::Tensor& qkv, const at::Tensor& moments, const at::Tensor& gradient) const {
    const std::int64_t tokens = qkv.size(0), dim = qkv.size(1), width = head_width(*this, qkv), n = normed_heads(*this);
    const at::Tensor dqkv = at::empty_like(qkv);
    const at::Tensor sums = at::zeros({(tokens + head_rows - 1) / head_rows, 3, width},
                                      qkv.options());  // of each task: dgamma of queries, of keys, what beta would have
    const auto of_query = head_parameters(*this, query_gamma), of_key = head_parameters(*this, key_gamma);
    over_tokens(tokens, [&](std::int64_t task, std::int64_t first_token, std::int64_t end) {
        float* sum = data(sums) + task * 3 * width;
        for (std::int64_t t = first_token; t < end; ++t) {
            const auto back = [&](std::int64_t first, std::int64_t rows, const kernels::NormParameters& by, float* dgamma) {
                const float* mean = data(moments) + t * n + first;
                const std::int64_t at = t * dim + first * width;
                kernels::kernels().add_norm_backward(data(qkv) + at, data(gradient) + at, nullptr, mean, mean + tokens * n, data(dqkv) + at,
                                                     nullptr, dgamma, sum + 2 * width, nullptr, static_cast<std::size_t>(rows), 0, 0, {},
                                                     by);
            };
            back(0, heads, of_query, sum);
            back(heads, key_heads, of_key, sum + width);
            std::copy_n(data(gradient) + t * dim + n * width, dim - n * width, data(dqkv) + t * dim + n * width);
        }
    });
    const at::Tensor total = sums.sum(0);
    return {dqkv, total.select(0, 0), total.select(0, 1)};
}

at::Tensor norm_heads(const at::Tensor& qkv, const at::Tensor& query_gamma, const at::Tensor& key_gamma, std::int64_t heads,
                      std::int64_t key_heads, const NormForm& form) {
    const std::int64_t width = qkv.size(1) / (heads + 2 * key_heads);
    const auto normed = [&](const at::Tensor& part, const at::Tensor& gamma) {
        return plain_norm(part.reshape({-1, width}), {{}, gamma, {}}, form).view(part.sizes());
    };
    const std::vector<at::Tensor> parts = qkv.split_with_sizes({heads * width, key_heads * width, key_heads * width}, 1);
    return at::cat({normed(parts[0], query_gamma), normed(parts[1], key_gamma), parts[2]}, 1);
}

ResidualNorm add_norm(const at::Tensor& x, const at::Tensor& residual, const std::vector<NormWeights>& weights, bool by_expert,
                      const NormForm& form, const LayoutPointer& layout, const DropoutSite& dropout) {
    const NormShape shape{layout, by_expert, residual.defined(), weights[0].bias.defined(), weights[0].beta.defined(), form, dropout};
    if (!fast_path(x)) return plain_add_norm(x, residual, weights, shape);
    const at::Tensor nothing = at::empty({0}, x.options());
    const auto or_nothing = [&](const at::Tensor& t) { return t.defined() ? t : nothing; };
    std::vector<at::Tensor> flat;
    for (const NormWeights& w : weights) flat.insert(flat.end(), {or_nothing(w.bias), w.gamma, or_nothing(w.beta)});
    const variable_list outputs = AddNorm::apply(x.contiguous(), or_nothing(residual), shape, at::TensorList(flat));
    return {form.keep_sum ? outputs[1] : at::Tensor(), outputs[0]};
}

}  // namespace faceter
