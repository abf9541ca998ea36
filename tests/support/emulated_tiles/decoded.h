#pragma once
#include <ucontext.h>

#include <cstddef>
#include <cstdint>

namespace faceter::testing {

enum class Operation { unknown, configure, release, zero, load, store, tdpbf16ps, tdpbusd, vdpbf16ps };

/// One instruction and what it works on.
struct Decoded {
    Operation operation = Operation::unknown;
    std::size_t length = 0;
    unsigned to = 0, first = 0, second = 0;  ///< numbers of registers; store: `to` is what is stored
    std::byte* memory = nullptr;             ///< vdpbf16ps: of `second`, where that is not a register
    std::size_t stride = 0;
    bool broadcast = false;
};

/// At `code`, for general registers as a signal finds them (ucontext_t). Encodings: Intel 64 and IA-32 Architectures Software Developer's
/// Manual, volume 2, chapter 2 (VEX, EVEX, ModR/M, SIB) and the instructions' own pages.
Decoded decode(const std::uint8_t* code, const greg_t* registers);

}  // namespace faceter::testing
