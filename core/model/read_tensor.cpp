#include "model/read_tensor.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "common/error.h"

namespace faceter {

void read_tensor_into(const Weights& weights, const std::string& name, const at::Tensor& tensor, std::string_view expectation) {
    const TensorInfo& info = weights.at(name);
    if (!std::equal(info.shape.begin(), info.shape.end(), tensor.sizes().begin(), tensor.sizes().end()))
        throw data_error("{}: tensor '{}' has shape [{}], {} [{}]", weights.description(), name, fmt::join(info.shape, ", "), expectation,
                         fmt::join(tensor.sizes(), ", "));
    const at::Tensor values = at::empty(tensor.sizes(), at::kFloat);
    weights.read_float(name, {values.data_ptr<float>(), static_cast<std::size_t>(values.numel())});
    tensor.detach().copy_(values);
}

}  // namespace faceter
