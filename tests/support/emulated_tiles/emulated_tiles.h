#pragma once
#include <cstddef>
#include <cstdint>

/// AMX's tiles in memory, for processors without them: what the instructions do by the Intel 64 and IA-32 Architectures Software
/// Developer's Manual, volume 2 (LDTILECFG, TILELOADD, TILESTORED, TILEZERO, TDPBF16PS, TDPBUSD; VDPBF16PS), to the bit. Each thread has
/// tiles of its own. Compiled for AVX-512 as the kernels are, under the same rules. trapped_instructions.h runs machine code on them.
namespace faceter::testing {

/// Thrown where the processor would raise an exception. No more than a pointer, so that no code of it is shared.
struct TileFault {
    const char* what;
};

/// `shapes`: 64 bytes.
void configure_tiles(const void* shapes);
void release_tiles();
/// Whether this thread has tiles that are configured.
bool holds_tiles();
void zero_tile(int tile);
void load_tile(int tile, const void* from, std::size_t stride);
void store_tile(int tile, void* to, std::size_t stride);
void multiply_bf16_tiles(int sum, int rows, int weights);
void multiply_int8_tiles(int sum, int rows, int weights);
/// VDPBF16PS on 16 lanes.
void multiply_bf16_pairs(float* sums, const std::uint32_t* values, const std::uint32_t* weights);

}  // namespace faceter::testing
