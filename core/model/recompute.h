#pragma once
#include <torch/csrc/autograd/variable.h>

#include <functional>

namespace faceter {

using torch::autograd::variable_list;

/// part(inputs), of which nothing but the inputs is kept for backward: it is run again then (activation checkpointing, Chen et al., 2016).
/// It must give the same values when it is run again; whatever else it uses, such as weights, gets its gradients from that second run.
/// Where no input needs a gradient it is simply run.
variable_list recomputed(const std::function<variable_list(const variable_list&)>& part, const variable_list& inputs);

}  // namespace faceter
