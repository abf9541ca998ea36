// Included by tiles.inc.h: the processor's instructions on its tiles, which go by number. Written out because GCC 12's intrinsics say
// neither that a load reads memory, so that a write to it could come after the load, nor that a configuration has more than eight bytes.

/// `shapes`: 64 bytes as LDTILECFG reads them.
template <typename Shapes>
inline void configure_tiles(const Shapes& shapes) {
    static_assert(sizeof shapes == 64);
    __asm__ volatile("ldtilecfg\t%0" ::"m"(shapes));
}
inline void release_tiles() { __asm__ volatile("tilerelease"); }

template <int tile>
inline void zero_tile() {
    __asm__ volatile("tilezero\t%%tmm%c0" ::"i"(tile));
}
/// Rows `stride` bytes apart.
template <int tile>
inline void load_tile(const void* from, std::size_t stride) {
    __asm__ volatile("tileloadd\t(%1,%2,1), %%tmm%c0" ::"i"(tile), "r"(from), "r"(stride) : "memory");
}
template <int tile>
inline void store_tile(void* to, std::size_t stride) {
    __asm__ volatile("tilestored\t%%tmm%c0, (%1,%2,1)" ::"i"(tile), "r"(to), "r"(stride) : "memory");
}

/// sum += rows * weights, of pairs of bfloat16.
template <int sum, int rows, int weights>
inline void multiply_bf16_tiles() {
    __asm__ volatile("tdpbf16ps\t%%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(sum), "i"(rows), "i"(weights));
}
/// The same of four bytes each, without a sign by with one.
template <int sum, int rows, int weights>
inline void multiply_int8_tiles() {
    __asm__ volatile("tdpbusd\t%%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(sum), "i"(rows), "i"(weights));
}
