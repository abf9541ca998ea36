#include "model/low_rank.h"

#include <ATen/ATen.h>

#include "model/activated_rows.h"
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
    at::Tensor of_input(const at::Tensor& x) const { return rows == x.size(0) ? x : x.narrow(0, begin, rows); }
    at::Tensor of_output(const at::Tensor& y) const { return y.narrow(0, begin, rows).narrow(1, first_column, columns); }
};
using PartShapes = std::vector<PartShape>;

PartShapes shapes_of(const std::vector<LowRankPart>& parts) {
    PartShapes shapes;
    for (const LowRankPart& p : parts)
        shapes.push_back({p.begin, p.end - p.begin, p.update->place.first_row, p.update->place.rows, p.scale});
    return shapes;
}

/// A and B of each part.
std::vector<at::Tensor> weights_of(const std::vector<LowRankPart>& parts) {
    std::vector<at::Tensor> weights;
    for (const LowRankPart& part : parts) weights.insert(weights.end(), {part.update->a, part.update->b});
    return weights;
}

/// y += scale (x A^T) B^T of each part. Returns A, B and h = x A^T of each.
variable_list add_parts(const at::Tensor& y, const at::Tensor& x, const PartShapes& shapes, at::TensorList weights) {
    variable_list used;
    for (std::size_t i = 0; i < shapes.size(); ++i) {
        const at::Tensor &a = weights[2 * i], &b = weights[2 * i + 1];
        const at::Tensor h = forward_product(shapes[i].of_input(x), a, {});  // [n, r]
        shapes[i].of_output(y).add_(forward_product(h, b, {}), shapes[i].scale);
        used.insert(used.end(), {a, b, h});
    }
    return used;
}

/// The way back through the parts, dy [T, out]. `used`: what add_parts() gave.
class PartGradients {
  public:
    PartGradients(const PartShapes& shapes, at::TensorList used, const at::Tensor& dy) : shapes_(shapes), used_(used) {
        for (const PartShape& shape : shapes) dparts_.push_back(shape.of_output(dy).contiguous());  // [n, out]
        dh_.resize(shapes.size());
    }
    /// dx += scale dy B A.
    void add_to(const at::Tensor& dx) {
        for (std::size_t i = 0; i < shapes_.size(); ++i) shapes_[i].of_input(dx).addmm_(dh(i), used_[3 * i]);
    }
    /// Of A and of B.
    at::Tensor of_a(std::size_t i, const at::Tensor& x) { return product(dh(i).t(), shapes_[i].of_input(x)); }
    at::Tensor of_b(std::size_t i) const { return product(dparts_[i].t(), used_[3 * i + 2]).mul_(shapes_[i].scale); }

  private:
    const at::Tensor& dh(std::size_t i) {  // [n, r]
        if (!dh_[i].defined()) dh_[i] = product(dparts_[i], used_[3 * i + 1]).mul_(shapes_[i].scale);
        return dh_[i];
    }
    const PartShapes& shapes_;
    at::TensorList used_;
    std::vector<at::Tensor> dparts_, dh_;
};

/// Appends the gradients of A and B of each part, the first of which is input `first` of the graph.
void append_gradients(variable_list& result, AutogradContext* context, std::size_t first, PartGradients& parts, std::size_t num_parts,
                      const at::Tensor& x) {
    for (std::size_t i = 0; i < num_parts; ++i) {
        const bool trained = context->needs_input_grad(first + 2 * i) || context->needs_input_grad(first + 1 + 2 * i);
        result.push_back(trained ? parts.of_a(i, x) : at::Tensor());
        result.push_back(trained ? parts.of_b(i) : at::Tensor());
    }
}

/// Saved: x, then what add_parts() gave.
struct LowRank : Function<LowRank> {
    static at::Tensor forward(AutogradContext* context, const at::Tensor& y, const at::Tensor& x, const PartShapes& shapes, bool keep,
                              at::TensorList weights) {
        variable_list saved = add_parts(y, x, shapes, weights);
        context->mark_dirty({y});
        if (keep) {
            saved.insert(saved.begin(), x);
            context->save_for_backward(std::move(saved));
            context->saved_data["shapes"] = Carried<PartShapes>::wrap(shapes);
        }
        return y;
    }

    static variable_list backward(AutogradContext* context, const variable_list& gradients) {
        const auto saved = context->get_saved_variables();
        const auto& shapes = Carried<PartShapes>::from(context->saved_data["shapes"]);
        const at::Tensor dy = gradients[0].contiguous(), &x = saved[0];
        PartGradients parts(shapes, at::TensorList(saved).slice(1), dy);
        const at::Tensor dx = context->needs_input_grad(1) ? at::zeros_like(x) : at::Tensor();
        if (dx.defined()) parts.add_to(dx);
        variable_list result{dy, dx, {}, {}};
        append_gradients(result, context, 2, parts, shapes.size(), x);
        return result;
    }
};

struct ActivationShape {
    FeedForwardForm form;
    PartShapes parts;
    bool bf16;  ///< products, as in forward
};

/// Saved: u, the weight, then what add_parts() gave.
struct AdaptedActivation : Function<AdaptedActivation> {
    static at::Tensor forward(AutogradContext* context, const at::Tensor& given, const at::Tensor& down, const ProductWeights* prepared,
                              const ActivationShape& shape, at::TensorList weights) {
        const at::Tensor u = given.contiguous(), g = activated_rows(u, shape.form), y = forward_product(g, down, {}, prepared);
        variable_list saved{u, down};
        const variable_list used = add_parts(y, g, shape.parts, weights);
        saved.insert(saved.end(), used.begin(), used.end());
        context->save_for_backward(std::move(saved));
        context->saved_data["shape"] = Carried<ActivationShape>::wrap(shape);
        return y;
    }

    static variable_list backward(AutogradContext* context, const variable_list& gradients) {
        const auto saved = context->get_saved_variables();
        const auto& shape = Carried<ActivationShape>::from(context->saved_data["shape"]);
        const Bf16Products as_forward(shape.bf16);
        const at::Tensor dy = gradients[0].contiguous(), dg = BackwardWeights(saved[1])(dy);
        PartGradients parts(shape.parts, at::TensorList(saved).slice(2), dy);
        parts.add_to(dg);
        const auto [g, du] = activated_rows_again(saved[0], dg, shape.form);
        at::Tensor ddown;
        if (context->needs_input_grad(1)) {
            ddown = at::empty(saved[1].sizes(), dy.options());
            weight_gradient(dy, g, ddown, false);
        }
        variable_list result{du, ddown, {}, {}};
        append_gradients(result, context, 2, parts, shape.parts.size(), g);
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
    const std::vector<at::Tensor> weights = weights_of(parts);
    if (!fast_path(x)) return plain_low_rank(y, x, shapes_of(parts), weights);
    return LowRank::apply(y, x, shapes_of(parts), at::GradMode::is_enabled(), at::TensorList(weights));
}

at::Tensor adapted_activation(const at::Tensor& u, const FeedForwardForm& form, const at::Tensor& down, const ProductWeights* prepared,
                              const std::vector<LowRankPart>& parts) {
    const ActivationShape shape{form, shapes_of(parts), Bf16Products::on()};
    const std::vector<at::Tensor> weights = weights_of(parts);
    return AdaptedActivation::apply(u, down, prepared, shape, at::TensorList(weights));
}

}  // namespace faceter
