#pragma once
#include <memory>
#include <optional>
#include <string>

namespace faceter::worker {

/// One GPU as NVIDIA's management library sees it, whoever uses it. The library is opened when it is asked for: it comes with the driver.
class GpuMonitor {
  public:
    /// The GPU that CUDA numbers `index` in this process; null where there is no library or no such GPU. `visible`: CUDA_VISIBLE_DEVICES, a
    /// list of numbers or identifiers ("GPU-8f3c..."); empty: all.
    static std::unique_ptr<GpuMonitor> open(int index, const std::string& visible, const std::string& library = "libnvidia-ml.so.1");

    struct Sample {
        double busy_percent = 0;  ///< of the time since the library's last sample in which a kernel ran
        double memory_gib = 0;    ///< in use
        double power_w = 0;
    };
    std::optional<Sample> sample() const;
    /// "NVIDIA H100 80GB HBM3".
    const std::string& name() const { return name_; }

  private:
    struct Library;
    GpuMonitor() = default;
    std::shared_ptr<const Library> library_;
    void* device_ = nullptr;
    std::string name_;
};

}  // namespace faceter::worker
