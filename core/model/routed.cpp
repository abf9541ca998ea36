#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include <cmath>
#include <numeric>

#include "model/matrix.h"
#include "model/ops_common.h"

namespace faceter {
namespace {

/// Assignments sorted by expert: position n of the sorted rows comes from assignment order[n] = token * k + choice.
struct Dispatch {
    at::Tensor token;                ///< int64 [N]: which token each sorted row is
    at::Tensor place;                ///< int64 [T * k]: the sorted row of each assignment; a dropped one points at row 0
    at::Tensor kept;                 ///< float [T * k]: 0 where an assignment was dropped; undefined where none was
    std::vector<Segment> segments;   ///< rows of each expert that has any
    at::Tensor load;                 ///< float64 [E]: assignments, dropped ones too
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
    const double limit = routing.capacity > 0 ? std::max(1.0, std::ceil(routing.capacity * static_cast<double>(assignments) / static_cast<double>(num_experts))) : 1e300;
    std::vector<std::int64_t> next(static_cast<std::size_t>(num_experts)), end(static_cast<std::size_t>(num_experts));
    std::int64_t row = 0;
    for (std::int64_t e = 0; e < num_experts; ++e) {
        const auto rows = static_cast<std::int64_t>(std::min(limit, load[e]));
        next[static_cast<std::size_t>(e)] = row;
        if (rows > 0) d.segments.push_back({static_cast<int>(e), row, row + rows});
        row += rows;
        end[static_cast<std::size_t>(e)] = row;
    }
    d.dropped = assignments - row;
    d.token = at::empty({row}, at::kLong);
    d.place = at::zeros({assignments}, at::kLong);
    if (d.dropped > 0) d.kept = at::zeros({assignments}, at::kFloat);
    for (std::int64_t a = 0; a < assignments; ++a) {
        std::int64_t& at = next[static_cast<std::size_t>(expert[a])];
        if (at == end[static_cast<std::size_t>(expert[a])]) continue;
        d.token.data_ptr<std::int64_t>()[at] = a / k;
        d.place.data_ptr<std::int64_t>()[a] = at++;
        if (d.dropped > 0) d.kept.data_ptr<float>()[a] = 1;
    }
    return d;
}

at::Tensor jittered(const at::Tensor& x, double jitter, std::uint64_t seed) {
    if (jitter <= 0 || seed == 0) return x;
    const at::Tensor noise = at::rand(x.sizes(), at::detail::createCPUGenerator(seed), at::TensorOptions(at::kFloat));
    return x * (noise * (2 * jitter) + (1 - jitter)).to(x.options());
}

}  // namespace

double RouterOutput::entropy_sum() const {
    const at::Tensor p = probabilities.detach();
    return -(p * p.clamp_min(1e-30).log()).sum().item<double>();
}

void RoutingTotals::add(const RoutingTrace& trace) {
    for (std::size_t i = 0; i < trace.size(); ++i) {
        if (load.size() <= i) load.push_back(at::zeros_like(trace[i].load));
        load[i].add_(trace[i].load);
    }
    if (!trace.empty()) tokens += trace.front().probabilities.size(0);
}

at::Tensor routed_feed_forward(const at::Tensor& x, const TokenRouting& routing, const FeedForwardForm& form, std::uint64_t noise_seed, RouterOutput* output) {
    const std::int64_t tokens = x.size(0), k = routing.top_k;
    // The router stays in float32 where the rest does not: a softmax over experts in half precision routes other tokens (Switch Transformer, 2.4).
    const auto exact = x.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
    const at::Tensor logits = at::linear(jittered(x, routing.jitter, noise_seed).to(exact), routing.router.to(exact));  // [T, E]
    const at::Tensor probabilities = logits.softmax(-1);
    const auto [best, experts] = probabilities.topk(k, -1);
    const Dispatch dispatch = dispatch_of(experts, routing);
    at::Tensor weight = routing.renormalise ? best / best.sum(-1, true) : best;  // [T, k]
    if (dispatch.kept.defined()) weight = weight * dispatch.kept.view({tokens, k}).to(weight.options());
    const at::Tensor rows = x.index_select(0, dispatch.token.to(x.device()));    // sorted by expert
    const at::Tensor outputs = stacked_feed_forward(rows, dispatch.segments, {routing.up, routing.up_bias, routing.down}, routing.num_experts, form);
    const at::Tensor back = outputs.index_select(0, dispatch.place.to(x.device()));
    at::Tensor y = k == 1 ? back * weight.to(x.scalar_type()) : (back.view({tokens, k, x.size(1)}) * weight.to(x.scalar_type()).unsqueeze(-1)).sum(1);
    if (routing.bias.defined()) y = y + routing.bias;
    if (output) *output = {output->block, logits, probabilities, experts, dispatch.load, dispatch.dropped};
    return y;
}

}  // namespace faceter
