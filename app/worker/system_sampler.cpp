#include "system_sampler.h"

#include <unistd.h>

#include <chrono>

#include "common/strings.h"
#include "record/process_stat.h"

namespace faceter::worker {
namespace {

constexpr auto interval = std::chrono::seconds(10);

/// Of this process since it started: seconds of processor time, resident bytes, threads.
struct ProcessUsage {
    double cpu_s = 0;
    std::uint64_t resident_bytes = 0;
    std::int64_t threads = 0;
};

ProcessUsage process_usage() {
    constexpr std::size_t utime = 14, stime = 15, num_threads = 20, rss = 24;  // proc(5) counts from 1
    const auto fields = process_stat(::getpid());
    const auto field = [&](std::size_t number) { return fields.size() > number - 3 ? parse_int(fields[number - 3]).value_or(0) : 0; };
    return {static_cast<double>(field(utime) + field(stime)) / static_cast<double>(::sysconf(_SC_CLK_TCK)),
            static_cast<std::uint64_t>(field(rss)) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)), field(num_threads)};
}

}  // namespace

SystemSampler::SystemSampler(JournalWriter& journal, std::unique_ptr<GpuMonitor> gpu)
    : journal_(journal), gpu_(std::move(gpu)), thread_([this] { watch(); }) {}

SystemSampler::~SystemSampler() {
    {
        const std::lock_guard lock(mutex_);
        closing_ = true;
    }
    wake_.notify_all();
    thread_.join();
}

void SystemSampler::watch() {
    auto then = std::chrono::steady_clock::now();
    double cpu_then = process_usage().cpu_s;
    std::unique_lock lock(mutex_);
    while (!wake_.wait_for(lock, interval, [this] { return closing_; })) {
        try {
            const ProcessUsage usage = process_usage();
            const auto now = std::chrono::steady_clock::now();
            Json sample = {{"cpu_percent", 100 * (usage.cpu_s - cpu_then) / std::chrono::duration<double>(now - then).count()},
                           {"memory_gib", static_cast<double>(usage.resident_bytes) / (1 << 30)},
                           {"threads", usage.threads}};
            if (const auto gpu = gpu_ ? gpu_->sample() : std::nullopt)
                sample.update({{"gpu_percent", gpu->busy_percent}, {"gpu_memory_gib", gpu->memory_gib}, {"gpu_power_w", gpu->power_w}});
            journal_.sample(sample);
            then = now, cpu_then = usage.cpu_s;
        } catch (const std::exception&) {
            // A disk that refuses is met by the main thread at its next event, where it can be reported.
        }
    }
}

}  // namespace faceter::worker
