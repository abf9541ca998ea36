#pragma once
#include <ATen/core/Tensor.h>

#include <functional>
#include <string>
#include <vector>

#include "checkpoint/weights.h"
#include "common/json.h"
#include "model/parameters.h"

namespace faceter {

struct AdamWSettings {
    double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, weight_decay = 0.01;
};

/// Of the gradients that a step was taken with.
struct GradientNorms {
    at::Tensor each;                      ///< [n], where the gradients are; undefined: there were none
    std::vector<std::size_t> parameters;  ///< of each: which of the optimiser's it is
};

/// AdamW with decoupled weight decay (Loshchilov and Hutter, 2019), fused, not applied to norms and biases. Every parameter, and so every
/// expert, has its own moments and its own step count: an expert that a step does not use is left as it is, bit for bit.
class AdamW {
  public:
    AdamW(std::vector<Parameter> parameters, AdamWSettings settings);

    /// One step with the gradients at hand for shared parameters and those of the experts and adapters in use. Gradients are first scaled
    /// down to the norm `max_grad_norm` (0: never). Returns their norm before that, as a tensor: reading it is the caller's choice. Where
    /// it is not finite, parameters and moments stay as they are. Where these are a part of the parameters, `over_all` makes the norm of
    /// their gradients that of all.
    at::Tensor step(double learning_rate, double max_grad_norm, const UsedPaths& used,
                    const std::function<at::Tensor(const at::Tensor&)>& over_all = {});
    void zero_grad();
    const GradientNorms& norms() const { return norms_; }

    const std::vector<Parameter>& parameters() const { return parameters_; }
    /// Moments and step counts under "exp_avg.<name>", "exp_avg_sq.<name>", "step.<name>".
    std::vector<NamedTensor> state() const;
    void load(const Weights& state);

    struct Moments {
        at::Tensor first, second, steps;
    };
    Moments moments(std::size_t parameter) const { return {first_[parameter], second_[parameter], steps_[parameter]}; }

  private:
    std::vector<Parameter> parameters_;
    std::vector<at::Tensor> first_, second_, steps_;
    AdamWSettings settings_;
    GradientNorms norms_;
};

/// Reads a stored tensor into `values`, whatever their type; one that ranks have stored in parts NAME@BEGIN (its flat values from BEGIN on)
/// is put together. Errors (data): it is missing, or has another number of values.
void read_tensor(const Weights& weights, const std::string& name, const at::Tensor& values);

enum class Schedule { cosine, linear, constant };
Schedule schedule_from_name(const std::string& name);
/// The learning rate of step `step` (0-based) of `total`: a linear rise over the first `warmup` steps, then the schedule down to 0.
double learning_rate_at(Schedule schedule, double peak, std::int64_t step, std::int64_t warmup, std::int64_t total);

}  // namespace faceter
