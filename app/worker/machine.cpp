#include "machine.h"

#include <ATen/Parallel.h>
#include <sys/resource.h>
#include <torch/version.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <thread>

#include "common/build_commit.h"
#include "common/error.h"
#include "common/file_hash.h"
#include "common/strings.h"
#include "eval/embedder.h"
#include "experiment/manifest.h"
#include "model/accelerator.h"
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

/// Texts as they come to a server, of some lengths; the same for every model.
constexpr std::string_view latency_texts[] = {"How do I reset my password?", "lightweight web browser",
                                              "The train to the airport leaves every twenty minutes from platform two.",
                                              "Which medicines must not be taken together with grapefruit juice, and why?"};

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double lower_quartile(std::vector<double>& values) {
    const auto place = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 4);
    std::nth_element(values.begin(), place, values.end());
    return *place;
}

/// Seconds to embed one short text on its own, as a server would: the mean over the texts of each one's lower quartile over many rounds
/// (other programs only ever add time). A round takes each text once, so that a busy moment falls on all of them and on few rounds.
double single_text_latency(const EmbeddingModel& model) {
    constexpr std::size_t rounds = 111, fewest = 4, num_texts = std::size(latency_texts);
    constexpr double enough_s = 10;  // of a large model, whose rounds are long
    const Route route = model.routes.empty() ? Route{} : model.routes.begin()->second;
    std::vector<double> seconds[num_texts];
    const auto begin = std::chrono::steady_clock::now();
    for (std::size_t round = 0; round < rounds && (round < fewest || seconds_since(begin) < enough_s); ++round)
        for (std::size_t t = 0; t < num_texts; ++t) {
            const auto start = std::chrono::steady_clock::now();
            embed_texts(model, {&latency_texts[t], 1}, route);
            seconds[t].push_back(seconds_since(start));
        }
    double sum = 0;
    for (std::vector<double>& of_text : seconds) {
        of_text.erase(of_text.begin(), of_text.begin() + static_cast<std::ptrdiff_t>(of_text.size() / 10 + 1));  // caches fill
        sum += lower_quartile(of_text);
    }
    return sum / static_cast<double>(num_texts);
}

/// Of every plugin its version and its library's hash: two builds may call themselves alike.
Json plugins_json() {
    Json plugins = Json::object();
    for (const Manifest& plugin : find_plugins(plugin_folders()).manifests) {
        plugins[plugin.id] = {{"version", plugin.version}};
        try {
            plugins[plugin.id]["library"] = fmt::format("{:016x}", hash64_file(plugin.library()));
        } catch (const Error&) {  // it cannot be read, so that it will not be used
        }
    }
    return plugins;
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
            {"faceter", FACETER_VERSION},
            {"commit", build_commit},
            {"plugins", plugins_json()}};
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
            {"peak_memory_bytes", peak_memory_bytes()},
            {"peak_gpu_memory_bytes", device_memory(encoder.device()).most}};
}

}  // namespace faceter::worker
