#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Dispatch.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "common/hash.h"
#include "model/matrix.h"
#include "model/ops_common.h"
#include "model/routed.h"

namespace faceter {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

/// Assignments (token * k + choice) sorted by expert.
struct Dispatch {
    std::int64_t top_k = 1;
    std::vector<std::int64_t> assignment;  ///< [N]: which assignment each sorted row is
    std::vector<std::int64_t> place;       ///< [T * k]: the sorted row of each assignment; -1 where it was dropped
    std::vector<Segment> segments;         ///< rows of each expert that has any
    at::Tensor load;                       ///< float64 [E]: assignments, dropped ones too
    std::int64_t dropped = 0;
};

Dispatch dispatch_of(const at::Tensor& experts, const TokenRouting& routing) {
    const at::Tensor flat = experts.to(at::kCPU).contiguous().flatten();
    const std::int64_t assignments = flat.numel(), k = routing.top_k, num_experts = routing.num_experts;
    const auto* expert = flat.data_ptr<std::int64_t>();
    Dispatch d;
    d.load = at::zeros({num_experts}, at::kDouble);
    auto* load = d.load.data_ptr<double>();
    for (std::int64_t a = 0; a < assignments; ++a) load[expert[a]] += 1;
    const double limit =
        routing.capacity > 0
            ? std::max(1.0, std::ceil(routing.capacity * static_cast<double>(assignments) / static_cast<double>(num_experts)))
            : 1e300;
    std::vector<std::int64_t> next(static_cast<std::size_t>(num_experts)), end(static_cast<std::size_t>(num_experts));
    std::int64_t row = 0;
    for (std::int64_t e = 0; e < num_experts; ++e) {
        const auto rows = static_cast<std::int64_t>(std::min(limit, load[e]));
        next[static_cast<std::size_t>(e)] = row;
        if (rows > 0) d.segments.push_back({Path::of_expert(static_cast<int>(e)), row, row + rows});
        row += rows;
        end[static_cast<std::size_t>(e)] = row;
    }
    d.dropped = assignments - row;
    d.top_k = k;
    d.assignment.resize(static_cast<std::size_t>(row));
    d.place.assign(static_cast<std::size_t>(assignments), -1);
    for (std::int64_t a = 0; a < assignments; ++a) {
        std::int64_t& at = next[static_cast<std::size_t>(expert[a])];
        if (at == end[static_cast<std::size_t>(expert[a])]) continue;
        d.assignment[static_cast<std::size_t>(at)] = a;
        d.place[static_cast<std::size_t>(a)] = at++;
    }
    return d;
}

/// Runs each(row) for row < rows on all threads, some rows a task: every row is written by one task, so there is nothing to add up across
/// them.
template <typename Each>
void for_rows(std::int64_t rows, const Each& each) {
    constexpr std::int64_t rows_a_task = 128;
    parallel_tasks((rows + rows_a_task - 1) / rows_a_task, [&](std::int64_t task) {
        for (std::int64_t row = task * rows_a_task; row < std::min(rows, (task + 1) * rows_a_task); ++row) each(row);
    });
}

template <typename T>
void add_scaled(std::int64_t width, T scale, const T* row, T* sum) {
#pragma omp simd
    for (std::int64_t i = 0; i < width; ++i) sum[i] += scale * row[i];
}

/// out = scale x; returns x . y.
template <typename T>
T scale_and_dot(std::int64_t width, T scale, const T* x, const T* y, T* out) {
    T dot = 0;
#pragma omp simd reduction(+ : dot)
    for (std::int64_t i = 0; i < width; ++i) {
        out[i] = scale * x[i];
        dot += x[i] * y[i];
    }
    return dot;
}

/// The sum over a token's choices of their sorted rows, each times its weight where there are weights; a dropped one adds nothing.
template <typename T>
void sum_choices(const Dispatch& dispatch, std::int64_t token, std::int64_t width, const T* rows, const T* weights, T* sum) {
    std::fill_n(sum, width, T(0));
    for (std::int64_t a = token * dispatch.top_k; a < (token + 1) * dispatch.top_k; ++a)
        if (const std::int64_t place = dispatch.place[static_cast<std::size_t>(a)]; place >= 0)
            add_scaled(width, weights ? weights[a] : T(1), rows + place * width, sum);
}

/// x [T, D] -> [N, D], sorted by expert. Backward adds up the rows of each token in the order of its choices: no scattered additions, so
/// that the bits do not depend on the threads.
struct SortRows : Function<SortRows> {
    static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const std::shared_ptr<const Dispatch>& dispatch) {
        context->saved_data["dispatch"] = Carried<std::shared_ptr<const Dispatch>>::wrap(dispatch);
        const at::Tensor from = x.contiguous();
        const std::int64_t width = x.size(1), k = dispatch->top_k;
        at::Tensor rows = at::empty({static_cast<std::int64_t>(dispatch->assignment.size()), width}, x.options());
        AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "sort_rows", [&] {
            for_rows(rows.size(0), [&, source = from.data_ptr<scalar_t>(), out = rows.data_ptr<scalar_t>()](std::int64_t row) {
                std::copy_n(source + dispatch->assignment[static_cast<std::size_t>(row)] / k * width, width, out + row * width);
            });
        });
        return rows;
    }
    static variable_list backward(AutogradContext* context, const variable_list& gradients) {
        const auto dispatch = Carried<std::shared_ptr<const Dispatch>>::from(context->saved_data["dispatch"]);
        const at::Tensor dy = gradients[0].contiguous();
        const std::int64_t width = dy.size(1), k = dispatch->top_k;
        at::Tensor dx = at::empty({static_cast<std::int64_t>(dispatch->place.size()) / k, width}, dy.options());
        AT_DISPATCH_FLOATING_TYPES(dy.scalar_type(), "sort_rows_backward", [&] {
            for_rows(dx.size(0), [&, source = dy.data_ptr<scalar_t>(), out = dx.data_ptr<scalar_t>()](std::int64_t token) {
                sum_choices<scalar_t>(*dispatch, token, width, source, nullptr, out + token * width);
            });
        });
        return {dx, at::Tensor()};
    }
};

