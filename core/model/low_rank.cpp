#include "model/low_rank.h"

#include <ATen/ATen.h>

#include "model/matrix.h"
#include "model/ops_common.h"

namespace faceter {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

/// Where a part's product goes.
struct PartShape {
    std::int64_t begin, rows, first_column, columns;
    double scale;
    at::Tensor of_input(const at::Tensor& x) const { return x.narrow(0, begin, rows); }
    at::Tensor of_output(const at::Tensor& y) const { return y.narrow(0, begin, rows).narrow(1, first_column, columns); }
};
using PartShapes = std::vector<PartShape>;

PartShapes shapes_of(const std::vector<LowRankPart>& parts) {
    PartShapes shapes;
    for (const LowRankPart& p : parts)
        shapes.push_back({p.begin, p.end - p.begin, p.update->place.first_row, p.update->place.rows, p.scale});
    return shapes;
}

/// Saved: x, then A, B and h = x A^T of each part.
struct LowRank : Function<LowRank> {
    static at::Tensor forward(AutogradContext* context, const at::Tensor& y, const at::Tensor& x, const PartShapes& shapes, bool keep,
                              at::TensorList weights) {
        variable_list saved{x};
        for (std::size_t i = 0; i < shapes.size(); ++i) {
            const at::Tensor &a = weights[2 * i], &b = weights[2 * i + 1];
            const at::Tensor h = forward_product(shapes[i].of_input(x), a, {});  // [n, r]
            shapes[i].of_output(y).add_(forward_product(h, b, {}), shapes[i].scale);
            if (keep) saved.insert(saved.end(), {a, b, h});
        }
        context->mark_dirty({y});
        if (keep) {
            context->save_for_backward(std::move(saved));
            context->saved_data["shapes"] = Carried<PartShapes>::wrap(shapes);
        }
        return y;
    }

    static variable_list backward(AutogradContext* context, const variable_list& gradients) {
        const auto saved = context->get_saved_variables();
        const auto& shapes = Carried<PartShapes>::from(context->saved_data["shapes"]);
        const at::Tensor dy = gradients[0].contiguous(), &x = saved[0];
        const at::Tensor dx = context->needs_input_grad(1) ? at::zeros_like(x) : at::Tensor();
        variable_list result{dy, dx, {}, {}};
        for (std::size_t i = 0; i < shapes.size(); ++i) {
            const at::Tensor &a = saved[1 + 3 * i], &b = saved[2 + 3 * i], &h = saved[3 + 3 * i];
            const bool trained = context->needs_input_grad(2 + 2 * i) || context->needs_input_grad(3 + 2 * i);
            const at::Tensor dpart = shapes[i].of_output(dy).contiguous();                                           // [n, out]
            const at::Tensor dh = trained || dx.defined() ? product(dpart, b).mul_(shapes[i].scale) : at::Tensor();  // [n, r]
            if (dx.defined()) shapes[i].of_input(dx).addmm_(dh, a);
            result.push_back(trained ? product(dh.t(), shapes[i].of_input(x)) : at::Tensor());
            result.push_back(trained ? product(dpart.t(), h).mul_(shapes[i].scale) : at::Tensor());
        }
        return result;
    }
};

at::Tensor plain_low_rank(const at::Tensor& y, const at::Tensor& x, const PartShapes& shapes, const std::vector<at::Tensor>& weights) {
    const at::Tensor update = at::zeros_like(y);
    for (std::size_t i = 0; i < shapes.size(); ++i)
        shapes[i].of_output(update).add_(at::linear(at::linear(shapes[i].of_input(x), weights[2 * i]), weights[2 * i + 1]),
                                         shapes[i].scale);
    return y + update;
}

}  // namespace

std::int64_t Adapter::num_parameters() const {
    std::int64_t total = 0;
    for_each_update(*this, [&](const std::string&, bool, const at::Tensor& a, const at::Tensor& b) { total += a.numel() + b.numel(); });
    return total;
}

at::Tensor add_low_rank(const at::Tensor& y, const at::Tensor& x, const std::vector<LowRankPart>& parts) {
    std::vector<at::Tensor> weights;
    for (const LowRankPart& part : parts) weights.insert(weights.end(), {part.update->a, part.update->b});
    if (!fast_path(x)) return plain_low_rank(y, x, shapes_of(parts), weights);
    return LowRank::apply(y, x, shapes_of(parts), at::GradMode::is_enabled(), at::TensorList(weights));
}

}  // namespace faceter
