#pragma once
#include <ATen/core/Tensor.h>

#include <string>

#include "checkpoint/weights.h"

namespace faceter {

/// Copies the weights' tensor of this name into `tensor`, which must have its shape. `expectation` stands before the shape of `tensor` in
/// the data error: "the encoder makes it".
void read_tensor_into(const Weights& weights, const std::string& name, const at::Tensor& tensor, std::string_view expectation);

}  // namespace faceter
