#include "model/shortage.h"

#include "model/accelerator.h"

namespace faceter {

std::optional<std::string> shortage_of(const c10::Error& error, const c10::Device& device) {
    const std::string what = error.what_without_backtrace();
    const bool of_library =
        is_accelerator(device) && (what.find("out of memory") != std::string::npos || what.find("_ALLOC_FAILED") != std::string::npos);
    if (!of_library && !dynamic_cast<const c10::OutOfMemoryError*>(&error)) return std::nullopt;
    return what.substr(0, what.find('\n'));
}

}  // namespace faceter
