#include "train/device_backend.h"

#include <dlfcn.h>

#include <filesystem>

#include "common/error.h"
#include "common/library_file.h"

namespace faceter {
namespace {

/// Beside the library that this function is in.
std::filesystem::path module_file() { return beside_library_of(reinterpret_cast<const void*>(&open_nccl), "faceter/nccl.so"); }

}  // namespace

c10::intrusive_ptr<c10d::Backend> open_nccl(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size,
                                            std::chrono::milliseconds limit) {
    static const auto open = [] {
        if (void* brought = ::dlsym(RTLD_DEFAULT, "faceter_open_nccl"))  // by the library of another device
            return reinterpret_cast<decltype(&faceter_open_nccl)>(brought);
        const auto file = module_file();
        if (!std::filesystem::exists(file))
            throw settings_error("{} is missing, which joins several GPUs; run packaging/setup.sh --cuda and build again", file.string());
        void* module = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (!module) throw settings_error("{} cannot be loaded: {}", file.string(), ::dlerror());
        return reinterpret_cast<decltype(&faceter_open_nccl)>(::dlsym(module, "faceter_open_nccl"));
    }();
    c10::intrusive_ptr<c10d::Backend> opened;
    open(store, rank, size, limit, opened);
    return opened;
}

}  // namespace faceter
