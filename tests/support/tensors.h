#pragma once
#include <ATen/ATen.h>
#include <torch/csrc/autograd/variable.h>

#include "checkpoint/weights.h"

namespace faceter::testing {

/// A tensor of a safetensors file in its own type (f32, f64, i64).
inline at::Tensor read_tensor(const SafetensorsFile& file, const std::string& name) {
    const TensorInfo* info = file.find(name);
    if (!info) throw std::runtime_error("no tensor " + name);
    const auto type = info->dtype == DType::f64 ? at::kDouble : info->dtype == DType::i64 ? at::kLong : at::kFloat;
    at::Tensor tensor = at::empty(info->shape, type);
    file.read(*info, tensor.data_ptr());
    return tensor;
}

inline double max_difference(const at::Tensor& a, const at::Tensor& b) {
    return (a.to(at::kDouble) - b.to(at::kDouble)).abs().max().item<double>();
}
/// Largest difference relative to the largest entry of `expected`.
inline double relative_difference(const at::Tensor& got, const at::Tensor& expected) {
    return max_difference(got, expected) / std::max(1e-30, expected.to(at::kDouble).abs().max().item<double>());
}

}  // namespace faceter::testing
