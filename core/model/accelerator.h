#pragma once
#include <c10/core/Device.h>

#include <cstdint>
#include <string>

namespace faceter {

/// A process among those of its machine that compute together.
struct LocalPlace {
    int rank = 0, size = 1;
    bool sees_all = true;  ///< the machine's GPUs; false: its launcher may show each process its own alone
};

/// The device that a process computes on. `wanted`: "cpu"; "cuda", the GPU of its number among the processes of its machine; "auto", that
/// where there is one. Without the NVIDIA driver nothing of CUDA is opened, so this costs nothing on other machines. It must come ahead of
/// anything that draws random numbers through ATen. Errors (settings): "cuda" without a driver, without libtorch's CUDA half or its
/// libraries, or with fewer GPUs than processes (NCCL needs one for each).
c10::Device choose_device(const std::string& wanted, const LocalPlace& place = {});

/// Opens what CUDA needs, where there is a driver. A process that only may choose a device later calls this before anything else: PyTorch's
/// autograd counts the devices at its first backward pass, and cannot train on one that comes behind it.
void open_accelerators();

/// Whether a device works behind the host's back, on memory of its own and with CUDA's operators: the host copies there from pinned pages
/// without waiting, attention takes sequences of any lengths, and its memory is counted. Of CUDA it is true, and of a device that another
/// library registers in the place that PyTorch keeps for such (PrivateUse1): the tests' pretend device.
inline bool is_accelerator(const c10::Device& device) { return device.is_cuda() || device.is_privateuseone(); }

/// What the GPU can do that this process chose: its compute capability, ten times the first number and the second (80: an A100; 90: an
/// H100). Before one is chosen, and on shapes alone, 90.
int compute_capability();

/// Whether _grouped_mm of bfloat16 is one kernel there; elsewhere PyTorch brings the ends of the groups to the host in each product.
inline bool has_grouped_product() { return compute_capability() / 10 == 9 || compute_capability() / 10 == 10; }

/// Errors (settings): the device is a GPU from before Ampere, which has neither products of bfloat16 nor the attention that goes with them.
void require_bfloat16(const c10::Device& device);

/// Bytes that tensors hold on the device now, and at most since the process began, and what it has in all; 0 on a CPU.
struct DeviceMemory {
    std::uint64_t held = 0, most = 0, size = 0;
};
DeviceMemory device_memory(const c10::Device& device);

}  // namespace faceter
