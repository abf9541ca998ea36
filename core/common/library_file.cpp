#include "common/library_file.h"

#include <dlfcn.h>

namespace faceter {

std::filesystem::path beside_library_of(const void* symbol, const std::filesystem::path& name) {
    Dl_info library{};
    if (::dladdr(symbol, &library) == 0 || !library.dli_fname) return {};
    return std::filesystem::absolute(library.dli_fname).parent_path() / name;
}

}  // namespace faceter
