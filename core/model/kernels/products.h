#pragma once
#include <cstddef>
#include <cstdint>

/// Products of rows of activations with a matrix of weights: y = x W^T + bias. The weights are laid out once, in panels of some of their
/// rows. Every element of y is one sum over the depth in one order, whatever rows are beside it and however the work is shared out: a row
/// of y has the same bits in any company. No torch here.
namespace faceter::kernels {

/// What is multiplied, and how.
enum class ProductForm {
    float32,
    widened,  ///< weights kept in bfloat16, multiplied in float32
    bf16,     ///< both rounded to bfloat16, summed in float32
    int8      ///< weights scaled per row and group of the depth to [-127, 127], activations alike to [0, 255], summed in int32
};

/// Elements of the depth that are multiplied together.
constexpr std::size_t depth_step(ProductForm form) { return form == ProductForm::int8 ? 4 : form == ProductForm::bf16 ? 2 : 1; }
/// Bytes of one weight in its panel, and of one prepared activation.
constexpr std::size_t weight_bytes(ProductForm form) { return form == ProductForm::float32 ? 4 : form == ProductForm::int8 ? 1 : 2; }
constexpr std::size_t activation_bytes(ProductForm form) { return form == ProductForm::int8 ? 1 : form == ProductForm::bf16 ? 2 : 4; }
/// Bytes from one prepared row of activations to the next: as long as the padded depth, and never a multiple of a page, so that rows do not
/// compete for the same lines of the cache.
constexpr std::size_t activation_stride(ProductForm form, std::size_t depth) {
    const std::size_t step = depth_step(form), bytes = (depth + step - 1) / step * step * activation_bytes(form);
    return (bytes + 63) / 64 * 64 + 64;
}

/// int8: elements of the depth that share a scale. The depth is in equal groups of at most as many; in fewer and larger ones, single large
/// elements leave too little for the others (MiniLM's vectors are off by a third more with 1,536 together).
constexpr std::size_t largest_group = 384;
constexpr std::size_t num_groups(ProductForm form, std::size_t depth) {
    return form == ProductForm::int8 && depth > largest_group ? (depth + largest_group - 1) / largest_group : 1;
}
/// A multiple of depth_step(); the last group may have less.
constexpr std::size_t group_depth(ProductForm form, std::size_t depth) {
    const std::size_t step = depth_step(form), groups = num_groups(form, depth);
    return ((depth + groups - 1) / groups + step - 1) / step * step;
}

/// A matrix of weights as it is given: element (n, k) at n * row_step + k * column_step.
struct GivenWeights {
    const void* values;
    bool bf16;  ///< else float32
    std::size_t row_step, column_step, rows, depth;
};

/// A matrix of weights in panels.
struct WeightPanels {
    ProductForm form;
    std::size_t rows, depth;
    const std::byte* values;
    const float* scales;       ///< of int8, [panel][group][row]: what a row's part was divided by
    const std::int32_t* sums;  ///< of int8, alike: of the row's quantised weights
};

/// How a group of a row of activations became integers: x = scale * (q - zero).
struct RowScale {
    float scale;
    std::int32_t zero;
};

/// Activations as their product wants them.
struct PreparedRows {
    const std::byte* values;  ///< rows activation_stride() apart
    const RowScale* scales;   ///< of int8, [row][group]
    std::size_t rows;
};

/// Some rows of the gradient of a matrix of weights. Rows of dy, x and dw are `*_stride` floats apart.
struct OuterProduct {
    const float *dy, *x;  ///< [steps, rows], [steps, columns]
    std::size_t dy_stride, x_stride;
    std::size_t steps, rows, columns;
    float* dw;  ///< [rows, columns]
    std::size_t dw_stride;
    bool add;  ///< to what dw holds; else dw is written
};
/// Steps of the sum that a pass over dw takes.
constexpr std::size_t outer_steps = 256;

struct ProductTable {
    const char* instruction_set;
    std::size_t panel_rows;  ///< rows of weights in a panel
    std::size_t tile_rows;   ///< rows of activations that are multiplied together: multiples of it go fastest

    /// Lays panels [first, last) of `given` out: at `values` the first of them. int8: `scales` and `sums` of their rows as well.
    void (*pack)(ProductForm form, const GivenWeights& given, std::size_t first, std::size_t last, std::byte* values, float* scales,
                 std::int32_t* sums);
    /// x [rows, depth], rows x_stride floats apart. int8: element k is multiplied by factors[k] first, where these are not null.
    void (*prepare)(ProductForm form, const float* x, std::size_t x_stride, std::size_t rows, std::size_t depth, const float* factors,
                    std::byte* values, RowScale* scales);
    /// Columns of y that panels [first, last) hold; y begins at column 0, its rows y_stride floats apart. bias may be null.
    void (*multiply)(const WeightPanels& weights, const PreparedRows& x, std::size_t first, std::size_t last, const float* bias, float* y,
                     std::size_t y_stride);
    /// The gradient of weights, in float32: dw[n, k] (+)= sum over t of dy[t, n] x[t, k], the sum in the order of t. `scratch`: as many
    /// floats as outer_scratch() of this table says.
    void (*add_outer)(const OuterProduct& product, float* scratch);
};

/// Floats of scratch that add_outer() needs for so many rows of dw.
std::size_t outer_scratch(const ProductTable& table, std::size_t rows);

/// The table of the best instruction set that this processor has for this form. Tables of different instruction sets lay panels out
/// differently; panels go with the table that made them. (FACETER_CPU as in kernels.h; AMX is taken only where it is not set.)
const ProductTable& products(ProductForm form);
/// Whether the processor has instructions for this form, so that it is faster than float32.
bool multiplies_natively(ProductForm form);

extern const ProductTable generic_products;
extern const ProductTable avx2_products;
extern const ProductTable avx512_products;
extern const ProductTable avx512_vnni_products;
extern const ProductTable avx512_bf16_products;
extern const ProductTable amx_products;

}  // namespace faceter::kernels
