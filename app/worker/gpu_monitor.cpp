#include "gpu_monitor.h"

#include <dlfcn.h>

#include <string_view>

#include "common/strings.h"

namespace faceter::worker {
namespace {

constexpr int success = 0;

struct Utilisation {
    unsigned gpu, memory;  // per cent
};
struct Memory {
    unsigned long long total, free, used;  // bytes
};

/// Item `index` of a list with commas; nothing where it has fewer.
std::optional<std::string> item(std::string_view list, int index) {
    for (; index > 0; --index) {
        const auto comma = list.find(',');
        if (comma == std::string_view::npos) return std::nullopt;
        list.remove_prefix(comma + 1);
    }
    return std::string(trim(list.substr(0, list.find(','))));
}

}  // namespace

/// nvml.h's functions that are used here; their layouts are part of its stable interface.
struct GpuMonitor::Library {
    void* handle = nullptr;
    int (*start)() = nullptr;
    int (*stop)() = nullptr;
    int (*by_index)(unsigned, void**) = nullptr;
    int (*by_uuid)(const char*, void**) = nullptr;
    int (*name)(void*, char*, unsigned) = nullptr;
    int (*utilisation)(void*, Utilisation*) = nullptr;
    int (*memory)(void*, Memory*) = nullptr;
    int (*power)(void*, unsigned*) = nullptr;  // milliwatts

    template <typename Function>
    bool find(const char* symbol, Function& function) const {
        function = reinterpret_cast<Function>(::dlsym(handle, symbol));
        return function != nullptr;
    }
    bool open(const std::string& file) {
        handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
        return handle && find("nvmlInit_v2", start) && find("nvmlShutdown", stop) && find("nvmlDeviceGetHandleByIndex_v2", by_index) &&
               find("nvmlDeviceGetHandleByUUID", by_uuid) && find("nvmlDeviceGetName", name) &&
               find("nvmlDeviceGetUtilizationRates", utilisation) && find("nvmlDeviceGetMemoryInfo", memory) &&
               find("nvmlDeviceGetPowerUsage", power) && start() == success;
    }
    ~Library() {
        if (stop) stop();
        if (handle) ::dlclose(handle);
    }
};

std::unique_ptr<GpuMonitor> GpuMonitor::open(int index, const std::string& visible, const std::string& file) {
    const auto library = std::make_shared<Library>();
    if (!library->open(file)) return nullptr;
    const auto place = visible.empty() ? std::optional<std::string>(std::to_string(index)) : item(visible, index);
    if (!place) return nullptr;
    std::unique_ptr<GpuMonitor> monitor(new GpuMonitor);
    const auto number = parse_int(*place);
    const int found =
        number ? library->by_index(static_cast<unsigned>(*number), &monitor->device_) : library->by_uuid(place->c_str(), &monitor->device_);
    if (found != success) return nullptr;
    char name[96] = "";
    if (library->name(monitor->device_, name, sizeof name) == success) monitor->name_ = name;
    monitor->library_ = library;
    return monitor;
}

std::optional<GpuMonitor::Sample> GpuMonitor::sample() const {
    Utilisation busy{};
    Memory memory{};
    unsigned milliwatts = 0;
    if (library_->utilisation(device_, &busy) != success || library_->memory(device_, &memory) != success) return std::nullopt;
    library_->power(device_, &milliwatts);  // some GPUs do not say
    return Sample{static_cast<double>(busy.gpu), static_cast<double>(memory.used) / (1 << 30), milliwatts / 1000.0};
}

}  // namespace faceter::worker
