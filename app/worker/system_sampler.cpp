#include "system_sampler.h"

#include <unistd.h>

#include <chrono>

#include "common/file.h"
#include "common/strings.h"

namespace faceter::worker {
namespace {

constexpr auto interval = std::chrono::seconds(10);

}  // namespace

ProcessUsage process_usage() {
    // proc(5): what follows the name, which may hold anything but ends with the last parenthesis; utime is field 14, stime 15, num_threads 20, rss 24.
    const std::string stat = read_file("/proc/self/stat");
    const auto fields = split(std::string_view(stat).substr(stat.rfind(')') + 2), ' ');
    const auto field = [&](std::size_t number) { return fields.size() > number - 3 ? parse_int(trim(fields[number - 3])).value_or(0) : 0; };
    ProcessUsage usage;
    usage.cpu_s = static_cast<double>(field(14) + field(15)) / static_cast<double>(::sysconf(_SC_CLK_TCK));
    usage.threads = static_cast<int>(field(20));
    usage.resident_bytes = static_cast<std::uint64_t>(field(24)) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    return usage;
}

SystemSampler::SystemSampler(JournalWriter& journal) : journal_(journal), thread_([this] { watch(); }) {}

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
            journal_.sample({{"cpu_percent", 100 * (usage.cpu_s - cpu_then) / std::chrono::duration<double>(now - then).count()},
                             {"memory_gib", static_cast<double>(usage.resident_bytes) / (1 << 30)},
                             {"threads", usage.threads}});
            then = now, cpu_then = usage.cpu_s;
        } catch (const std::exception&) {
            // A disk that refuses is met by the main thread at its next event, where it can be reported.
        }
    }
}

}  // namespace faceter::worker
