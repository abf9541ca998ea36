#pragma once
#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <unordered_map>

namespace faceter::testing::pretend {

/// Tensors of the host over the memory of a device's. What shares storage there shares it here, and the same tensor gives the same alias.
class Aliases {
  public:
    /// A tensor of the host, or one that is undefined, is itself.
    at::Tensor of(const at::Tensor& there);
    /// What a CPU kernel returned, as the device's: the tensor that was given; a view of one; else a copy.
    at::Tensor back(const at::Tensor& here, const c10::Device& device) const;
    /// What a kernel has resized is resized there as well.
    void take_over_sizes() const;

  private:
    struct Pair {
        at::Tensor there, here;
    };
    at::Storage storage_of(const at::Storage& there);
    std::unordered_map<const c10::TensorImpl*, Pair> by_there_;
    std::unordered_map<const c10::StorageImpl*, at::Storage> storages_;  ///< here by there
    std::unordered_map<const c10::StorageImpl*, at::Storage> origins_;   ///< there by here
};

/// The fallback of every operator: the CPU's kernel on aliases.
void run_on_aliases(const c10::OperatorHandle& op, torch::jit::Stack* stack);

/// What the CPU's kernels draw from in place of the device's generator.
at::Generator host_generator(int device);

}  // namespace faceter::testing::pretend
