#include "plugin/abi.h"

#include <fmt/format.h>
#include <torch/version.h>

namespace faceter {

std::string build_fingerprint() {
#if defined(__SANITIZE_ADDRESS__)
    constexpr const char* sanitizer = "address";
#elif defined(__SANITIZE_THREAD__)
    constexpr const char* sanitizer = "thread";
#else
    constexpr const char* sanitizer = "none";
#endif
    return fmt::format("cxx_abi={};cxx11_strings={};torch={};faceter={};sanitizer={}", __GXX_ABI_VERSION, _GLIBCXX_USE_CXX11_ABI, TORCH_VERSION,
                       FACETER_VERSION, sanitizer);
}

}  // namespace faceter
