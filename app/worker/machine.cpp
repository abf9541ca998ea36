#include "machine.h"

#include <ATen/Parallel.h>
#include <sys/resource.h>
#include <torch/version.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <thread>

#include "common/strings.h"
#include "eval/embedder.h"
#include "model/kernels/kernels.h"

namespace faceter::worker {
namespace {

constexpr std::int64_t reference_length = 128;

std::string processor_name() {
    std::ifstream info("/proc/cpuinfo");
    for (std::string line; std::getline(info, line);)
        if (line.starts_with("model name")) return std::string(trim(line.substr(line.find(':') + 1)));
    return "unknown";
}

/// Median seconds to embed one short text, as a server would.
double single_text_latency(const EmbeddingModel& model) {
    const std::string_view text = "How do I reset my password?";
    const Route route = model.routes.empty() ? Route{} : model.routes.begin()->second;
    std::vector<double> seconds;
    for (int i = 0; i < 25; ++i) {
        const auto start = std::chrono::steady_clock::now();
        embed_texts(model, {&text, 1}, route);
        if (i >= 5) seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    std::nth_element(seconds.begin(), seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2), seconds.end());
    return seconds[seconds.size() / 2];
}

}  // namespace

std::uint64_t peak_memory_bytes() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

Json machine_json() {
    char host[256] = "unknown";
    ::gethostname(host, sizeof host - 1);
    return {{"host", host},
            {"processor", processor_name()},
            {"kernels", kernels::kernels().instruction_set},
            {"cores", std::thread::hardware_concurrency()},
            {"threads", at::get_num_threads()},
            {"memory_bytes", static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE))},
            {"libtorch", TORCH_VERSION},
            {"faceter", FACETER_VERSION}};
}

Json model_measurements(const EmbeddingModel& model) {
    std::int64_t total = 0;
    for (const auto& encoder : model.encoders) total += encoder->total_parameters();
    const Encoder& encoder = *model.encoders.front();
    return {{"total_parameters", total},
            {"active_parameters", encoder.active_parameters()},
            {"multiply_adds_per_token", encoder.multiply_adds_per_token(reference_length)},
            {"multiply_adds_at_length", reference_length},
            {"encode_latency_ms", 1000 * single_text_latency(model)},
            {"peak_memory_bytes", peak_memory_bytes()}};
}

}  // namespace faceter::worker
