#include "eval/projection.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

namespace faceter {
namespace {

constexpr double no_variance = 1e-14;  // of the largest: rounding, not a direction

void fix_sign(std::vector<double>& axis) {
    const auto largest = std::max_element(axis.begin(), axis.end(), [](double a, double b) { return std::abs(a) < std::abs(b) - 1e-12; });
    if (largest == axis.end() || *largest >= 0) return;
    for (double& value : axis) value = -value;
}

std::vector<double> to_vector(const at::Tensor& values) {
    const at::Tensor flat = values.contiguous();
    return {flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel()};
}

}  // namespace

Projection project_to_plane(const at::Tensor& points) {
    const std::int64_t n = points.size(0), dim = points.size(1);
    Projection result;
    result.x.assign(static_cast<std::size_t>(n), 0);
    result.y.assign(static_cast<std::size_t>(n), 0);
    for (auto& axis : result.axes) axis.assign(static_cast<std::size_t>(dim), 0);
    if (n < 2) return result;
    const at::Tensor centred = points.to(at::kDouble) - points.to(at::kDouble).mean(0, true);  // [N, D]
    const auto [values, vectors] = at::linalg_eigh(at::matmul(centred.t(), centred), "L");     // [D] ascending, [D, D]
    const std::vector<double> variances = to_vector(values.clamp_min(0));
    double total = 0;
    for (const double v : variances) total += v;
    const std::int64_t components = std::min<std::int64_t>(2, dim);
    for (std::int64_t c = 0; c < components; ++c) {
        const double variance = variances[static_cast<std::size_t>(dim - 1 - c)];
        if (!(variance > no_variance * variances.back())) break;
        std::vector<double> axis = to_vector(vectors.select(1, dim - 1 - c));
        fix_sign(axis);
        const at::Tensor along = at::mv(centred, at::from_blob(axis.data(), {dim}, at::kDouble)).to(at::kFloat).contiguous();  // [N]
        (c == 0 ? result.x : result.y).assign(along.data_ptr<float>(), along.data_ptr<float>() + n);
        result.explained[static_cast<std::size_t>(c)] = variance / total;
        result.axes[static_cast<std::size_t>(c)] = std::move(axis);
    }
    return result;
}

}  // namespace faceter