/// y[t] = sum_j weight[t, j] rows[place of t's choice j]; rows [N, D], weight [T, k]. A dropped choice adds nothing and gets no gradient.
struct CombineRows : Function<CombineRows> {
    static at::Tensor forward(AutogradContext* context, const at::Tensor& rows, const at::Tensor& weight,
                              const std::shared_ptr<const Dispatch>& dispatch) {
        const at::Tensor from = rows.contiguous(), by = weight.contiguous();
        context->save_for_backward({from, by});
        context->saved_data["dispatch"] = Carried<std::shared_ptr<const Dispatch>>::wrap(dispatch);
        const std::int64_t width = rows.size(1);
        at::Tensor y = at::empty({weight.size(0), width}, rows.options());
        AT_DISPATCH_FLOATING_TYPES(rows.scalar_type(), "combine_rows", [&] {
            for_rows(y.size(0),
                     [&, source = from.data_ptr<scalar_t>(), scale = by.data_ptr<scalar_t>(), out = y.data_ptr<scalar_t>()](
                         std::int64_t token) { sum_choices<scalar_t>(*dispatch, token, width, source, scale, out + token * width); });
        });
        return y;
    }
    static variable_list backward(AutogradContext* context, const variable_list& gradients) {
        const auto dispatch = Carried<std::shared_ptr<const Dispatch>>::from(context->saved_data["dispatch"]);
        const variable_list saved = context->get_saved_variables();
        const at::Tensor &rows = saved[0], &weight = saved[1], dy = gradients[0].contiguous();
        const std::int64_t width = rows.size(1), k = dispatch->top_k;
        at::Tensor drows = at::empty_like(rows), dweight = at::zeros_like(weight);
        AT_DISPATCH_FLOATING_TYPES(rows.scalar_type(), "combine_rows_backward", [&] {
            const scalar_t *source = rows.data_ptr<scalar_t>(), *scale = weight.data_ptr<scalar_t>(), *up = dy.data_ptr<scalar_t>();
            scalar_t *down = drows.data_ptr<scalar_t>(), *dscale = dweight.data_ptr<scalar_t>();
            for_rows(rows.size(0), [&](std::int64_t place) {
                const std::int64_t a = dispatch->assignment[static_cast<std::size_t>(place)];
                dscale[a] = scale_and_dot(width, scale[a], up + a / k * width, source + place * width, down + place * width);
            });
        });
        return {drows, dweight, at::Tensor()};
    }
};

