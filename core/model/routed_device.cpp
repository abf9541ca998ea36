#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cmath>

#include "model/accelerator.h"
#include "model/routed.h"

namespace faceter {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

/// Assignments (token * k + choice) sorted by expert, all on the device.
struct DeviceDispatch {
    at::Tensor order, place;  ///< int64 [N]: the assignment of each sorted row, and the sorted row of each assignment
    at::Tensor experts;       ///< int64 [N]: of the sorted rows
    at::Tensor ends;          ///< int32 [E]: behind the last row of each expert
    at::Tensor load;          ///< float64 [E]
    at::Tensor kept;          ///< bool [N], by assignment; undefined: all
};

DeviceDispatch dispatch_on_device(const at::Tensor& chosen, const TokenRouting& routing) {
    const at::Tensor flat = chosen.flatten();
    const std::int64_t assignments = flat.numel();
    DeviceDispatch d;
    std::tie(d.experts, d.order) = flat.sort(/*stable=*/true, 0, false);
    // Neither scatters: what adds up in whatever order is kept from it by sorting (accelerator.h), which takes longer than all of this.
    d.place = d.order.argsort();
    d.load = (flat.unsqueeze(1) == at::arange(routing.num_experts, flat.options())).sum(0).to(at::kDouble);
    const at::Tensor ends = d.load.cumsum(0);
    d.ends = ends.to(at::kInt);
    if (routing.capacity > 0) {
        const double limit =
            std::max(1.0, std::ceil(routing.capacity * static_cast<double>(assignments) / static_cast<double>(routing.num_experts)));
        const at::Tensor first = (ends - d.load).to(at::kLong).index_select(0, d.experts);
        d.kept = (at::arange(assignments, flat.options()) - first < limit).index_select(0, d.place);
    }
    return d;
}

/// Rows in another order, each of x [T, D] `times` times: y[i] = x[from[i] / times]. `back` is from's inverse, so that backward gathers as
/// well: additions that are scattered over threads would give other bits every time.
struct GatherRows : Function<GatherRows> {
    static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& from, const at::Tensor& back,
                              std::int64_t times) {
        context->save_for_backward({back});
        context->saved_data["times"] = times;
        return x.index_select(0, times == 1 ? from : from.div(times, "floor"));
    }
    static variable_list backward(AutogradContext* context, const variable_list& gradients) {
        const std::int64_t times = context->saved_data["times"].toInt(), width = gradients[0].size(1);
        const at::Tensor rows = gradients[0].index_select(0, context->get_saved_variables()[0]);
        return {times == 1 ? rows : rows.view({-1, times, width}).sum(1), {}, {}, {}};
    }
};

/// The products of one dispatch, each row with the weights of its expert.
class GroupedProducts {
  public:
    explicit GroupedProducts(const at::Tensor& ends) : ends_(ends) {}

    /// rows [N, K], sorted by expert; weights [E, M, K] -> rows of expert e times weights[e]^T: [N, M].
    at::Tensor operator()(const at::Tensor& rows, const at::Tensor& weights) {
        if (kernel_serves(rows, weights)) return at::_grouped_mm(rows, weights.transpose(1, 2), ends_);
        if (!on_host_.defined()) on_host_ = ends_.is_meta() ? even_ends(rows.size(0), weights.size(0)) : ends_.cpu();
        std::vector<std::int64_t> sizes;
        for (std::int64_t e = 0, begin = 0; e < weights.size(0); ++e) {
            const std::int64_t end = on_host_.data_ptr<std::int32_t>()[e];
            sizes.push_back(end - begin);
            begin = end;
        }
        // Split once: backward of a part alone is as large as the whole.
        const std::vector<at::Tensor> own_rows = rows.split_with_sizes(sizes), matrices = weights.unbind(0);
        std::vector<at::Tensor> parts;
        for (std::size_t e = 0; e < sizes.size(); ++e) parts.push_back(at::linear(own_rows[e], matrices[e]));
        return at::cat(parts);
    }

  private:
    /// CUDA's kernel takes bfloat16, in rows that begin every 16 bytes, on GPUs that have it. Elsewhere PyTorch's own function brings the
    /// ends to the host, in each product of forward and backward again: here that is done once.
    static bool kernel_serves(const at::Tensor& rows, const at::Tensor& weights) {
        const auto whole = [](const at::Tensor& t, std::int64_t count) { return count * t.element_size() % 16 == 0; };
        return rows.scalar_type() == at::kBFloat16 && has_grouped_product() && whole(rows, rows.size(1)) && whole(weights, weights.size(1));
    }

    /// Shapes alone do not say which expert a row goes to: all have the same number.
    static at::Tensor even_ends(std::int64_t rows, std::int64_t experts) {
        return (at::arange(1, experts + 1, at::kLong) * rows).div(experts, "floor").to(at::kInt);
    }

    at::Tensor ends_, on_host_;
};

}  // namespace

Routed through_experts_on_device(const at::Tensor& x, const at::Tensor& experts, const at::Tensor& weight, const TokenRouting& routing,
                                 const FeedForwardForm& form) {
    const DeviceDispatch d = dispatch_on_device(experts, routing);
    const std::int64_t count = routing.num_experts, k = routing.top_k, width = x.size(1);
    GroupedProducts product(d.ends);
    at::Tensor u = product(GatherRows::apply(x, d.order, d.place, k), routing.up.view({count, -1, width}));  // [N, U]
    // A product with one-hot rows: its backward is one as well, where a gather of few rows would add up in whatever order.
    if (routing.up_bias.defined())
        u = u + (d.experts.unsqueeze(1) == at::arange(count, d.experts.options()))
                    .to(u.scalar_type())
                    .matmul(routing.up_bias.view({count, -1}));
    const at::Tensor g = activate(u, form);                                                                         // [N, I]
    const at::Tensor outputs = product(g, routing.down.view({count, width, -1}));                                   // [N, D]
    const at::Tensor share = d.kept.defined() ? weight * d.kept.view_as(weight).to(weight.scalar_type()) : weight;  // [T, k]
    const at::Tensor y = (GatherRows::apply(outputs, d.place, d.order, 1).view({-1, k, width}) * share.unsqueeze(-1)).sum(1);
    const at::Tensor dropped = d.kept.defined() ? d.kept.bitwise_not().sum().to(at::kDouble) : at::zeros({}, d.load.options());
    return {y, d.load, dropped};
}

}  // namespace faceter
