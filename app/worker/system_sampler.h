#pragma once
#include <condition_variable>
#include <mutex>
#include <thread>

#include "gpu_monitor.h"
#include "record/journal.h"

namespace faceter::worker {

/// What this process takes of its machine, in the journal every ten seconds as event `system`: cpu_percent (of one core; 200 are two busy
/// cores) since the sample before, memory_gib (resident), threads; with a GPU also gpu_percent, gpu_memory_gib and gpu_power_w of it.
class SystemSampler {
  public:
    explicit SystemSampler(JournalWriter& journal, std::unique_ptr<GpuMonitor> gpu = nullptr);
    ~SystemSampler();
    SystemSampler(const SystemSampler&) = delete;
    SystemSampler& operator=(const SystemSampler&) = delete;

  private:
    void watch();

    JournalWriter& journal_;
    std::unique_ptr<GpuMonitor> gpu_;
    std::mutex mutex_;
    std::condition_variable wake_;
    bool closing_ = false;
    std::thread thread_;
};

}  // namespace faceter::worker
