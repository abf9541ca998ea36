#pragma once
#include <ATen/core/Tensor.h>
#include <c10/core/Event.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace faceter {

/// The tensor on `device`. What comes from the host to an accelerator goes through pinned memory, so that nobody waits for it.
at::Tensor to_device(const at::Tensor& tensor, const c10::Device& device);

/// Decides what an accelerator's operations draw from here on. Called ahead of every pass in training, with what the pass depends on: a
/// pass that is taken again (the gradient cache, a resumed run) drops the same elements. On a CPU dropout has masks of its own
/// (DropoutSite).
void seed_device(const c10::Device& device, std::uint64_t seed);

/// Numbers on their way to the host: those of an accelerator are copied when it has come to them, and until somebody asks for them nobody
/// waits.
class NumbersOnTheWay {
  public:
    /// The elements of each tensor, wherever it is; an undefined one is a single 0, and of shapes alone all are 0.
    explicit NumbersOnTheWay(const std::vector<at::Tensor>& tensors);
    /// In the order of the tensors. Waits for the accelerator to come to them, not for what it was given since.
    std::vector<double> values() const;

  private:
    struct Arrival;
    std::vector<double> values_;
    std::vector<std::pair<std::size_t, std::int64_t>> places_;  ///< in values_: the first and the count of each tensor of the accelerator
    std::shared_ptr<Arrival> arrival_;                          ///< none: there is nothing to wait for
};

/// Rows on their way to the host, in float32: as above. Of shapes alone they are zeros.
class RowsOnTheWay {
  public:
    explicit RowsOnTheWay(const at::Tensor& rows);
    /// On the host, contiguous. Waits for the accelerator to come to them.
    const at::Tensor& rows() const;

  private:
    at::Tensor there_, here_;
    std::shared_ptr<c10::Event> arrival_;  ///< none: there is nothing to wait for
};

/// The values of scalars, read in one go, the only time that the host waits. An undefined one is 0.
std::vector<double> read_scalars(const std::vector<at::Tensor>& scalars);

}  // namespace faceter
