#include "experiment/machine.h"

#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "common/error.h"
#include "common/file.h"
#include "common/strings.h"
#include "experiment/finding.h"

namespace faceter {
namespace {

std::string small_file(const fs::path& path) {
    try {
        return read_file(path, 1 << 22);
    } catch (const std::exception&) {
        return "";
    }
}

/// The value of the first "key : value" line.
std::string value_of(const std::string& text, std::string_view key) {
    for (const std::string_view line : split(text, '\n')) {
        const std::size_t colon = line.find(':');
        if (colon != std::string_view::npos && trim(line.substr(0, colon)) == key) return std::string(trim(line.substr(colon + 1)));
    }
    return "";
}

std::uint64_t kibibytes(const std::string& text, std::string_view key) {
    const std::string value = value_of(text, key);
    return static_cast<std::uint64_t>(parse_int(value.substr(0, value.find(' '))).value_or(0)) * 1024;
}

std::vector<std::string> vector_instructions(const std::string& cpuinfo) {
    const std::string flags = " " + value_of(cpuinfo, "flags") + " ";
    std::vector<std::string> found;
    for (const char* name : {"avx2", "fma", "avx512f", "avx512_vnni", "avx512_bf16", "amx_tile", "amx_bf16"})
        if (flags.find(" " + std::string(name) + " ") != std::string::npos) found.emplace_back(name);
    return found;
}

std::vector<std::string> nvidia_gpus() {
    std::vector<std::string> models;
    std::error_code error;
    for (fs::directory_iterator it("/proc/driver/nvidia/gpus", error), end; !error && it != end; it.increment(error))
        if (const std::string model = value_of(small_file(it->path() / "information"), "Model"); !model.empty()) models.push_back(model);
    std::sort(models.begin(), models.end());
    return models;
}

/// FACETER_TORCH is the torch folder of a Python environment, which the launcher of packages, bundle and wheel has found.
std::string find_torch() {
    const char* named = std::getenv("FACETER_TORCH_ROOT");
    const char* launched = std::getenv("FACETER_TORCH");
    const fs::path torch = named && *named         ? fs::path(named) / "torch"
                           : launched && *launched ? fs::path(launched)
                                                   : cache_directory() / "torch-2.11.0" / "torch";
    const fs::path library = torch / "lib" / "libtorch_cpu.so";
    std::error_code unreadable;  // is none that could be used, and no end of a doctor's look
    return fs::exists(library, unreadable) ? library.string() : "";
}

}  // namespace

Machine this_machine() {
    const std::string cpuinfo = small_file("/proc/cpuinfo"), meminfo = small_file("/proc/meminfo");
    Machine machine;
    machine.processor = value_of(cpuinfo, "model name");
    machine.cores = usable_cores();
    machine.vector_instructions = vector_instructions(cpuinfo);
    machine.memory_bytes = kibibytes(meminfo, "MemTotal");
    machine.memory_available_bytes = kibibytes(meminfo, "MemAvailable");
    machine.gpus = nvidia_gpus();
    machine.torch = find_torch();
    return machine;
}

int usable_cores() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (::sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) return CPU_COUNT(&set);
    return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

Json examine_installation(const Catalogue& catalogue) {
    Json problems = Json::array(), plugins = Json::array(), folders = Json::array();
    for (const Manifest& plugin : catalogue.plugins().manifests) plugins.push_back(plugin.id + " " + plugin.version);
    for (const fs::path& folder : plugin_folders()) folders.push_back(folder.string());
    for (const DoctorFinding& finding : find_in_installation(catalogue)) problems.push_back(finding.what);
    const Machine machine = this_machine();
    return {{"version", FACETER_VERSION},
            {"processor", machine.processor},
            {"cores", machine.cores},
            {"vector_instructions", machine.vector_instructions},
            {"memory_bytes", machine.memory_bytes},
            {"memory_available_bytes", machine.memory_available_bytes},
            {"gpus", machine.gpus},
            {"libtorch", machine.torch},
            {"cache", cache_directory().string()},
            {"plugin_folders", folders},
            {"plugins", plugins},
            {"problems", problems}};
}

fs::path shared_resource(std::string_view relative) {
    std::vector<fs::path> places;
    if (const char* named = std::getenv("FACETER_DATA_DIR"); named && *named) places.emplace_back(named);
    places.push_back(program_folder() / ".." / "share" / "faceter");
    places.push_back(program_folder() / ".." / ".." / "..");
    std::string tried;
    for (const fs::path& place : places) {
        const fs::path file = (place / relative).lexically_normal();
        if (fs::exists(file)) return file;
        tried += (tried.empty() ? "" : ", ") + file.string();
    }
    throw failure("{} is missing from this installation (looked for {}; FACETER_DATA_DIR names another place)", relative, tried);
}

fs::path worker_program() {
    if (const char* named = std::getenv("FACETER_WORKER"); named && *named) return named;
    const fs::path beside = program_folder() / "faceter-worker";
    if (!fs::exists(beside))
        throw failure("{}: no such program; it trains, lies beside faceter (or set FACETER_WORKER), and is in the package faceter-worker",
                      beside.string());
    return beside;
}

}  // namespace faceter
