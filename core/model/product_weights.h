#pragma once
#include <ATen/core/Tensor.h>

#include <memory>
#include <string_view>
#include <vector>

#include "model/kernels/products.h"

namespace faceter {

using kernels::ProductForm;

/// How much a product's results differ from those in float32, over all rows that pass.
struct ProductError {
    double squared_error = 0, squared_size = 0;
    at::Tensor squares;  ///< [K]: of each element of the rows, the sum of its squares; undefined where no row passed
    std::int64_t rows = 0;
    /// Of the results' length; 0 where no row passed.
    double relative() const;
    /// [K]: how large each element is, the root of its mean square; undefined where no row passed.
    at::Tensor sizes() const;
};

/// A matrix of weights [N, K] laid out once for y = x W^T on the CPU (kernels/products.h). A row of y has the same bits alone and in any
/// batch, on any number of threads.
class ProductWeights {
  public:
    /// `weight`: [N, K] float32 or bfloat16, strided as it comes; it is not kept. `sizes` [K], for int8: how large each element of the rows
    /// is (ProductError::sizes()). Elements far larger than others leave these too few of the integers; half of that difference, as a
    /// power, goes to the weights then (SmoothQuant, Xiao et al., 2023, equation 4; with root mean squares of activations in the place of
    /// their largest values, which loses less here).
    ProductWeights(const at::Tensor& weight, ProductForm form, const at::Tensor& sizes = {});

    std::int64_t rows() const { return rows_; }
    std::int64_t depth() const { return depth_; }
    ProductForm form() const { return form_; }
    std::int64_t bytes() const { return values_.nbytes() + scales_.nbytes() + sums_.nbytes() + factors_.nbytes(); }

    /// Floats of scratch that multiply() needs for so many rows.
    std::size_t scratch(std::int64_t rows) const;
    std::int64_t num_panels() const;
    /// y = x W^T + bias, in the columns of panels [first, last): x [rows, depth()] rows x_stride floats apart, y alike. bias may be null.
    void multiply(const float* x, std::int64_t x_stride, std::int64_t rows, const float* bias, float* y, std::int64_t y_stride,
                  std::int64_t first, std::int64_t last, float* scratch) const;
    /// The same in all columns.
    void multiply(const float* x, std::int64_t x_stride, std::int64_t rows, const float* bias, float* y, std::int64_t y_stride,
                  float* scratch) const {
        multiply(x, x_stride, rows, bias, y, y_stride, 0, num_panels(), scratch);
    }

    /// Looks at every x that passes through product(): how large its elements are, and what `other`, unless it is null, makes of it.
    void measure(std::shared_ptr<const ProductWeights> other, std::shared_ptr<ProductError> error);
    bool is_measured() const { return error_ != nullptr; }

  private:
    friend void multiply_into(const at::Tensor& x, const ProductWeights& weights, const at::Tensor& bias, const at::Tensor& y);
    kernels::WeightPanels panels() const;
    void look_at(const at::Tensor& x, const at::Tensor& y, const at::Tensor& bias) const;

    ProductForm form_;
    std::int64_t rows_, depth_;
    const kernels::ProductTable& table_;
    at::Tensor values_, scales_, sums_, factors_;
    std::shared_ptr<const ProductWeights> compared_;
    std::shared_ptr<ProductError> error_;
};
using ProductPointer = std::shared_ptr<const ProductWeights>;

/// x W^T (+ bias): x [T, K] float32 -> [T, N]. No gradient.
at::Tensor product(const at::Tensor& x, const ProductWeights& weights, const at::Tensor& bias = {});
/// The same into y [T, N], contiguous.
void multiply_into(const at::Tensor& x, const ProductWeights& weights, const at::Tensor& bias, const at::Tensor& y);

/// The gradient of weights, in float32: dw [N, K] (+)= dy^T x, dy [T, N], x [T, K]; the sum over T goes in its order, on any number of
/// threads. `add`: to what dw holds, else it is written. Rows of x and dy may stand apart, dw is contiguous.
void add_outer(const at::Tensor& dy, const at::Tensor& x, const at::Tensor& dw, bool add);

/// Rows that one task takes of `rows`, where results of `width` floats a row should stay in the cache: a multiple of what the processor
/// multiplies at once, so many that every thread has some.
std::int64_t rows_a_task(std::int64_t rows, std::int64_t width);

/// The form in which this thread's passes multiply weights of this type that nobody has prepared (matrix.h, Bf16Products).
ProductForm unprepared_form(at::ScalarType weight);

}  // namespace faceter
