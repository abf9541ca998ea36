// Included once by each products_*.cpp with its own compiler flags, under the rules of kernels.inc.h: everything is in an anonymous
// namespace and nothing of the standard library's templates is used.
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "model/kernels/products.h"

namespace faceter::kernels {
namespace {

#if defined(__AVX512F__)
constexpr std::size_t lanes = 16, tile_rows = 12;
#elif defined(__AVX2__)
constexpr std::size_t lanes = 8, tile_rows = 6;
#else
constexpr std::size_t lanes = 4, tile_rows = 4;
#endif
constexpr std::size_t panel_rows = 2 * lanes;

typedef float Vector __attribute__((vector_size(4 * lanes)));
typedef float UnalignedVector __attribute__((vector_size(4 * lanes), aligned(4), may_alias));
typedef std::int32_t IntVector __attribute__((vector_size(4 * lanes)));
typedef std::int32_t UnalignedInts __attribute__((vector_size(4 * lanes), aligned(4), may_alias));
typedef std::uint32_t WordVector __attribute__((vector_size(4 * lanes)));
typedef std::uint16_t HalfVector __attribute__((vector_size(2 * lanes)));
typedef std::uint16_t UnalignedHalves __attribute__((vector_size(2 * lanes), aligned(2), may_alias));
typedef std::uint8_t ByteVector __attribute__((vector_size(lanes)));
typedef std::uint8_t UnalignedBytes __attribute__((vector_size(lanes), aligned(1), may_alias));
typedef float LooseFloat __attribute__((may_alias));
typedef std::int32_t LooseInt __attribute__((may_alias));
typedef std::uint16_t LooseHalf __attribute__((may_alias));

inline Vector load(const float* at) { return *reinterpret_cast<const UnalignedVector*>(at); }
inline void store(float* at, Vector value) { *reinterpret_cast<UnalignedVector*>(at) = value; }
inline IntVector load_ints(const std::byte* at) { return *reinterpret_cast<const UnalignedInts*>(at); }
inline std::size_t smaller(std::size_t a, std::size_t b) { return a < b ? a : b; }
inline std::size_t parts_of(std::size_t whole, std::size_t part) { return (whole + part - 1) / part; }

inline std::uint32_t bits_of(float value) {
    std::uint32_t bits;
    __builtin_memcpy(&bits, &value, 4);
    return bits;
}
inline float float_of(std::uint32_t bits) {
    float value;
    __builtin_memcpy(&value, &bits, 4);
    return value;
}
/// To the nearest bfloat16, ties to even. Rounding carries some NaN over to 0: they are one NaN here.
constexpr std::uint32_t bf16_nan = 0x7fc0;
inline std::uint16_t to_bf16(float value) {
    if (value != value) return bf16_nan;
    const std::uint32_t bits = bits_of(value);
    return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
inline HalfVector to_bf16(Vector value) {
    const WordVector bits = (WordVector)value, rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    const WordVector no_number = (WordVector)(value != value);
    return __builtin_convertvector((rounded & ~no_number) | (no_number & bf16_nan), HalfVector);
}
inline Vector widened(HalfVector halves) { return (Vector)(__builtin_convertvector(halves, WordVector) << 16); }

// ---------------------------------------------------------------- forms

/// A form says what one step of the depth adds: weights of a panel stand `weight_step` bytes a lane, activations `value_step`.
struct Float32 {
    using Sum = Vector;
    using Weight = Vector;
    using Value = Vector;
    static constexpr std::size_t weight_step = 4, value_step = 4;
    static Weight weight(const std::byte* at) { return load(reinterpret_cast<const float*>(at)); }
    /// Taken off: adding a zero is an addition to the compiler as well, which turns -0 into 0, and takes the room of a multiply-add.
    static Value value(const std::byte* at) { return *reinterpret_cast<const LooseFloat*>(at) - Vector{}; }
    static void add(Sum& sum, Value value, Weight weight) { sum += value * weight; }
};

struct Widened : Float32 {
    static constexpr std::size_t weight_step = 2;
    static Weight weight(const std::byte* at) { return widened(*reinterpret_cast<const UnalignedHalves*>(at)); }
};

struct Bf16 {
    using Sum = Vector;
    using Weight = IntVector;
    using Value = IntVector;
    static constexpr std::size_t weight_step = 4, value_step = 4;
    static Weight weight(const std::byte* at) { return load_ints(at); }
    static Value value(const std::byte* at) { return IntVector{} + *reinterpret_cast<const LooseInt*>(at); }
    static void add(Sum& sum, Value value, Weight weight) {
#if defined(__AVX512BF16__)
        sum = (Vector)_mm512_dpbf16_ps((__m512)sum, (__m512bh)value, (__m512bh)weight);
#else
        const auto high = static_cast<std::int32_t>(0xffff0000u);
        sum += (Vector)(value << 16) * (Vector)(weight << 16);
        sum += (Vector)(value & high) * (Vector)(weight & high);
#endif
    }
};

struct Int8 {
    using Sum = IntVector;
    using Weight = IntVector;
    using Value = IntVector;
    static constexpr std::size_t weight_step = 4, value_step = 4;
    static Weight weight(const std::byte* at) { return load_ints(at); }
    static Value value(const std::byte* at) { return IntVector{} + *reinterpret_cast<const LooseInt*>(at); }
    static void add(Sum& sum, Value value, Weight weight) {
#if defined(__AVX512VNNI__)
        sum = (IntVector)_mm512_dpbusd_epi32((__m512i)sum, (__m512i)value, (__m512i)weight);
#elif defined(__AVX512BW__)
        // Two bytes of four at a time as 16-bit numbers, whose pairs are multiplied and added exactly.
        const __m512i v = (__m512i)value, w = (__m512i)weight, low = _mm512_set1_epi16(0xff);
        const __m512i even = _mm512_madd_epi16(_mm512_and_si512(v, low), _mm512_srai_epi16(_mm512_slli_epi16(w, 8), 8));
        const __m512i odd = _mm512_madd_epi16(_mm512_srli_epi16(v, 8), _mm512_srai_epi16(w, 8));
        sum += (IntVector)_mm512_add_epi32(even, odd);
#elif defined(__AVX2__)
        const __m256i v = (__m256i)value, w = (__m256i)weight, low = _mm256_set1_epi16(0xff);
        const __m256i even = _mm256_madd_epi16(_mm256_and_si256(v, low), _mm256_srai_epi16(_mm256_slli_epi16(w, 8), 8));
        const __m256i odd = _mm256_madd_epi16(_mm256_srli_epi16(v, 8), _mm256_srai_epi16(w, 8));
        sum += (IntVector)_mm256_add_epi32(even, odd);
#else
        for (int byte = 0; byte < 4; ++byte) sum += (IntVector)((WordVector)value >> 8 * byte & 0xff) * (weight << (24 - 8 * byte) >> 24);
#endif
    }
};

// ---------------------------------------------------------------- tiles

/// Weights are asked of the memory so many steps before they are multiplied: the next panel's at the end of one. Of a single text they come
/// from far.
constexpr std::size_t steps_ahead = 64;

/// The numbers of a tile's rows as constants: sums that a loop counts to go through the memory before and behind the loop over the depth.
template <std::size_t... row>
struct Rows {};
template <std::size_t count, std::size_t... row>
struct CountedRows : CountedRows<count - 1, count - 1, row...> {};
template <std::size_t... row>
struct CountedRows<0, row...> {
    using All = Rows<row...>;
};
template <std::size_t count>
using RowsUpTo = typename CountedRows<count>::All;

#define FACETER_INLINE inline __attribute__((always_inline))

template <typename F>
FACETER_INLINE void add_product(typename F::Sum (&sums)[2], typename F::Value value, typename F::Weight first, typename F::Weight second) {
    F::add(sums[0], value, first);
    F::add(sums[1], value, second);
}

template <typename F, std::size_t R, std::size_t... row>
FACETER_INLINE void add_products(Rows<row...>, std::size_t steps, const std::byte* x, std::size_t x_stride, const std::byte* w,
                                 typename F::Sum (&sums)[R][2]) {
    for (std::size_t k = 0; k < steps; ++k) {
        const auto first = F::weight(w + k * panel_rows * F::weight_step);
        const auto second = F::weight(w + (k * panel_rows + lanes) * F::weight_step);
        for (std::size_t line = 0; line < panel_rows * F::weight_step; line += 64)
            __builtin_prefetch(w + (k + steps_ahead) * panel_rows * F::weight_step + line);
        (add_product<F>(sums[row], F::value(x + row * x_stride + k * F::value_step), first, second), ...);
    }
}

/// One tile of y and what finishes it.
struct Place {
    float* y;
    std::size_t y_stride, columns;  ///< of the panel that y has: fewer than panel_rows in the last one
    const float* bias;              ///< of the panel; null: none, or not yet
    bool more;                      ///< y holds the sum of an earlier part of the depth
    const float* weight_scales;     ///< of int8, of this part of the depth, as the rest
    const std::int32_t* weight_sums;
    const RowScale* row_scales;  ///< num_groups apart
    std::size_t num_groups;
};

/// A row of the tile in y: of a whole panel, or the columns that y has.
template <bool whole>
FACETER_INLINE void load_row(const Place& place, std::size_t row, Vector (&values)[2]) {
    const float* from = place.y + row * place.y_stride;
    if constexpr (whole) {
        values[0] = load(from), values[1] = load(from + lanes);
    } else {
        float columns[panel_rows] = {};
        for (std::size_t j = 0; j < place.columns; ++j) columns[j] = from[j];
        __builtin_memcpy(values, columns, sizeof columns);
    }
}
template <bool whole>
FACETER_INLINE void store_row(const Place& place, std::size_t row, const Vector (&values)[2]) {
    float* to = place.y + row * place.y_stride;
    if constexpr (whole) {
        store(to, values[0]), store(to + lanes, values[1]);
    } else {
        float columns[panel_rows];
        __builtin_memcpy(columns, values, sizeof columns);
        for (std::size_t j = 0; j < place.columns; ++j) to[j] = columns[j];
    }
}

/// The panel's part of an array that ends with the matrix.
template <bool whole, typename V, typename T>
FACETER_INLINE void load_columns(const T* from, std::size_t columns, V (&to)[2]) {
    if constexpr (whole) {
        __builtin_memcpy(&to[0], from, sizeof to[0]);
        __builtin_memcpy(&to[1], from + lanes, sizeof to[1]);
    } else {
        T padded[panel_rows] = {};
        for (std::size_t j = 0; j < columns; ++j) padded[j] = from[j];
        __builtin_memcpy(to, padded, sizeof to);
    }
}

template <bool whole>
FACETER_INLINE void finish_row(const Place& place, std::size_t row, const Vector (&sums)[2], const Vector (&bias)[2]) {
    const Vector values[2] = {sums[0] + bias[0], sums[1] + bias[1]};
    store_row<whole>(place, row, values);
}

template <bool whole, std::size_t R, std::size_t... row>
FACETER_INLINE void finish(Rows<row...>, const Place& place, const Vector (&sums)[R][2]) {
    Vector bias[2] = {};
    if (place.bias) load_columns<whole>(place.bias, place.columns, bias);
    (finish_row<whole>(place, row, sums[row], bias), ...);
}

/// a b + c, rounded once where there is an instruction for it. Left to the compiler it was so in one table and not in the next.
inline Vector fused(Vector a, Vector b, Vector c) {
#if defined(__AVX512F__)
    return (Vector)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif defined(__AVX2__)
    return (Vector)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#else
    return a * b + c;
#endif
}

/// What finishes the sums of integers, of the panel's columns.
struct IntColumns {
    Vector bias[2], scales[2];
    IntVector zeros[2];
};

template <bool whole>
FACETER_INLINE void finish_row(const Place& place, std::size_t row, const IntVector (&sums)[2], const IntColumns& of) {
    const RowScale& own = place.row_scales[row * place.num_groups];
    Vector values[2] = {of.bias[0], of.bias[1]};
    if (place.more) {
        Vector before[2];
        load_row<whole>(place, row, before);
        values[0] += before[0], values[1] += before[1];
    }
    for (std::size_t v = 0; v < 2; ++v) {
        const IntVector exact = sums[v] - of.zeros[v] * own.zero;
        values[v] = fused(__builtin_convertvector(exact, Vector), of.scales[v] * own.scale, values[v]);
    }
    store_row<whole>(place, row, values);
}

template <bool whole, std::size_t R, std::size_t... row>
FACETER_INLINE void finish(Rows<row...>, const Place& place, const IntVector (&sums)[R][2]) {
    IntColumns of{};
    if (place.bias) load_columns<whole>(place.bias, place.columns, of.bias);
    load_columns<whole>(place.weight_scales, place.columns, of.scales);
    load_columns<whole>(place.weight_sums, place.columns, of.zeros);
    (finish_row<whole>(place, row, sums[row], of), ...);
}

template <bool whole>
FACETER_INLINE void begin_row(const Place& place, std::size_t row, Vector (&sums)[2]) {
    if (place.more)
        load_row<whole>(place, row, sums);
    else
        sums[0] = sums[1] = Vector{};
}

template <bool whole, std::size_t R, std::size_t... row>
FACETER_INLINE void begin(Rows<row...>, const Place& place, Vector (&sums)[R][2]) {
    (begin_row<whole>(place, row, sums[row]), ...);
}

FACETER_INLINE void begin_row(IntVector (&sums)[2]) { sums[0] = sums[1] = IntVector{}; }

template <bool whole, std::size_t R, std::size_t... row>
FACETER_INLINE void begin(Rows<row...>, const Place&, IntVector (&sums)[R][2]) {
    (begin_row(sums[row]), ...);
}

template <typename F, std::size_t R, bool whole>
void tile(std::size_t steps, const std::byte* x, std::size_t x_stride, const std::byte* w, const Place& place) {
    constexpr RowsUpTo<R> rows;
    typename F::Sum sums[R][2];
    begin<whole>(rows, place, sums);
    add_products<F>(rows, steps, x, x_stride, w, sums);
    finish<whole>(rows, place, sums);
}

/// Of a panel that is wider than y apart: its loops over columns would have the sums of all others go through the memory.
template <typename F, std::size_t R>
void tile_of_panel(std::size_t steps, const std::byte* x, std::size_t x_stride, const std::byte* w, const Place& place) {
    (place.columns == panel_rows ? tile<F, R, true> : tile<F, R, false>)(steps, x, x_stride, w, place);
}

using Tile = void (*)(std::size_t, const std::byte*, std::size_t, const std::byte*, const Place&);

/// The tile of so many rows.
template <typename F>
inline Tile tile_of(std::size_t rows) {
    static constexpr Tile all[] = {
        tile_of_panel<F, 1>,
        tile_of_panel<F, 2>,
        tile_of_panel<F, 3>,
        tile_of_panel<F, 4>,
#if defined(__AVX2__)
        tile_of_panel<F, 5>,
        tile_of_panel<F, 6>,
#endif
#if defined(__AVX512F__)
        tile_of_panel<F, 7>,
        tile_of_panel<F, 8>,
        tile_of_panel<F, 9>,
        tile_of_panel<F, 10>,
        tile_of_panel<F, 11>,
        tile_of_panel<F, 12>
#endif
    };
    static_assert(sizeof all / sizeof all[0] == tile_rows);
    return all[rows - 1];
}

template <typename F>
void vector_block(std::size_t rows, std::size_t steps, const std::byte* x, std::size_t x_stride, const std::byte* w, const Place& place) {
    tile_of<F>(rows)(steps, x, x_stride, w, place);
}

struct Product {
    const WeightPanels& weights;
    const PreparedRows& x;
    std::size_t first, last;  ///< panels
    const float* bias;
    float* y;
    std::size_t y_stride;
};

/// Some steps of the depth.
struct DepthPart {
    std::size_t first, count, group;
    bool ends;
};

using Block = void (*)(std::size_t rows, std::size_t steps, const std::byte* x, std::size_t x_stride, const std::byte* w,
                       const Place& place);

/// Rows [begin, end), `height` of them at once.
template <typename F>
void multiply_rows(const Product& product, const DepthPart& part, std::size_t begin, std::size_t end, std::size_t height, Block block) {
    const WeightPanels& weights = product.weights;
    const std::size_t steps = parts_of(weights.depth, depth_step(weights.form)), stride = activation_stride(weights.form, weights.depth);
    const std::size_t groups = num_groups(weights.form, weights.depth);
    for (std::size_t p = product.first; p < product.last; ++p) {
        const std::size_t column = p * panel_rows, columns = smaller(panel_rows, weights.rows - column);
        const std::byte* w = weights.values + (p * steps + part.first) * panel_rows * F::weight_step;
        for (std::size_t row = begin; row < end; row += height) {
            const Place place{product.y + row * product.y_stride + column,
                              product.y_stride,
                              columns,
                              part.ends && product.bias ? product.bias + column : nullptr,
                              part.first > 0,
                              weights.scales + (p * groups + part.group) * panel_rows,
                              weights.sums + (p * groups + part.group) * panel_rows,
                              product.x.scales + row * groups + part.group,
                              groups};
            block(smaller(height, end - row), part.count, product.x.values + row * stride + part.first * F::value_step, stride, w, place);
        }
    }
}

template <typename F>
constexpr bool by_tiles = false;

template <typename F>
void multiply_part(const Product& product, const DepthPart& part) {
    multiply_rows<F>(product, part, 0, product.x.rows, tile_rows, vector_block<F>);
}

#if defined(__AMX_TILE__)
#include "model/kernels/tiles.inc.h"
#endif

/// Steps of the depth that a pass over the rows takes: a panel's part stays in the first cache, the rows' in the second. Integers take a
/// group of the depth, sums in tiles all of it.
constexpr std::size_t steps_a_pass = 512;

template <typename F>
void multiply_form(const Product& product) {
    const WeightPanels& weights = product.weights;
    const std::size_t steps = parts_of(weights.depth, depth_step(weights.form));
    const std::size_t pass = weights.form == ProductForm::int8 ? group_depth(weights.form, weights.depth) / depth_step(weights.form)
                             : by_tiles<F>                     ? steps
                                                               : parts_of(steps, parts_of(steps, steps_a_pass));
    const std::size_t groups = num_groups(weights.form, weights.depth);
    for (std::size_t k = 0; k < steps; k += pass) {
        const std::size_t here = smaller(pass, steps - k);
        multiply_part<F>(product, {k, here, groups > 1 ? k / pass : 0, k + here == steps});
    }
}

void multiply(const WeightPanels& weights, const PreparedRows& x, std::size_t first, std::size_t last, const float* bias, float* y,
              std::size_t y_stride) {
    const Product product{weights, x, first, last, bias, y, y_stride};
    switch (weights.form) {
        case ProductForm::float32:
            return multiply_form<Float32>(product);
        case ProductForm::widened:
            return multiply_form<Widened>(product);
        case ProductForm::bf16:
            return multiply_form<Bf16>(product);
        case ProductForm::int8:
            return multiply_form<Int8>(product);
    }
}

#include "model/kernels/panels.inc.h"

// ---------------------------------------------------------------- gradients of weights

/// Values of a step stand side by side, a tile's end to end.
struct Outer : Float32 {
    static constexpr std::size_t value_step = 4 * tile_rows;
};

/// `steps` rows of `columns` floats, `stride` apart, end to end in rows of `width`, zeros behind.
template <std::size_t width>
void pack_steps(const float* from, std::size_t stride, std::size_t steps, std::size_t columns, float* to) {
    if (columns == width) {
        for (std::size_t t = 0; t < steps; ++t) __builtin_memcpy(to + t * width, from + t * stride, width * sizeof(float));
        return;
    }
    for (std::size_t t = 0; t < steps; ++t)
        for (std::size_t i = 0; i < width; ++i) to[t * width + i] = i < columns ? from[t * stride + i] : 0.0f;
}

/// One pass over dw: steps [t, t + steps) of the sum.
void add_outer_steps(const OuterProduct& product, std::size_t t, std::size_t steps, bool add, float* scratch) {
    float *panel = scratch, *rows = scratch + panel_rows * outer_steps;
    for (std::size_t n = 0; n < product.rows; n += tile_rows)
        pack_steps<tile_rows>(product.dy + t * product.dy_stride + n, product.dy_stride, steps, smaller(tile_rows, product.rows - n),
                              rows + n * steps);
    for (std::size_t k = 0; k < product.columns; k += panel_rows) {
        const std::size_t columns = smaller(panel_rows, product.columns - k);
        pack_steps<panel_rows>(product.x + t * product.x_stride + k, product.x_stride, steps, columns, panel);
        for (std::size_t n = 0; n < product.rows; n += tile_rows) {
            const Place place{
                product.dw + n * product.dw_stride + k, product.dw_stride, columns, nullptr, add, nullptr, nullptr, nullptr, 1};
            tile_of<Outer>(smaller(tile_rows, product.rows - n))(steps, reinterpret_cast<const std::byte*>(rows + n * steps), 4,
                                                                 reinterpret_cast<const std::byte*>(panel), place);
        }
    }
}

void add_outer(const OuterProduct& product, float* scratch) {
    if (product.steps == 0 && !product.add) add_outer_steps(product, 0, 0, false, scratch);
    for (std::size_t t = 0; t < product.steps; t += outer_steps)
        add_outer_steps(product, t, smaller(outer_steps, product.steps - t), product.add || t > 0, scratch);
}

}  // namespace

extern const ProductTable FACETER_PRODUCTS_TABLE;
const ProductTable FACETER_PRODUCTS_TABLE = {FACETER_PRODUCTS_NAME, panel_rows, tile_rows, pack, prepare, multiply, add_outer};

}  // namespace faceter::kernels
