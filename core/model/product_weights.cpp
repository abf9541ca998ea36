#include "model/product_weights.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/equalising.h"
#include "model/matrix.h"
#include "model/ops_common.h"

namespace faceter {
namespace {

std::int64_t parts_of(std::int64_t whole, std::int64_t part) { return (whole + part - 1) / part; }

std::int64_t padded_depth(ProductForm form, std::int64_t depth) {
    const auto step = static_cast<std::int64_t>(kernels::depth_step(form));
    return parts_of(depth, step) * step;
}

std::int64_t groups_of(ProductForm form, std::int64_t depth) {
    return static_cast<std::int64_t>(kernels::num_groups(form, static_cast<std::size_t>(depth)));
}

at::Tensor as_given(const at::Tensor& weight) {
    const at::Tensor plain = weight.detach();
    return plain.scalar_type() == at::kFloat || plain.scalar_type() == at::kBFloat16 ? plain : plain.to(at::kFloat);
}

/// Panels that one task lays out.
constexpr std::int64_t panels_a_task = 4;

}  // namespace

at::Tensor equalising(const at::Tensor& weight, const at::Tensor& sizes) {
    const at::Tensor of_weights = weight.to(at::kFloat).abs().amax(0);
    return at::where((sizes > 0) & (of_weights > 0), (sizes / of_weights).sqrt(), at::ones_like(sizes));
}

double ProductError::relative() const {
    if (!std::isfinite(squared_error)) return std::numeric_limits<double>::infinity();
    return squared_size > 0 ? std::sqrt(squared_error / squared_size) : 0;
}

at::Tensor ProductError::sizes() const { return rows > 0 ? (squares / static_cast<double>(rows)).sqrt().to(at::kFloat) : at::Tensor(); }

ProductWeights::ProductWeights(const at::Tensor& weight, ProductForm form, const at::Tensor& sizes)
    : form_(form), rows_(weight.size(0)), depth_(weight.size(1)), table_(kernels::products(form)) {
    const bool equalised = form == ProductForm::int8 && sizes.defined();
    const at::Tensor steps = equalised ? equalising(weight.detach(), sizes) : at::Tensor();
    factors_ = equalised ? steps.reciprocal() : at::empty({0}, at::kFloat);
    const at::Tensor given = equalised ? weight.detach().to(at::kFloat) * steps : as_given(weight);
    const auto panel = static_cast<std::int64_t>(table_.panel_rows), panels = num_panels();
    const std::int64_t panel_bytes = panel * padded_depth(form, depth_) * static_cast<std::int64_t>(kernels::weight_bytes(form));
    values_ = at::empty({panels * panel_bytes}, at::kByte);
    const std::int64_t panel_scales = form == ProductForm::int8 ? panel * groups_of(form, depth_) : 0;
    scales_ = at::empty({panels * panel_scales}, at::kFloat);
    sums_ = at::empty({panels * panel_scales}, at::kInt);
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
        table_.pack(form_, from, static_cast<std::size_t>(first), static_cast<std::size_t>(last), values + first * panel_bytes,
                    scales + first * panel_scales, sums + first * panel_scales);
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
    const std::size_t a_row = kernels::activation_stride(form_, static_cast<std::size_t>(depth_)) +
                              static_cast<std::size_t>(groups_of(form_, depth_)) * sizeof(kernels::RowScale);
    return static_cast<std::size_t>(rows) * a_row / sizeof(float) + 16;
}

void ProductWeights::multiply(const float* x, std::int64_t x_stride, std::int64_t rows, const float* bias, float* y, std::int64_t y_stride,
                              std::int64_t first, std::int64_t last, float* scratch) const {
    const auto count = static_cast<std::size_t>(rows), depth = static_cast<std::size_t>(depth_);
    auto* scales = reinterpret_cast<kernels::RowScale*>(scratch);
    auto* values = reinterpret_cast<std::byte*>(scales + count * kernels::num_groups(form_, depth));
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
    const at::Tensor squares = x.square().sum(0, false, at::kDouble);
    error_->squares = error_->squares.defined() ? error_->squares + squares : squares;
    error_->rows += x.size(0);
    if (!compared_) return;
    error_->squared_error += (product(x, *compared_, bias) - y).square().sum(at::kDouble).item<double>();
    error_->squared_size += y.square().sum(at::kDouble).item<double>();
}

std::int64_t rows_a_task(std::int64_t rows, std::int64_t width) {
    constexpr std::int64_t most = 192, cached_floats = 1 << 17;  // half of a second cache of 1 MiB: weights pass through it as well
    const auto tile = static_cast<std::int64_t>(kernels::products(ProductForm::float32).tile_rows);
    const std::int64_t fitting = std::clamp(cached_floats / std::max<std::int64_t>(1, width), 4 * tile, most) / tile * tile;
    // As many for each thread, and at least one.
    const std::int64_t threads = at::get_num_threads(), all = std::max<std::int64_t>(1, rows);
    return parts_of(parts_of(all, parts_of(parts_of(all, fitting), threads) * threads), tile) * tile;
}

at::Tensor product(const at::Tensor& x, const ProductWeights& weights, const at::Tensor& bias) {
    const at::Tensor y = at::empty({x.size(0), weights.rows()}, x.options().requires_grad(false));
    multiply_into(x, weights, bias, y);
    return y;
}

void multiply_into(const at::Tensor& x, const ProductWeights& weights, const at::Tensor& bias, const at::Tensor& y) {
    const at::Tensor in = x.detach().contiguous();
    const std::int64_t rows = in.size(0), n = weights.rows(), k = weights.depth(), step = rows_a_task(rows, k);
    if (rows == 0) return;
    // Few rows: the columns are shared out as well.
    const std::int64_t blocks = parts_of(rows, step), panels = weights.num_panels();
    const std::int64_t groups = std::min(panels, blocks >= at::get_num_threads() ? 1 : parts_of(at::get_num_threads(), blocks));
    parallel_tasks(blocks * groups, [&](std::int64_t task) {
        const std::int64_t begin = task / groups * step, count = std::min(step, rows - begin), group = task % groups;
        weights.multiply(data(in) + begin * k, k, count, bias.defined() ? data(bias) : nullptr, data(y) + begin * n, n,
                         panels * group / groups, panels * (group + 1) / groups, thread_scratch(weights.scratch(count)));
    });
    if (weights.is_measured()) weights.look_at(in, y, bias);
}

namespace {

/// Rows of dw that one task takes: their part of dy stays in the second cache, and every thread has some.
std::int64_t outer_rows_a_task(std::int64_t rows) {
    constexpr std::int64_t most = 192;
    const auto tile = static_cast<std::int64_t>(kernels::products(ProductForm::float32).tile_rows);
    return std::min(most / tile * tile, parts_of(parts_of(rows, at::get_num_threads()), tile) * tile);
}

}  // namespace

void add_outer(const at::Tensor& dy, const at::Tensor& x, const at::Tensor& dw, bool add) {
    const at::Tensor by = dy.stride(1) == 1 ? dy : dy.contiguous(), of = x.stride(1) == 1 ? x : x.contiguous();
    const kernels::ProductTable& table = kernels::products(ProductForm::float32);
    const std::int64_t rows = dw.size(0), step = outer_rows_a_task(rows);
    if (rows == 0) return;
    const auto size = [](std::int64_t value) { return static_cast<std::size_t>(value); };
    parallel_tasks(parts_of(rows, step), [&](std::int64_t task) {
        const std::int64_t begin = task * step, count = std::min(step, rows - begin);
        table.add_outer({data(by) + begin, data(of), size(by.stride(0)), size(of.stride(0)), size(by.size(0)), size(count),
                         size(of.size(1)), data(dw) + begin * dw.size(1), size(dw.size(1)), add},
                        thread_scratch(kernels::outer_scratch(table, size(count))));
    });
}

ProductForm unprepared_form(at::ScalarType weight) {
    if (Bf16Products::on() && kernels::multiplies_natively(ProductForm::bf16)) return ProductForm::bf16;
    return weight == at::kBFloat16 ? ProductForm::widened : ProductForm::float32;
}

}  // namespace faceter
