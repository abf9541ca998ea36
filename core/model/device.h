#pragma once
#include <ATen/core/Tensor.h>
#include <c10/core/Event.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace faceter {

/// The tensor on `device`. What comes from the host to an accelerator goes through pinned memory, so that nobody waits for it.
at::Tensor to_device(const at::Tensor& tensor, const c10::Device& device);

/// Decides what an accelerator's operations draw from here on. Called ahead of every pass in training, with what the pass depends on: a
/// pass that is taken again (the gradient cache, a resumed run) drops the same elements. On a CPU dropout has masks of its own
/// (DropoutSite).
void seed_device(const c10::Device& device, std::uint64_t seed);

/// A tensor on its way to the host: that of an accelerator is copied when it has come to it, and until somebody asks for it nobody waits.
class TensorOnTheWay {
  public:
    explicit TensorOnTheWay(const at::Tensor& tensor);
    /// On the host, contiguous; of shapes alone zeros. Waits for the accelerator to come to it, not for what it was given since.
    const at::Tensor& here() const;

  private:
    at::Tensor there_, here_;
    std::shared_ptr<c10::Event> arrival_;  ///< none: there is nothing to wait for
};

/// Numbers of several tensors on their way to the host, as above.
class NumbersOnTheWay {
  public:
    /// The elements of each tensor, wherever it is; an undefined one is a single 0, and of shapes alone all are 0.
    explicit NumbersOnTheWay(const std::vector<at::Tensor>& tensors);
    /// In the order of the tensors.
    std::vector<double> values() const;

  private:
    std::vector<double> values_;
    std::vector<std::pair<std::size_t, std::int64_t>> places_;  ///< in values_: the first and the count of each tensor of the accelerator
    std::optional<TensorOnTheWay> far_;                         ///< those, joined
};

/// The values of scalars, read in one go, the only time that the host waits. An undefined one is 0.
std::vector<double> read_scalars(const std::vector<at::Tensor>& scalars);

}  // namespace faceter
