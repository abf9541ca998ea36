// Included by products.inc.h where the compiler may use AMX: products of bfloat16 and of bytes in the processor's own tiles, of panels and
// rows that are laid out as for its vectors. Sums are in tiles 0 to 3 (a panel's two halves for each of two groups of rows), rows in 4 and
// 5, weights in 6 and 7.
#include "model/kernels/tile_instructions.inc.h"

constexpr std::size_t group_rows = 16, tile_bytes = 64, tile_steps = 16, panel_bytes = 4 * panel_rows;

struct alignas(64) TileShapes {
    std::uint8_t palette, start_row, none[14];
    std::uint16_t bytes[16];
    std::uint8_t rows[16];
};

/// For groups of so many rows; `lower` may be 0.
void shape_tiles(std::size_t upper, std::size_t lower) {
    const auto u = static_cast<std::uint8_t>(upper), l = static_cast<std::uint8_t>(lower);
    constexpr std::uint8_t all = tile_steps;
    TileShapes shapes{1, 0, {}, {}, {u, u, l, l, u, l, all, all}};
    for (std::size_t i = 0; i < 8; ++i) shapes.bytes[i] = shapes.rows[i] > 0 ? tile_bytes : 0;
    configure_tiles(shapes);
}

inline void add_upper(Bf16) {
    multiply_bf16_tiles<0, 4, 6>();
    multiply_bf16_tiles<1, 4, 7>();
}
inline void add_lower(Bf16) {
    multiply_bf16_tiles<2, 5, 6>();
    multiply_bf16_tiles<3, 5, 7>();
}
inline void add_upper(Int8) {
    multiply_int8_tiles<0, 4, 6>();
    multiply_int8_tiles<1, 4, 7>();
}
inline void add_lower(Int8) {
    multiply_int8_tiles<2, 5, 6>();
    multiply_int8_tiles<3, 5, 7>();
}

/// The sums over `tiles` times tile_steps of the depth.
template <typename F, bool lower>
void add_tiles(std::size_t tiles, const std::byte* x, std::size_t x_stride, const std::byte* w, typename F::Sum (*sums)[2]) {
    zero_tile<0>();
    zero_tile<1>();
    if (lower) {
        zero_tile<2>();
        zero_tile<3>();
    }
    for (std::size_t t = 0; t < tiles; ++t, x += tile_bytes, w += tile_steps * panel_bytes) {
        load_tile<6>(w, panel_bytes);
        load_tile<7>(w + tile_bytes, panel_bytes);
        load_tile<4>(x, x_stride);
        add_upper(F{});
        if (lower) {
            load_tile<5>(x + group_rows * x_stride, x_stride);
            add_lower(F{});
        }
    }
    store_tile<0>(sums[0], sizeof *sums);
    store_tile<1>(&sums[0][1], sizeof *sums);
    if (lower) {
        store_tile<2>(sums[group_rows], sizeof *sums);
        store_tile<3>(&sums[group_rows][1], sizeof *sums);
    }
}

/// R rows from row i on: what of the depth fills no tile, and y.
template <typename F, std::size_t R>
inline void finish_rows(std::size_t i, std::size_t done, std::size_t steps, const std::byte* x, std::size_t x_stride, const std::byte* w,
                        typename F::Sum (*sums)[2], Place place) {
    auto& own = reinterpret_cast<typename F::Sum(&)[R][2]>(sums[i]);
    constexpr RowsUpTo<R> rows;
    if (done < steps) add_products<F>(rows, steps - done, x + i * x_stride + done * F::value_step, x_stride, w + done * panel_bytes, own);
    place.y += i * place.y_stride;
    place.row_scales += i * place.num_groups;
    place.columns == panel_rows ? finish<true>(rows, place, own) : finish<false>(rows, place, own);
}

/// As tile(), of up to two groups of rows, for which the tiles are shaped.
template <typename F>
void tile_block(std::size_t rows, std::size_t steps, const std::byte* x, std::size_t x_stride, const std::byte* w, const Place& place) {
    alignas(64) typename F::Sum sums[2 * group_rows][2];
    const std::size_t tiles = steps / tile_steps, done = tiles * tile_steps;
    (rows > group_rows ? add_tiles<F, true> : add_tiles<F, false>)(tiles, x, x_stride, w, sums);
    std::size_t i = 0;
    for (; i + 8 <= rows; i += 8) finish_rows<F, 8>(i, done, steps, x, x_stride, w, sums, place);
    for (; i < rows; ++i) finish_rows<F, 1>(i, done, steps, x, x_stride, w, sums, place);
}

/// As multiply_part(). Tiles are shaped anew for the rows behind the last whole block.
template <typename F>
void multiply_tiles(const Product& product, const DepthPart& part) {
    constexpr std::size_t height = 2 * group_rows;
    const std::size_t rows = product.x.rows, whole = rows / height * height, rest = rows - whole;
    if (whole > 0) {
        shape_tiles(group_rows, group_rows);
        multiply_rows<F>(product, part, 0, whole, height, tile_block<F>);
    }
    if (rest > 0) {
        shape_tiles(smaller(rest, group_rows), rest > group_rows ? rest - group_rows : 0);
        multiply_rows<F>(product, part, whole, rows, height, tile_block<F>);
    }
    release_tiles();
}

template <>
constexpr bool by_tiles<Bf16> = true;
template <>
void multiply_part<Bf16>(const Product& product, const DepthPart& part) {
    multiply_tiles<Bf16>(product, part);
}
template <>
constexpr bool by_tiles<Int8> = true;
template <>
void multiply_part<Int8>(const Product& product, const DepthPart& part) {
    multiply_tiles<Int8>(product, part);
}
