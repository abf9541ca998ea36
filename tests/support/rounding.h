#pragma once
#include <torch/csrc/autograd/variable.h>

#include "model/encoder.h"
#include "support/backbones.h"
#include "support/tensors.h"

/// How far gradients in a narrower type may be from the exact ones, measured of the very model that is tested.
namespace faceter::testing {

inline constexpr double last_place_f32 = 0x1p-23, last_place_bf16 = 0x1p-7;

inline std::vector<Parameter> all_parameters(const Encoder& encoder) {
    std::vector<Parameter> all = encoder.parameters();
    for (std::size_t a = 0; a < encoder.adapters().size(); ++a)
        for (const Parameter& p : encoder.adapter_parameters(a)) all.push_back(p);
    return all;
}

/// Each weight off by one in its last place, up or down by chance.
inline void move_weights(const Encoder& encoder, double last_place, std::uint64_t seed) {
    const at::NoGradGuard no_grad;
    at::manual_seed(seed);
    for (const Parameter& p : all_parameters(encoder)) {
        const at::Tensor weight = p.tensor.detach();
        weight.mul_(1 + last_place * at::randint(0, 2, weight.sizes(), weight.options()).mul_(2).sub_(1));
    }
}

/// Lengths; what is not defined is zero.
inline double size_of(const at::Tensor& t) { return t.defined() ? t.to(at::kDouble).norm().item<double>() : 0; }
inline double apart(const at::Tensor& a, const at::Tensor& b) {
    return a.defined() && b.defined() ? size_of(a.to(at::kDouble) - b.to(at::kDouble)) : size_of(a) + size_of(b);
}

/// Empty where the gradients `got` are the `exact` ones (of `names`) but for rounding, else the first that is not. The rounding of a pass
/// is about what moving each weight in its last place does: `moved` are exact gradients of such copies. Each gradient may be off by
/// `factor` times the most that it moved there; and since one that cancels out is what rounding leaves of its terms, by the rounding of
/// one as large as the largest of all.
inline std::string beyond_rounding(const std::vector<std::string>& names, const std::vector<at::Tensor>& got,
                                   const std::vector<at::Tensor>& exact, const std::vector<std::vector<at::Tensor>>& moved,
                                   double last_place, double factor = noise_factor) {
    double largest = 0;
    for (const at::Tensor& gradient : exact) largest = std::max(largest, size_of(gradient));
    for (std::size_t i = 0; i < got.size(); ++i) {
        if (got[i].defined() != exact[i].defined()) return names[i] + " has a gradient in one of them alone";
        if (!got[i].defined()) continue;
        double noise = last_place * largest;
        for (const auto& copy : moved) noise = std::max(noise, apart(copy[i], exact[i]));
        const double times = apart(got[i], exact[i]) / noise;
        if (!(times <= factor)) return names[i] + ": off by " + std::to_string(times) + " times the rounding";
    }
    return "";
}

/// Gradients of `pass` (encoder -> scalar loss) with respect to these parameters of it.
template <typename Pass, typename Of>
std::vector<at::Tensor> gradients_of(const Encoder& encoder, const Pass& pass, const Of& parameters_of) {
    const std::vector<Parameter> parameters = parameters_of(encoder);
    for (const Parameter& p : parameters) p.tensor.mutable_grad() = at::Tensor();
    pass(encoder).backward();
    std::vector<at::Tensor> gradients;
    for (const Parameter& p : parameters) gradients.push_back(p.tensor.grad());
    return gradients;
}

/// beyond_rounding() of the gradients of a pass in float32 against the same in float64. `parameters_of` names what is trained.
template <typename Pass, typename Of>
std::string beyond_float32(const Encoder& encoder, const Pass& pass, const Of& parameters_of) {
    const auto in_double = [&](std::uint64_t seed) {
        const auto copy = encoder.clone(at::kDouble);
        if (seed > 0) move_weights(*copy, last_place_f32, seed);
        for (const Parameter& p : parameters_of(*copy)) p.tensor.requires_grad_(true);
        return gradients_of(*copy, pass, parameters_of);
    };
    std::vector<std::string> names;
    for (const Parameter& p : parameters_of(encoder)) {
        names.push_back(p.name);
        p.tensor.requires_grad_(true);
    }
    return beyond_rounding(names, gradients_of(encoder, pass, parameters_of), in_double(0), {in_double(1), in_double(2), in_double(3)},
                           last_place_f32);
}

}  // namespace faceter::testing
