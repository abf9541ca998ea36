#pragma once
#include <ATen/core/Tensor.h>

#include <array>
#include <vector>

namespace faceter {

/// Points in the plane of their two largest principal components.
struct Projection {
    std::vector<float> x, y;                  ///< [N], centred
    std::array<double, 2> explained{0, 0};    ///< share of the variance along each, 0 to 1
    std::array<std::vector<double>, 2> axes;  ///< [D] each, orthogonal, of length 1; zeros where there is no variance
};

/// Principal component analysis of the rows of `points` [N, D], in float64 through the eigenvectors of the covariance. Deterministic: the
/// entry of an axis with the largest absolute value (the first of equals) is positive.
Projection project_to_plane(const at::Tensor& points);

}  // namespace faceter
