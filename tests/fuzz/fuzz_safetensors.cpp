#include <cstring>

#include "checkpoint/safetensors.h"
#include "fuzz.h"

/// The input is a whole file.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return fuzz_one(data, size, [](std::string_view file) {
        std::uint64_t length = 0;
        if (file.size() < sizeof length) return;
        std::memcpy(&length, file.data(), sizeof length);
        if (length > file.size() - sizeof length)
            length = file.size() - sizeof length;  // so that changes of the length still reach the parser
        const auto header = faceter::parse_safetensors_header(file.substr(8, length), file.size(), "input");
        for (const faceter::TensorInfo& info : header.tensors) {
            FUZZ_CHECK(info.offset >= 8 + length && info.offset <= file.size() && info.bytes <= file.size() - info.offset);
            FUZZ_CHECK(static_cast<std::uint64_t>(info.numel()) * faceter::dtype_size(info.dtype) == info.bytes);
        }
    });
}
