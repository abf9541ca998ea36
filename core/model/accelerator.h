#pragma once
#include <c10/core/Device.h>

#include <cstdint>
#include <string>

namespace faceter {

/// The device that a process computes on. `wanted`: "cpu"; "cuda", the GPU of its number among the processes of its machine; "auto", that
/// where there is one. Without the NVIDIA driver nothing of CUDA is opened, so this costs nothing on other machines. It must come ahead of
/// anything that draws random numbers through ATen. Errors (settings): "cuda" without a driver, without libtorch's CUDA half or its
/// libraries, or with fewer GPUs than processes.
c10::Device choose_device(const std::string& wanted, int local_rank = 0, int local_size = 1);

/// Bytes that tensors hold on the device now, and at most since the process began; 0 on a CPU.
struct DeviceMemory {
    std::uint64_t held = 0, most = 0;
};
DeviceMemory device_memory(const c10::Device& device);

}  // namespace faceter
