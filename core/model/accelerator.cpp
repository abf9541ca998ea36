#include "model/accelerator.h"

#include <ATen/Context.h>
#include <ATen/DeviceAccelerator.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <c10/util/Exception.h>
#include <dlfcn.h>

#include <atomic>
#include <filesystem>
#include <optional>

#include "common/error.h"
#include "common/library_file.h"

namespace faceter {
namespace {

namespace fs = std::filesystem;

/// libtorch's CUDA half lies beside its CPU half, which this process has open.
fs::path torch_cuda_file() { return beside_library_of(reinterpret_cast<const void*>(&at::globalContext), "libtorch_cuda.so"); }

/// What stands in for CUDA where a library in this process has registered a device of its own.
std::optional<c10::DeviceType> registered_accelerator() {
    return at::isPrivateUse1HooksRegistered() ? std::optional(c10::kPrivateUse1) : std::nullopt;
}

constexpr int usual_capability = 90;

std::atomic<int>& chosen_capability() {
    static std::atomic<int> one{usual_capability};
    return one;
}

/// Of the GPU of that number, from the driver: PyTorch tells it in CUDA's headers alone.
int capability_of(int index) {
    constexpr int first_number = 75, second_number = 76;  // of CUdevice_attribute
    void* driver = ::dlopen("libcuda.so.1", RTLD_LAZY);
    if (!driver) return usual_capability;
    const auto device_of = reinterpret_cast<int (*)(int*, int)>(::dlsym(driver, "cuDeviceGet"));
    const auto attribute = reinterpret_cast<int (*)(int*, int, int)>(::dlsym(driver, "cuDeviceGetAttribute"));
    int device = 0, first = 0, second = 0;
    const bool told = device_of && attribute && device_of(&device, index) == 0 && attribute(&first, first_number, device) == 0 &&
                      attribute(&second, second_number, device) == 0;
    return told ? 10 * first + second : usual_capability;
}

/// Drops what PyTorch says of operators that it knows no fixed order for.
struct WithoutOrders final : c10::WarningHandler {
    void process(const c10::Warning& warning) override {
        if (warning.msg().find("determinis") == std::string::npos) c10::WarningHandler::process(warning);
    }
};

/// The same bits from the same run: sums in an order of their own wherever CUDA's operators have one. cuBLAS has one without
/// CUBLAS_WORKSPACE_CONFIG: PyTorch gives each of its streams a workspace. Where that is set, it compiles a regular expression to read it
/// again in every product, half the time of a step of small batches.
void keep_orders() {
    at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/true);
    at::globalContext().setDeterministicFillUninitializedMemory(false);
    static WithoutOrders handler;
    c10::WarningUtils::set_warning_handler(&handler);
}

/// Why a driver shows no GPU: in its own words, and whether it is older than the CUDA that is there needs. It ends with what to do.
std::string without_gpu(void* driver) {
    const auto start = reinterpret_cast<int (*)(unsigned)>(::dlsym(driver, "cuInit"));
    const auto text_of = reinterpret_cast<int (*)(int, const char**)>(::dlsym(driver, "cuGetErrorString"));
    const auto served_by = reinterpret_cast<int (*)(int*)>(::dlsym(driver, "cuDriverGetVersion"));
    const auto needed_by = reinterpret_cast<int (*)(int*)>(::dlsym(RTLD_DEFAULT, "cudaRuntimeGetVersion"));
    const auto name = [](int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); };
    int served = 0, needed = 0;
    if (served_by && needed_by && served_by(&served) == 0 && needed_by(&needed) == 0 && served / 1000 < needed / 1000)
        return fmt::format("the NVIDIA driver serves CUDA {}, and libtorch here is of CUDA {}; update the driver", name(served),
                           name(needed));
    const char* text = nullptr;
    const int code = start ? start(0) : 0;
    const bool told = code != 0 && text_of && text_of(code, &text) == 0 && text;
    return fmt::format("the NVIDIA driver shows no GPU{}; look at nvidia-smi and CUDA_VISIBLE_DEVICES",
                       told ? fmt::format(" ({})", text) : "");
}

/// Opens what CUDA needs, once; what is missing otherwise, and what to do.
const std::optional<std::string>& why_no_cuda() {
    static const auto problem = []() -> std::optional<std::string> {
        void* driver = ::dlopen("libcuda.so.1", RTLD_LAZY);
        if (!driver) return "there is no NVIDIA driver here (libcuda.so.1)";
        const fs::path file = torch_cuda_file();
        if (!fs::exists(file))
            return file.string() + " is missing; run packaging/setup.sh --cuda, or give the bundle a torch with CUDA (--torch DIR)";
        if (!::dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL))
            return file.string() + " cannot be loaded: " + ::dlerror();  // operators register as it opens
        if (at::accelerator::deviceCount() < 1) return without_gpu(driver);
        return std::nullopt;
    }();
    return problem;
}

}  // namespace

void open_accelerators() {
    if (!registered_accelerator()) why_no_cuda();
}

c10::Device choose_device(const std::string& wanted, const LocalPlace& place) {
    if (wanted == "cpu") return c10::Device(c10::kCPU);
    const auto registered = registered_accelerator();
    if (const auto problem = registered ? std::nullopt : why_no_cuda()) {
        if (wanted == "auto") return c10::Device(c10::kCPU);
        throw settings_error("device: cuda is asked for, but {}", *problem);
    }
    const int count = at::accelerator::deviceCount();
    if (place.size > count && (place.sees_all || count > 1))
        throw settings_error(
            "{} processes would share {} of this machine, and NCCL needs one for each; start {} (--devices {}), or compute "
            "on the processor (device: cpu)",
            place.size, count == 1 ? "the one GPU" : fmt::format("the {} GPUs", count), count, count);
    const auto index = static_cast<c10::DeviceIndex>(place.rank % count);
    at::accelerator::setDeviceIndex(index);
    if (!registered) {
        keep_orders();
        chosen_capability() = capability_of(index);
    }
    return {registered.value_or(c10::kCUDA), index};
}

int compute_capability() {
    static const auto brought = reinterpret_cast<int (*)()>(::dlsym(RTLD_DEFAULT, "faceter_compute_capability"));  // by another device
    return brought ? brought() : chosen_capability().load();
}

void require_bfloat16(const c10::Device& device) {
    constexpr int ampere = 80;
    const int capability = compute_capability();
    if (is_accelerator(device) && capability < ampere)
        throw settings_error(
            "{} is a GPU of compute capability {}.{}, and bfloat16 needs one of 8.0 (Ampere) or newer; leave precision: bf16 out, or "
            "--compute bf16",
            device.str(), capability / 10, capability % 10);
}

DeviceMemory device_memory(const c10::Device& device) {
    if (!is_accelerator(device)) return {};
    const auto bytes = at::accelerator::getDeviceStats(device.index()).allocated_bytes[0];  // a copy: the statistics are a temporary
    return {static_cast<std::uint64_t>(bytes.current), static_cast<std::uint64_t>(bytes.peak),
            static_cast<std::uint64_t>(at::accelerator::getMemoryInfo(device.index()).second)};
}

}  // namespace faceter
