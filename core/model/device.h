#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace faceter {

/// The tensor on `device`. What comes from the host to an accelerator goes through pinned memory, so that nobody waits for it.
at::Tensor to_device(const at::Tensor& tensor, const c10::Device& device);

/// Decides what an accelerator's operations draw from here on. Called ahead of every pass in training, with what the pass depends on: a
/// pass that is taken again (the gradient cache, a resumed run) drops the same elements. On a CPU dropout has masks of its own
/// (DropoutSite).
void seed_device(const c10::Device& device, std::uint64_t seed);

/// The values of scalars, wherever they are: those of a device are read in one go, the only time that the host waits. An undefined one is
/// 0.
std::vector<double> read_scalars(const std::vector<at::Tensor>& scalars);

}  // namespace faceter
