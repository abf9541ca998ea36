// Included by kernels.inc.h and products.inc.h alone, inside their anonymous namespaces.

/// A square of vectors turned over its diagonal: each round puts the first bit of (row, lane) behind the others.
inline void transpose(Vector (&rows)[lanes]) {
    IntVector low, high;  // the first halves of two vectors in turn, and the second halves
    for (std::size_t i = 0; i < lanes; ++i) {
        low[i] = static_cast<std::int32_t>(i / 2 + i % 2 * lanes);
        high[i] = static_cast<std::int32_t>(i / 2 + lanes / 2 + i % 2 * lanes);
    }
#pragma GCC unroll 4
    for (std::size_t round = 1; round < lanes; round *= 2) {
        Vector next[lanes];
#pragma GCC unroll 8
        for (std::size_t i = 0; i < lanes / 2; ++i) {
            next[2 * i] = __builtin_shuffle(rows[i], rows[i + lanes / 2], low);
            next[2 * i + 1] = __builtin_shuffle(rows[i], rows[i + lanes / 2], high);
        }
#pragma GCC unroll 16
        for (std::size_t i = 0; i < lanes; ++i) rows[i] = next[i];
    }
}
