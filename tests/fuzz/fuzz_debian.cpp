#include "common/error.h"
#include "data/debian_packages.h"
#include "memory_file.h"

using namespace faceter;

/// Package lists of apt, the same bytes as the list of packages and as the translation.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static MemoryFile packages("x_Packages"), translation("x_Translation-en");
    DebianLists lists;
    lists.packages = {packages.put(data, size)};
    lists.translations = {translation.put(data, size)};
    try {
        DebianPackages::read(lists);
    } catch (const Error&) {
    }
    return 0;
}
