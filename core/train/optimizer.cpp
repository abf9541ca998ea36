#include "train/optimizer.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <numbers>

#include "common/error.h"

namespace faceter {

AdamW::AdamW(std::vector<Parameter> parameters, AdamWSettings settings) : parameters_(std::move(parameters)), settings_(settings) {
    for (const Parameter& p : parameters_) {
        first_.push_back(at::zeros_like(p.tensor));
        second_.push_back(at::zeros_like(p.tensor));
        steps_.push_back(at::zeros({}, at::kFloat).to(p.tensor.device()));
    }
}

at::Tensor AdamW::step(double learning_rate, double max_grad_norm, const UsedPaths& used,
                       const std::function<at::Tensor(const at::Tensor&)>& over_all) {
    const at::NoGradGuard no_grad;
    struct Batch {
        std::vector<at::Tensor> values, gradients, first, second, steps;
    };
    std::map<std::pair<bool, double>, Batch> batches;  // by whether they decay, and their rate
    std::vector<at::Tensor> gradients;
    norms_ = {};
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
        const Parameter& p = parameters_[i];
        const at::Tensor& gradient = p.tensor.grad();
        if (!gradient.defined() || !used.contains(p.owner)) continue;
        Batch& batch = batches[{p.decay, p.rate}];
        batch.values.push_back(p.tensor);
        batch.gradients.push_back(gradient);
        batch.first.push_back(first_[i]);
        batch.second.push_back(second_[i]);
        batch.steps.push_back(steps_[i]);
        gradients.push_back(gradient);
        norms_.parameters.push_back(i);
    }
    if (!gradients.empty()) norms_.each = at::stack(at::_foreach_norm(gradients, 2));
    at::Tensor norm = gradients.empty() ? at::zeros({}) : norms_.each.norm();
    if (over_all) norm = over_all(norm);
    if (gradients.empty()) return norm;
    // The fused step divides gradients by the one, and is not taken where the other is 1: the norm is never read back on the way.
    const at::Tensor divisor = max_grad_norm > 0 ? (norm / max_grad_norm).clamp_min(1).to(at::kFloat) : at::Tensor();
    const at::Tensor broken = at::isfinite(norm).logical_not().to(at::kFloat);
    for (auto& [kind, batch] : batches) {
        const auto [decay, rate] = kind;
        at::_foreach_add_(batch.steps, 1 - broken);
        at::_fused_adamw_(batch.values, batch.gradients, batch.first, batch.second, {}, batch.steps, learning_rate * rate, settings_.beta1,
                          settings_.beta2, decay ? settings_.weight_decay : 0.0, settings_.epsilon, /*amsgrad=*/false, /*maximize=*/false,
                          divisor.defined() ? std::optional<at::Tensor>(divisor) : std::nullopt, broken);
    }
    return norm;
}

void AdamW::zero_grad() {
    for (const Parameter& p : parameters_) p.tensor.mutable_grad() = at::Tensor();
}

std::vector<NamedTensor> AdamW::state() const {
    std::vector<NamedTensor> state;
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
        state.push_back({"exp_avg." + parameters_[i].name, first_[i]});
        state.push_back({"exp_avg_sq." + parameters_[i].name, second_[i]});
        state.push_back({"step." + parameters_[i].name, steps_[i]});
    }
    return state;
}

void AdamW::load(const Weights& weights) {
    for (const NamedTensor& part : state()) read_tensor(weights, part.name, part.tensor);
}

void read_tensor(const Weights& weights, const std::string& name, const at::Tensor& values) {
    if (!weights.find(name) && weights.find(name + "@0")) {
        for (std::int64_t begin = 0; begin < values.numel();) {
            const std::string part = fmt::format("{}@{}", name, begin);
            const auto count = static_cast<std::int64_t>(weights.at(part).numel());
            if (count < 1 || count > values.numel() - begin)
                throw data_error("{}: tensor '{}' has {} values, expected at most {}", weights.description(), part, count,
                                 values.numel() - begin);
            read_tensor(weights, part, values.view(-1).narrow(0, begin, count));
            begin += count;
        }
        return;
    }
    const TensorInfo& info = weights.at(name);
    if (info.numel() != values.numel())
        throw data_error("{}: tensor '{}' has {} values, expected {}", weights.description(), name, info.numel(), values.numel());
    const bool in_place = values.scalar_type() == at::kFloat && values.device().is_cpu() && values.is_contiguous();
    const at::Tensor read = in_place ? values : at::empty(values.sizes(), at::kFloat);
    weights.read_float(name, {read.data_ptr<float>(), static_cast<std::size_t>(read.numel())});
    if (!in_place) values.copy_(read);
}

Schedule schedule_from_name(const std::string& name) {
    return name == "linear" ? Schedule::linear : name == "constant" ? Schedule::constant : Schedule::cosine;
}

double learning_rate_at(Schedule schedule, double peak, std::int64_t step, std::int64_t warmup, std::int64_t total) {
    if (step < warmup) return peak * static_cast<double>(step + 1) / static_cast<double>(warmup);
    if (schedule == Schedule::constant || total <= warmup) return peak;
    const double progress = static_cast<double>(step - warmup) / static_cast<double>(total - warmup);
    if (schedule == Schedule::linear) return peak * (1 - progress);
    return peak * 0.5 * (1 + std::cos(std::numbers::pi * progress));
}

}  // namespace faceter
