#pragma once
#include <chrono>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

namespace faceter {

/// What sends an accelerator's tensors between ranks: NCCL, from the module LIB/faceter/nccl.so. Its operations are queued behind the
/// tensors' own and none waits for the host. `limit`: after which one that is not done ends the process. Errors (settings): the module is
/// not built, or cannot be loaded.
c10::intrusive_ptr<c10d::Backend> open_nccl(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size,
                                            std::chrono::milliseconds limit);

}  // namespace faceter

/// The module's only function.
extern "C" void faceter_open_nccl(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size, std::chrono::milliseconds limit,
                                  c10::intrusive_ptr<c10d::Backend>& opened);
