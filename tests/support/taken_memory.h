#pragma once
#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>

#include <algorithm>

namespace faceter::testing {

/// Bytes of tensors on the host that this thread has taken while one is its PROFILER_STATE (c10::DebugInfoGuard): now, and at most.
class TakenMemory final : public c10::MemoryReportingInfoBase {
  public:
    void reportMemoryUsage(void*, std::int64_t bytes, std::size_t, std::size_t, c10::Device) override {
        now_ += bytes;
        most_ = std::max(most_, now_);
    }
    bool memoryProfilingEnabled() const override { return true; }
    std::int64_t now() const { return now_; }
    std::int64_t most() const { return most_; }

  private:
    std::int64_t now_ = 0, most_ = 0;
};

}  // namespace faceter::testing
