#include "serve/side_threads.h"

#include <utility>

namespace faceter::worker {

SideThreads::SideThreads(std::size_t count) {
    try {
        for (std::size_t i = 0; i < count; ++i) threads_.emplace_back([this] { work(); });
    } catch (...) {  // the system has no thread left
        end();
        throw;
    }
}

SideThreads::~SideThreads() { end(); }

void SideThreads::end() {
    {
        const std::lock_guard lock(mutex_);
        ending_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
}

void SideThreads::run(std::function<void()> task) {
    {
        const std::lock_guard lock(mutex_);
        tasks_.push_back(std::move(task));
    }
    wake_.notify_one();
}

void SideThreads::work() {
    for (;;) {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [&] { return ending_ || !tasks_.empty(); });
        if (ending_) return;
        const std::function<void()> task = std::move(tasks_.front());
        tasks_.pop_front();
        lock.unlock();
        task();
    }
}

}  // namespace faceter::worker
