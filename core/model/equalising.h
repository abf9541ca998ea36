#pragma once
#include <ATen/core/Tensor.h>

namespace faceter {

/// For a product in int8, [K]: what each column of the weights, [N, K], is multiplied by, and each element of the rows divided by, so that
/// elements far larger than others leave these their share of the integers (ProductWeights says more). `sizes` [K]: the root mean square of
/// each element.
at::Tensor equalising(const at::Tensor& weight, const at::Tensor& sizes);

}  // namespace faceter
