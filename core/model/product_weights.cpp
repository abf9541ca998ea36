#include "model/product_weights.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "model/matrix.h"
#include "model/ops_common.h"

namespace faceter {
namespace {

std::int64_t parts_of(std::int64_t whole, std::int64_t part) { return (whole + part - 1) / part; }

std::int64_t padded_depth(ProductForm form, std::int64_t depth) {
    const auto step = static_cast<std::int64_t>(kernels::depth_step(form));
    return parts_of(depth, step) * step;
}

at::Tensor as_given(const at::Tensor& weight) {
    const at::Tensor plain = weight.detach();
    return plain.scalar_type() == at::kFloat || plain.scalar_type() == at::kBFloat16 ? plain : plain.to(at::kFloat);
}

/// What each column of the weights is multiplied by, and each element of the rows divided by.
at::Tensor equalising(const at::Tensor& weight, const at::Tensor& largest) {
    const at::Tensor of_weights = weight.to(at::kFloat).abs().amax(0);
    return at::where((largest > 0) & (of_weights > 0), (largest / of_weights).sqrt(), at::ones_like(largest));
}

/// Panels that one task lays out.
constexpr std::int64_t panels_a_task = 4;

}  // namespace

double ProductError::relative() const { return squared_size > 0 ? std::sqrt(squared_error / squared_size) : 0; }

ProductWeights::ProductWeights(const at::Tensor& weight, ProductForm form, const at::Tensor& largest)
    : form_(form), rows_(weight.size(0)), depth_(weight.size(1)), table_(kernels::products(form)) {
    const bool equalised = form == ProductForm::int8 && largest.defined();
    const at::Tensor steps = equalised ? equalising(weight.detach(), largest) : at::Tensor();
    factors_ = equalised ? steps.reciprocal() : at::empty({0}, at::kFloat);
    const at::Tensor given = equalised ? weight.detach().to(at::kFloat) * steps : as_given(weight);
    const auto panel = static_cast<std::int64_t>(table_.panel_rows), panels = num_panels();
    const std::int64_t panel_bytes = panel * padded_depth(form, depth_) * static_cast<std::int64_t>(kernels::weight_bytes(form));
    values_ = at::empty({panels * panel_bytes}, at::kByte);
    scales_ = at::empty({form == ProductForm::int8 ? panels * panel : 0}, at::kFloat);
    sums_ = at::empty({form == ProductForm::int8 ? panels * panel : 0}, at::kInt);
    const kernels::GivenWeights from{given.const_data_ptr(),
                                     given.scalar_type() == at::kBFloat16,
                                     static_cast<std::size_t>(given.stride(0)),
                                     static_cast<std::size_t>(given.stride(1)),
                                     static_cast<std::size_t>(rows_),
                                     static_cast<std::size_t>(depth_)};
    auto* values = static_cast<std::byte*>(values_.data_ptr());
    auto* scales = scales_.data_ptr<float>();
    auto* sums = sums_.data_ptr<std::int32_t>();
    parallel_tasks(parts_of(panels, panels_a_task), [&](std::int64_t task) {
        const std::int64_t first = task * panels_a_task, last = std::min(panels, first + panels_a_task);
        const std::int64_t row = form_ == ProductForm::int8 ? first * panel : 0;
        table_.pack(form_, from, static_cast<std::size_t>(first), static_cast<std::size_t>(last), values + first * panel_bytes,
                    scales + row, sums + row);
    });
}

std::int64_t ProductWeights::num_panels() const { return parts_of(rows_, static_cast<std::int64_t>(table_.panel_rows)); }

kernels::WeightPanels ProductWeights::panels() const {
    return {form_,
            static_cast<std::size_t>(rows_),
            static_cast<std::size_t>(depth_),
            static_cast<const std::byte*>(values_.const_data_ptr()),
            scales_.const_data_ptr<float>(),
            sums_.const_data_ptr<std::int32_t>()};
}

std::size_t ProductWeights::scratch(std::int64_t rows) const {
    const std::size_t a_row = kernels::activation_stride(form_, static_cast<std::size_t>(depth_)) + sizeof(kernels::RowScale);
    return static_cast<std::size_t>(rows) * a_row / sizeof(float) + 16;
}

void ProductWeights::multiply(const float* x, std::int64_t x_stride, std::int64_t rows, const float* bias, float* y, std::int64_t y_stride,
                              std::int64_t first, std::int64_t last, float* scratch) const {
    const auto count = static_cast<std::size_t>(rows), depth = static_cast<std::size_t>(depth_);
    auto* scales = reinterpret_cast<kernels::RowScale*>(scratch);
    auto* values = reinterpret_cast<std::byte*>(scales + count);
    table_.prepare(form_, x, static_cast<std::size_t>(x_stride), count, depth, factors_.numel() > 0 ? data(factors_) : nullptr, values,
                   scales);
    table_.multiply(panels(), {values, scales, count}, static_cast<std::size_t>(first), static_cast<std::size_t>(last), bias, y,
                    static_cast<std::size_t>(y_stride));
}

void ProductWeights::measure(std::shared_ptr<const ProductWeights> other, std::shared_ptr<ProductError> error) {
    compared_ = std::move(other);
    error_ = std::move(error);
}

void ProductWeights::look_at(const at::Tensor& x, const at::Tensor& y, const at::Tensor& bias) const {
    const at::Tensor largest = x.abs().amax(0);
    error_->largest = error_->largest.defined() ? at::maximum(error_->largest, largest) : largest;
    if (!compared_) return;
    error_->squared_error += (product(x, *compared_, bias) - y).square().sum(at::kDouble).item<double>();
    error_->squared_size += y.square().sum(at::kDouble).item<double>();
}

std::int64_t rows_a_task(std::int64_t rows, std::int64_t width) {
    constexpr std::int64_t most = 192, cached_floats = 1 << 18;
    const auto tile = static_cast<std::int64_t>(kernels::products(ProductForm::float32).tile_rows);
    const std::int64_t fitting = std::clamp(cached_floats / std::max<std::int64_t>(1, width), 4 * tile, most) / tile * tile;
    return std::min(fitting, parts_of(parts_of(rows, at::get_num_threads()), tile) * tile);
}

at::Tensor product(const at::Tensor& x, const ProductWeights& weights, const at::Tensor& bias) {
    const at::Tensor in = x.detach().contiguous();
    const std::int64_t rows = in.size(0), n = weights.rows(), k = weights.depth(), step = rows_a_task(rows, k);
    const at::Tensor y = at::empty({rows, n}, in.options());
    if (rows == 0) return y;
    // Few rows: the columns are shared out as well.
    const std::int64_t blocks = parts_of(rows, step), panels = weights.num_panels();
    const std::int64_t groups = std::min(panels, blocks >= at::get_num_threads() ? 1 : parts_of(at::get_num_threads(), blocks));
    parallel_tasks(blocks * groups, [&](std::int64_t task) {
        const std::int64_t begin = task / groups * step, count = std::min(step, rows - begin), group = task % groups;
        weights.multiply(data(in) + begin * k, k, count, bias.defined() ? data(bias) : nullptr, data(y) + begin * n, n,
                         panels * group / groups, panels * (group + 1) / groups, thread_scratch(weights.scratch(count)));
    });
    if (weights.is_measured()) weights.look_at(in, y, bias);
    return y;
}

ProductForm unprepared_form(at::ScalarType weight) {
    if (Bf16Products::on() && kernels::multiplies_natively(ProductForm::bf16)) return ProductForm::bf16;
    return weight == at::kBFloat16 ? ProductForm::widened : ProductForm::float32;
}

}  // namespace faceter
