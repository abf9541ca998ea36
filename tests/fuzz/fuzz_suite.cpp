#include "common/error.h"
#include "compare/published.h"
#include "experiment/suite.h"
#include "memory_file.h"

using namespace faceter;

/// A list of data sets, or the tables of a paper.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static MemoryFile memory("input.yaml");
    const fs::path& file = memory.put(data, size);
    try {
        read_suite(file);
    } catch (const Error&) {
    }
    try {
        read_published(file);
    } catch (const Error&) {
    }
    return 0;
}
