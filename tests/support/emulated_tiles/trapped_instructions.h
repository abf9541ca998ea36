#pragma once
#include <cstdint>

/// Runs machine code with instructions that this processor lacks: AMX's, and VDPBF16PS. Each raises a signal where it is met, whose handler
/// does what the manual says (emulated_tiles.h) and goes on behind it. So tests run what is shipped, to the encoding of each instruction,
/// wherever there is AVX-512; where the processor has an instruction it is the processor that runs it.
namespace faceter::testing {

/// From here on, on every thread. Whether avx512_bf16_products and amx_products run then: not without AVX-512 and VNNI, nor where the
/// processor has AMX and the system refuses it.
bool trap_missing_instructions();

/// How many were done by hand so far.
std::uint64_t num_trapped();

}  // namespace faceter::testing
