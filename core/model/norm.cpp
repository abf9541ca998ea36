#include <ATen/ATen.h>

#include "model/ops_common.h"

namespace faceter {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

struct NormShape {
    LayoutPointer layout;
    bool by_expert, has_residual, has_bias;
    double epsilon;
    DropoutSite dropout;
};

kernels::NormParameters parameters_of(const at::TensorList& weights, int segment, const NormShape& shape) {
    const at::Tensor& gamma = weights[3 * segment + 1];
    return {data(gamma), data(weights[3 * segment + 2]), static_cast<float>(shape.epsilon), static_cast<std::size_t>(gamma.size(0))};
}

/// weights: bias, gamma, beta of each segment; an absent bias or residual is an empty tensor.
struct AddNorm : Function<AddNorm> {
    static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& residual, const NormShape& shape, at::TensorList weights) {
        const at::Tensor z = x.detach(), base = residual.contiguous(), y = at::empty_like(z);
        const at::Tensor moments = at::empty({2, z.size(0)}, z.options());
        const auto& groups = shape.layout->groups(shape.by_expert);
        const auto dropout = shape.dropout.kernel();
        const std::int64_t width = z.size(1), tokens = z.size(0);
        parallel_tasks(static_cast<std::int64_t>(groups.size()), [&](std::int64_t g) {
            const auto norm = parameters_of(weights, groups[g].segment, shape);
            const float* bias = shape.has_bias ? data(weights[3 * groups[g].segment]) : nullptr;
            for (const RowBlock& b : groups[g].blocks)
                kernels::kernels().add_norm(data(z) + b.begin * width, bias, shape.has_residual ? data(base) + b.begin * width : nullptr,
                                            data(y) + b.begin * width, data(moments) + b.begin, data(moments) + tokens + b.begin, b.rows, b.first_row,
                                            b.sequence_key, dropout, norm);
        });
        variable_list saved{z, moments};
        saved.insert(saved.end(), weights.begin(), weights.end());
        context->save_for_backward(std::move(saved));
        context->saved_data["shape"] = Carried<NormShape>::wrap(shape);
        return y;
    }

    static variable_list backward(AutogradContext* context, const variable_list& gradients) {
        const auto saved = context->get_saved_variables();
        const at::TensorList weights(saved.data() + 2, saved.size() - 2);
        const auto& shape = Carried<NormShape>::from(context->saved_data["shape"]);
        const at::Tensor &z = saved[0], &moments = saved[1], dy = gradients[0].contiguous();
        const auto& groups = shape.layout->groups(shape.by_expert);
        const std::int64_t width = z.size(1), tokens = z.size(0);
        const at::Tensor dx = at::empty_like(z), dz = shape.has_residual ? at::empty_like(z) : at::Tensor();
        const at::Tensor sums = at::zeros({static_cast<std::int64_t>(groups.size()), 3, width}, z.options());  // dbias, dgamma, dbeta of each group
        const auto dropout = shape.dropout.kernel();
        parallel_tasks(static_cast<std::int64_t>(groups.size()), [&](std::int64_t g) {
            const auto norm = parameters_of(weights, groups[g].segment, shape);
            float* sum = data(sums) + g * 3 * width;
            for (const RowBlock& b : groups[g].blocks)
                kernels::kernels().add_norm_backward(data(z) + b.begin * width, data(dy) + b.begin * width, data(moments) + b.begin,
                                                     data(moments) + tokens + b.begin, data(dx) + b.begin * width,
                                                     shape.has_residual ? data(dz) + b.begin * width : nullptr, sum + width, sum + 2 * width,
                                                     shape.has_bias ? sum : nullptr, b.rows, b.first_row, b.sequence_key, dropout, norm);
        });
        variable_list result{dx, dz, {}};
        result.resize(3 + weights.size());
        const std::size_t segments = weights.size() / 3;
        std::size_t first = 0;
        for (std::size_t s = 0; s < segments; ++s) {  // groups of a segment are neighbours
            std::size_t last = first;
            while (last < groups.size() && groups[last].segment == static_cast<int>(s)) ++last;
            const at::Tensor total = sums.narrow(0, static_cast<std::int64_t>(first), static_cast<std::int64_t>(last - first)).sum(0);
            for (std::size_t part = 0; part < 3; ++part)
                if (part > 0 || shape.has_bias) result[3 + 3 * s + part] = total.select(0, static_cast<std::int64_t>(part));
            first = last;
        }
        return result;
    }
};

at::Tensor composed_add_norm(const at::Tensor& x, const at::Tensor& residual, const std::vector<NormWeights>& weights, const NormShape& shape) {
    const auto& segments = shape.by_expert ? shape.layout->segments() : shape.layout->whole();
    std::vector<at::Tensor> outputs;
    const at::Tensor mask = shape.dropout.p > 0 ? dropout_mask(x, x.size(1), *shape.layout, shape.dropout) : at::Tensor();
    for (std::size_t s = 0; s < segments.size(); ++s) {
        const auto part = [&](const at::Tensor& t) { return t.narrow(0, segments[s].begin, segments[s].rows()); };
        at::Tensor z = part(x);
        if (weights[s].bias.defined()) z = z + weights[s].bias;
        if (mask.defined()) z = z * part(mask);
        if (residual.defined()) z = z + part(residual);
        outputs.push_back(at::layer_norm(z, {x.size(1)}, weights[s].gamma, weights[s].beta, shape.epsilon));
    }
    return outputs.size() == 1 ? outputs[0] : at::cat(outputs);
}

}  // namespace

at::Tensor add_norm(const at::Tensor& x, const at::Tensor& residual, const std::vector<NormWeights>& weights, bool by_expert, double epsilon,
                    const LayoutPointer& layout, const DropoutSite& dropout) {
    const NormShape shape{layout, by_expert, residual.defined(), weights[0].bias.defined(), epsilon, dropout};
    if (!fast_path(x)) return composed_add_norm(x, residual, weights, shape);
    const at::Tensor nothing = at::empty({0}, x.options());
    std::vector<at::Tensor> flat;
    for (const NormWeights& w : weights) flat.insert(flat.end(), {w.bias.defined() ? w.bias : nothing, w.gamma, w.beta});
    return AddNorm::apply(x.contiguous(), residual.defined() ? residual : nothing, shape, at::TensorList(flat));
}

}  // namespace faceter
