#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace faceter::worker {

/// Threads for work that must not hold up the one that has it: each takes the task that has waited longest.
class SideThreads {
  public:
    explicit SideThreads(std::size_t count);
    /// Tasks that have begun come to their end, the others are dropped.
    ~SideThreads();
    SideThreads(const SideThreads&) = delete;
    SideThreads& operator=(const SideThreads&) = delete;

    /// `task` must not throw.
    void run(std::function<void()> task);

  private:
    void work();
    void end();
    std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<std::function<void()>> tasks_;
    bool ending_ = false;
    std::vector<std::thread> threads_;
};

}  // namespace faceter::worker