Routed through_experts(const at::Tensor& x, const at::Tensor& experts, const at::Tensor& weight, const TokenRouting& routing,
                       const FeedForwardForm& form) {
    const auto dispatch = std::make_shared<const Dispatch>(dispatch_of(experts, routing));
    const at::Tensor rows = SortRows::apply(x, dispatch);
    const at::Tensor outputs = stacked_feed_forward(rows, dispatch->segments, {routing.up, routing.up_bias, routing.down},
                                                    routing.num_experts, form, routing.prepared);
    return {CombineRows::apply(outputs, weight, dispatch), dispatch->load, at::scalar_tensor(dispatch->dropped, at::kDouble)};
}

}  // namespace

at::Tensor router_noise(const at::Tensor& x, const PackedLayout& layout, double jitter, std::uint64_t seed) {
    const at::Tensor noise = at::empty(x.sizes(), at::TensorOptions(at::kFloat).device(x.device()));
    if (ops_form(x) == OpsForm::device) return noise.uniform_(1 - jitter, 1 + jitter).to(x.scalar_type());
    for (std::int64_t s = 0; s < layout.num_sequences(); ++s) {
        const std::uint64_t own = hash64("sequence", seed ^ layout.keys()[static_cast<std::size_t>(s)]);
        noise.narrow(0, layout.offsets()[static_cast<std::size_t>(s)], layout.length(s))
            .uniform_(1 - jitter, 1 + jitter, at::detail::createCPUGenerator(own));
    }
    return noise.to(x.scalar_type());
}

at::Tensor RouterOutput::entropy_sum() const {
    const at::Tensor p = probabilities.detach();
    return -(p * p.clamp_min(1e-30).log()).sum();
}

void RoutingTotals::add(const RoutingTrace& trace) {
    for (std::size_t i = 0; i < trace.size(); ++i) {
        if (load.size() <= i) load.push_back(at::zeros_like(trace[i].load));
        load[i].add_(trace[i].load);
    }
    if (!trace.empty()) tokens += trace.front().probabilities.size(0);
}

at::Tensor routed_feed_forward(const at::Tensor& x, const TokenRouting& routing, const FeedForwardForm& form, const at::Tensor& noise,
                               RouterOutput* output) {
    // The router stays in float32 where the rest does not: a softmax over experts in half precision routes other tokens (Switch
    // Transformer, 2.4).
    const auto exact = x.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
    const at::Tensor logits = exact_linear_layer((noise.defined() ? x * noise : x).to(exact), routing.router.to(exact));  // [T, E]
    const at::Tensor probabilities = logits.softmax(-1);
    auto [best, experts] = probabilities.topk(routing.top_k, -1);
    if (ops_form(x) == OpsForm::device)  // whose backward is a sum; that of the choice scatters
        best = (probabilities.unsqueeze(1) * (experts.unsqueeze(-1) == at::arange(routing.num_experts, experts.options()))).sum(-1);
    const at::Tensor weight = (routing.renormalise ? best / best.sum(-1, true) : best).to(x.scalar_type());  // [T, k]
    auto [y, load, dropped] = ops_form(x) == OpsForm::device ? through_experts_on_device(x, experts, weight, routing, form)
                                                             : through_experts(x, experts, weight, routing, form);
    if (routing.bias.defined()) y = y + routing.bias;
    if (output) *output = {output->block, logits, probabilities, experts, load, dropped};
    return y;
}

}  // namespace faceter
