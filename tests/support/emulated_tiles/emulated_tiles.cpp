#include "support/emulated_tiles/emulated_tiles.h"

#include <immintrin.h>

namespace faceter::testing {
namespace {

constexpr std::size_t most_rows = 16, most_bytes = 64, words = most_bytes / 4, tiles = 8;

struct Tile {
    alignas(64) std::uint32_t row[most_rows][words];
    std::size_t rows, bytes;

    std::size_t columns() const { return bytes / 4; }
    void zero() { __builtin_memset(row, 0, sizeof row); }
};

/// All zeros: not configured.
thread_local Tile all[tiles];

void need(bool holds, const char* what) {
    if (!holds) throw TileFault{what};
}

Tile& configured(int number) {
    need(number >= 0 && number < static_cast<int>(tiles), "a tile of this number");
    Tile& tile = all[number];
    need(tile.rows > 0, "a tile that is configured");
    need(tile.bytes % 4 == 0, "rows of whole words");
    return tile;
}

/// sum [m, n] += rows [m, k] weights [k, n], in words.
struct Operands {
    Tile &sum, &rows, &weights;

    Operands(int s, int r, int w) : sum(configured(s)), rows(configured(r)), weights(configured(w)) {
        need(s != r && s != w && r != w, "three different tiles");
        need(sum.rows == rows.rows, "as many rows of sums as of values");
        need(sum.bytes == weights.bytes, "as many columns of sums as of weights");
        need(rows.columns() == weights.rows, "as many columns of values as rows of weights");
    }
};

/// Rounding to the nearest, ties to even; numbers that are not normal are zeros as they come in and go out: MXCSR, whatever it says, has
/// no part in these instructions. What is computed meanwhile stands in a function of its own, which is not inlined: nothing else keeps
/// the compiler from moving it.
class OwnRounding {
  public:
    OwnRounding() : before_(_mm_getcsr()) { _mm_setcsr(0x9fc0); }
    ~OwnRounding() { _mm_setcsr(before_); }
    OwnRounding(const OwnRounding&) = delete;
    OwnRounding& operator=(const OwnRounding&) = delete;

  private:
    unsigned before_;
};

inline float as_float(std::uint32_t bits) {
    float value;
    __builtin_memcpy(&value, &bits, 4);
    return value;
}
inline float even(std::uint32_t pair) { return as_float(pair << 16); }
inline float odd(std::uint32_t pair) { return as_float(pair & 0xffff0000u); }

/// The even elements of all pairs are added up by themselves, and the odd ones; then both together, then to what was there.
[[gnu::noinline]] void add_bf16(const Operands& o) {
    for (std::size_t m = 0; m < o.sum.rows; ++m) {
        float evens[words] = {}, odds[words] = {};
        for (std::size_t k = 0; k < o.weights.rows; ++k)
            for (std::size_t n = 0; n < words; ++n) {
                evens[n] = __builtin_fmaf(even(o.rows.row[m][k]), even(o.weights.row[k][n]), evens[n]);
                odds[n] = __builtin_fmaf(odd(o.rows.row[m][k]), odd(o.weights.row[k][n]), odds[n]);
            }
        for (std::size_t n = 0; n < o.sum.columns(); ++n) {
            const float sum = as_float(o.sum.row[m][n]) + (evens[n] + odds[n]);
            __builtin_memcpy(&o.sum.row[m][n], &sum, 4);
        }
    }
}

[[gnu::noinline]] void add_pairs(float* sums, const std::uint32_t* values, const std::uint32_t* weights) {
    for (std::size_t n = 0; n < words; ++n) {
        const float upper = __builtin_fmaf(odd(values[n]), odd(weights[n]), sums[n]);
        sums[n] = __builtin_fmaf(even(values[n]), even(weights[n]), upper);
    }
}

}  // namespace

void configure_tiles(const void* shapes) {
    std::uint8_t bytes[64];
    __builtin_memcpy(bytes, shapes, sizeof bytes);
    need(bytes[0] == 1 && bytes[1] == 0, "palette 1 from row 0 on");
    for (std::size_t i = 2; i < 64; ++i) need((i >= 16 && i < 32) || (i >= 48 && i < 56) || bytes[i] == 0, "zeros in what is reserved");
    for (std::size_t t = 0; t < tiles; ++t) {
        const std::size_t width = bytes[16 + 2 * t] + 256u * bytes[17 + 2 * t], rows = bytes[48 + t];
        need(width <= most_bytes && rows <= most_rows, "tiles of at most 16 rows of 64 bytes");
        need((width == 0) == (rows == 0), "rows and bytes, or neither");
    }
    for (std::size_t t = 0; t < tiles; ++t) {
        all[t].zero();
        all[t].bytes = bytes[16 + 2 * t];
        all[t].rows = bytes[48 + t];
    }
}

void release_tiles() { __builtin_memset(all, 0, sizeof all); }

bool holds_tiles() {
    for (const Tile& tile : all)
        if (tile.rows > 0) return true;
    return false;
}

void zero_tile(int tile) { configured(tile).zero(); }

void load_tile(int tile, const void* from, std::size_t stride) {
    Tile& to = configured(tile);
    to.zero();
    for (std::size_t i = 0; i < to.rows; ++i) __builtin_memcpy(to.row[i], static_cast<const std::byte*>(from) + i * stride, to.bytes);
}

void store_tile(int tile, void* to, std::size_t stride) {
    const Tile& from = configured(tile);
    for (std::size_t i = 0; i < from.rows; ++i) __builtin_memcpy(static_cast<std::byte*>(to) + i * stride, from.row[i], from.bytes);
}

void multiply_bf16_tiles(int sum, int rows, int weights) {
    const Operands operands(sum, rows, weights);
    const OwnRounding rounding;
    add_bf16(operands);
}

void multiply_int8_tiles(int sum, int rows, int weights) {
    const Operands o(sum, rows, weights);
    for (std::size_t m = 0; m < o.sum.rows; ++m)
        for (std::size_t k = 0; k < o.weights.rows; ++k)
            for (std::size_t n = 0; n < o.sum.columns(); ++n)
                for (int shift = 0; shift < 32; shift += 8) {
                    const auto value = static_cast<std::uint8_t>(o.rows.row[m][k] >> shift);
                    const auto weight = static_cast<std::int8_t>(o.weights.row[k][n] >> shift);
                    o.sum.row[m][n] += static_cast<std::uint32_t>(value * weight);
                }
}

void multiply_bf16_pairs(float* sums, const std::uint32_t* values, const std::uint32_t* weights) {
    const OwnRounding rounding;
    add_pairs(sums, values, weights);
}

}  // namespace faceter::testing
