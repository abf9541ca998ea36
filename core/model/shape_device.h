#pragma once
#include <cstdint>

namespace faceter {

/// PyTorch's meta device, whose tensors have shapes and no values, as an accelerator whose memory can be counted without having one. Models
/// move there (c10::kMeta), and what trains them on an accelerator runs there, since it reads no value; the operators that libtorch knows
/// for this device in Python only are registered here.
///
/// While one lives, the bytes of the device's tensors are counted as CUDA's allocator counts them, in blocks of 512. What cannot be
/// counted: the workspace inside of kernels, gaps between blocks, the driver's own. One at a time, on one thread.
class ShapeDevice {
  public:
    ShapeDevice();
    /// Of tensors made since this began and still there.
    std::uint64_t held() const;
    /// The most at any time since then.
    std::uint64_t most() const;

  private:
    std::int64_t before_;
};

}  // namespace faceter
