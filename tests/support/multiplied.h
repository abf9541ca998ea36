#pragma once
#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "model/kernels/products.h"
#include "support/guarded_bytes.h"

namespace faceter::testing {

/// y = x w^T + bias by one table, w given with any strides. x, what is laid out, and y end where nothing may be touched.
inline at::Tensor multiplied(const kernels::ProductTable& table, kernels::ProductForm form, const at::Tensor& x, const at::Tensor& w,
                             const at::Tensor& bias) {
    const auto n = static_cast<std::size_t>(w.size(0)), k = static_cast<std::size_t>(w.size(1)), rows = static_cast<std::size_t>(x.size(0));
    const std::size_t step = kernels::depth_step(form), panels = (n + table.panel_rows - 1) / table.panel_rows;
    const GuardedBytes values(panels * table.panel_rows * ((k + step - 1) / step * step) * kernels::weight_bytes(form));
    const std::size_t groups = kernels::num_groups(form, k);
    std::vector<float> scales(panels * groups * table.panel_rows);
    std::vector<std::int32_t> sums(panels * groups * table.panel_rows);
    const kernels::GivenWeights given{w.const_data_ptr(),
                                      w.scalar_type() == at::kBFloat16,
                                      static_cast<std::size_t>(w.stride(0)),
                                      static_cast<std::size_t>(w.stride(1)),
                                      n,
                                      k};
    table.pack(form, given, 0, panels, values.data(), scales.data(), sums.data());
    const GuardedBytes in(rows * k * sizeof(float)), prepared(rows * kernels::activation_stride(form, k)), y(rows * n * sizeof(float));
    std::copy_n(x.contiguous().data_ptr<float>(), rows * k, in.as<float>());
    std::vector<kernels::RowScale> row_scales(rows * groups);
    table.prepare(form, in.as<float>(), k, rows, k, nullptr, prepared.data(), row_scales.data());
    std::fill_n(y.as<float>(), rows * n, std::nanf(""));
    table.multiply({form, n, k, values.data(), scales.data(), sums.data()}, {prepared.data(), row_scales.data(), rows}, 0, panels,
                   bias.defined() ? bias.data_ptr<float>() : nullptr, y.as<float>(), n);
    return at::from_blob(y.data(), {x.size(0), w.size(0)}, at::kFloat).clone();
}

}  // namespace faceter::testing
