#include "routing_loss.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

namespace faceter {
namespace {

struct LossSettings {
    double balance, z;
    bool times_experts, per_choice, drops;
    enum class Layers { mean, sum, joined } layers;

    explicit LossSettings(const Json& settings)
        : balance(json_at<double>(settings, "balance", "variant")),
          z(json_at<double>(settings, "z_loss", "variant")),
          times_experts(json_at<std::string>(settings, "balance_factor", "variant") == "experts"),
          per_choice(json_at<bool>(settings, "balance_per_choice", "variant")),
          drops(json_at<double>(settings, "capacity", "variant") > 0) {
        const auto name = json_at<std::string>(settings, "balance_layers", "variant");
        layers = name == "mean" ? Layers::mean : name == "sum" ? Layers::sum : Layers::joined;
    }
};

/// This part's share of sum_i r_i p_i: linear in its probabilities, so that parts add up.
at::Tensor share_of(const at::Tensor& load, double assignments, const at::Tensor& probability_sum, double tokens) {
    return (load.to(probability_sum.options()) / assignments * (probability_sum / tokens)).sum();
}

at::Tensor balance_loss(const RoutingTrace& trace, const RoutingTotals& totals, const LossSettings& settings) {
    const auto tokens = static_cast<double>(totals.tokens), layers = static_cast<double>(trace.size());
    const auto experts = static_cast<double>(trace.front().probabilities.size(1));
    const double choices = settings.per_choice ? static_cast<double>(trace.front().experts.size(1)) : 1;
    const double factor = settings.times_experts ? experts : 1;
    at::Tensor sum, joined_load, joined_probability;
    for (std::size_t i = 0; i < trace.size(); ++i) {
        const at::Tensor probability = trace[i].probabilities.sum(0);
        if (settings.layers == LossSettings::Layers::joined) {
            joined_load = i == 0 ? totals.load[i] : joined_load + totals.load[i];
            joined_probability = i == 0 ? probability : joined_probability + probability;
        } else {
            const at::Tensor share = share_of(totals.load[i], tokens * choices, probability, tokens);
            sum = i == 0 ? share : sum + share;
        }
    }
    if (settings.layers == LossSettings::Layers::joined)
        sum = share_of(joined_load, tokens * layers * choices, joined_probability, tokens * layers);
    if (settings.layers == LossSettings::Layers::mean) sum = sum / layers;
    return sum * factor;
}

at::Tensor z_loss(const RoutingTrace& trace, const RoutingTotals& totals) {
    at::Tensor sum;
    for (const RouterOutput& router : trace) {
        const at::Tensor squares = router.logits.logsumexp(1).pow(2).sum();
        sum = sum.defined() ? sum + squares : squares;
    }
    return sum / (static_cast<double>(totals.tokens) * static_cast<double>(trace.size()));
}

/// This part's share of what is journaled of one router: its entropy in nats and each expert's share of the assignments.
void report_block(const RouterOutput& router, const at::Tensor& load, const RoutingTotals& totals, double part, LossParts& parts) {
    parts[fmt::format("router_entropy/block {}", router.block)] = router.entropy_sum() / static_cast<double>(totals.tokens);
    const std::vector<at::Tensor> shares = (load / load.sum().clamp_min(1) * part).unbind();
    for (std::size_t e = 0; e < shares.size(); ++e) parts[fmt::format("expert_load/block {}/expert {}", router.block, e)] = shares[e];
}

/// The same over all of them: the mean entropy, the largest load against an even one, and assignments that the capacity dropped, by block
/// too where there is one.
void report(const RoutingTrace& trace, const RoutingTotals& totals, bool drops, LossParts& parts) {
    const at::NoGradGuard no_grad;
    const auto layers = static_cast<double>(trace.size());
    const double part = static_cast<double>(trace.front().probabilities.size(0)) / static_cast<double>(totals.tokens);
    const auto add = [&](std::string_view name, const at::Tensor& value) {
        at::Tensor& sum = parts[std::string(name)];
        sum = sum.defined() ? sum + value : value;
    };
    for (std::size_t i = 0; i < trace.size(); ++i) {
        report_block(trace[i], totals.load[i], totals, part, parts);
        add("router_entropy", trace[i].entropy_sum() / (static_cast<double>(totals.tokens) * layers));
        add("largest_load", totals.load[i].max() / totals.load[i].mean() * (part / layers));
        add(dropped_assignments, trace[i].dropped);
        if (drops) parts[fmt::format("{}/block {}", dropped_assignments, trace[i].block)] = trace[i].dropped;
    }
}

}  // namespace

RoutingLoss make_routing_loss(const Json& settings) {
    return [wanted = LossSettings(settings)](const RoutingTrace& trace, const RoutingTotals& totals) {
        LossResult result;
        result.loss = at::zeros({}, trace.front().probabilities.options());
        if (wanted.balance > 0) {
            const at::Tensor balance = balance_loss(trace, totals, wanted);
            result.parts["balance_loss"] = balance.detach();
            result.loss = result.loss + balance * wanted.balance;
        }
        if (wanted.z > 0) {
            const at::Tensor z = z_loss(trace, totals);
            result.parts["z_loss"] = z.detach();
            result.loss = result.loss + z * wanted.z;
        }
        report(trace, totals, wanted.drops, result.parts);
        return result;
    };
}

}  // namespace faceter
