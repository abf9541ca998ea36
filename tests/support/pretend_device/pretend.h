#pragma once
#include <c10/core/Device.h>

#include <cstdint>
#include <map>
#include <string>

/// The pretend accelerator, as tests see it. Linking the library registers it.
namespace faceter::testing::pretend {

constexpr int num_devices = 2;
inline c10::Device device(int index = 0) { return {c10::kPrivateUse1, static_cast<c10::DeviceIndex>(index)}; }

/// What was asked of the devices since reset_counts(). Bytes are CUDA's: whole blocks of 512.
struct Counts {
    std::int64_t operators = 0;    ///< that would each be a kernel, or several
    std::int64_t waits = 0;        ///< of the host for a device
    std::int64_t allocations = 0;  ///< of blocks, whether new or used before
    std::uint64_t held = 0;        ///< bytes now
    std::uint64_t most = 0;        ///< bytes at any time
};
Counts counts();
void reset_counts();
/// Of each place in a program that made the host wait ("operator, called by function"): how often.
std::map<std::string, std::int64_t> waits_by_place();
/// Of each operator: how often it ran.
std::map<std::string, std::int64_t> operators_by_name();

/// The devices have what a GPU of that compute capability has (80: an A100). Default: FACETER_PRETEND_CAPABILITY, else 90, an H100's.
void set_capability(int capability);
int capability();

/// A device has so many bytes. Default: 4 GiB.
void limit_memory(std::uint64_t bytes);
/// The n-th allocation from now fails for want of memory (1: the next), and those behind it succeed again; 0: none does.
void fail_allocation(std::int64_t n);

}  // namespace faceter::testing::pretend
