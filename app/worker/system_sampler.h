#pragma once
#include <condition_variable>
#include <mutex>
#include <thread>

#include "run/journal.h"

namespace faceter::worker {

/// What this process takes of its machine, in the journal every ten seconds as event `system`: cpu_percent (of one core; 200 are two busy cores) since the
/// sample before, memory_gib (resident), threads.
class SystemSampler {
  public:
    explicit SystemSampler(JournalWriter& journal);
    ~SystemSampler();
    SystemSampler(const SystemSampler&) = delete;
    SystemSampler& operator=(const SystemSampler&) = delete;

  private:
    void watch();

    JournalWriter& journal_;
    std::mutex mutex_;
    std::condition_variable wake_;
    bool closing_ = false;
    std::thread thread_;
};

}  // namespace faceter::worker
