#pragma once
#include <ATen/core/Tensor.h>

#include <optional>

#include "model/product_weights.h"

namespace faceter {

/// The matrix products of the float32 CPU path. What rows of activations are multiplied with in a forward pass goes through own kernels
/// (product_weights.h): a row's result depends on nothing beside it. So do the gradients of weights, which are added up where they stand,
/// and whatever is multiplied in bfloat16. The other products of backward go through oneDNN, whose kernels are made for the processor at
/// hand whoever built it: where ATen's default library takes its generic path (AMD), they are about twice as fast, elsewhere equal. Strided
/// operands (transposes) are taken as they are.

/// While one that is on lives, this thread's products round their operands to bfloat16 and add in float32, where the processor multiplies
/// bfloat16 (AMX, AVX512-BF16: two to three times as fast); elsewhere nothing changes. Everything between the products stays float32.
class Bf16Products {
  public:
    explicit Bf16Products(bool on);
    ~Bf16Products();
    static bool on();
    Bf16Products(const Bf16Products&) = delete;
    Bf16Products& operator=(const Bf16Products&) = delete;

  private:
    bool before_;
};

/// x w^T (+ bias): x [M, K], w [N, K] -> [M, N].
at::Tensor product_transposed(const at::Tensor& x, const at::Tensor& w, const at::Tensor& bias = {});
/// x w: x [M, K], w [K, N] -> [M, N].
inline at::Tensor product(const at::Tensor& x, const at::Tensor& w) { return product_transposed(x, w.t()); }

/// x w^T (+ bias) of a forward pass, without a gradient: w is laid out for this product, unless `prepared` has it.
at::Tensor forward_product(const at::Tensor& x, const at::Tensor& w, const at::Tensor& bias, const ProductWeights* prepared = nullptr);

/// Weights w [N, K] that the gradients of a product with them are multiplied by on their way back. What is multiplied in bf16 is laid out
/// once, by the own kernels; anything else goes through oneDNN in float32.
class BackwardWeights {
  public:
    explicit BackwardWeights(const at::Tensor& w);
    /// dy w: dy [T, N] -> [T, K].
    at::Tensor operator()(const at::Tensor& dy) const;

  private:
    at::Tensor plain_;
    std::optional<ProductWeights> prepared_;
};

/// The gradient of weights: dw [N, K] (+)= dy^T x, dy [T, N], x [T, K]. `add`: to what dw holds, else it is written.
void weight_gradient(const at::Tensor& dy, const at::Tensor& x, const at::Tensor& dw, bool add);

/// A linear layer with gradients: x [T, K], weight [N, K], bias [N] or undefined -> [T, N]. `prepared`: the weight laid out, where it is.
at::Tensor linear_layer(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, const ProductWeights* prepared = nullptr);
/// The same with full products, forward and backward, whatever Bf16Products says: routers and heads.
at::Tensor exact_linear_layer(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias = {});

}  // namespace faceter
