// Included by products.inc.h alone, inside its anonymous namespace: weights and activations laid out as the products read them.
// ---------------------------------------------------------------- weights

#include "model/kernels/transpose.inc.h"

inline float given(const GivenWeights& weights, std::size_t n, std::size_t k) {
    const std::size_t at = n * weights.row_step + k * weights.column_step;
    if (!weights.bf16) return static_cast<const float*>(weights.values)[at];
    return float_of(std::uint32_t{static_cast<const std::uint16_t*>(weights.values)[at]} << 16);
}

/// Elements [first, last) of row n of the weights scaled to [-127, 127] into lane j of its panel. With a number that is not finite the
/// scale is none.
void pack_int8_part(const GivenWeights& weights, std::size_t n, std::size_t first, std::size_t last, std::int8_t* panel, std::size_t j,
                    float& scale, std::int32_t& sum) {
    float largest = 0, not_finite = 0;
    for (std::size_t k = first; k < last; ++k) {
        const float value = given(weights, n, k), size = __builtin_fabsf(value);
        not_finite += value * 0.0f;
        largest = size > largest ? size : largest;
    }
    const bool finite = not_finite == 0, steps = largest / 127.0f > 0;
    scale = (steps ? largest / 127.0f : 1.0f) + not_finite;
    sum = 0;
    for (std::size_t k = first; k < last; ++k) {
        const auto q = finite && steps ? static_cast<std::int8_t>(__builtin_rintf(given(weights, n, k) / scale)) : std::int8_t{0};
        panel[(k / 4 * panel_rows + j) * 4 + k % 4] = q;
        sum += q;
    }
}

/// Row n; `scales` and `sums` are those of lane j, a panel's rows from group to group.
void pack_int8_row(const GivenWeights& weights, std::size_t n, std::int8_t* panel, std::size_t j, float* scales, std::int32_t* sums) {
    const std::size_t group = group_depth(ProductForm::int8, weights.depth);
    for (std::size_t first = 0; first < weights.depth; first += group, scales += panel_rows, sums += panel_rows)
        pack_int8_part(weights, n, first, smaller(weights.depth, first + group), panel, j, *scales, *sums);
}

/// Row n from element `first` of its depth on.
void pack_row(ProductForm form, const GivenWeights& weights, std::size_t n, std::size_t first, std::byte* panel, std::size_t j) {
    auto* floats = reinterpret_cast<LooseFloat*>(panel);
    auto* halves = reinterpret_cast<LooseHalf*>(panel);
    for (std::size_t k = first; k < weights.depth; ++k) {
        const float value = given(weights, n, k);
        if (form == ProductForm::float32)
            floats[k * panel_rows + j] = value;
        else if (form == ProductForm::widened)
            halves[k * panel_rows + j] = to_bf16(value);
        else
            halves[(k / 2 * panel_rows + j) * 2 + k % 2] = to_bf16(value);
    }
}

/// `lanes` weights that stand side by side, from element `at` on: as they are, or as bfloat16.
inline Vector load_floats(const GivenWeights& weights, std::size_t at) {
    if (!weights.bf16) return load(static_cast<const float*>(weights.values) + at);
    return widened(*reinterpret_cast<const UnalignedHalves*>(static_cast<const std::uint16_t*>(weights.values) + at));
}
inline HalfVector load_halves(const GivenWeights& weights, std::size_t at) {
    if (!weights.bf16) return to_bf16(load(static_cast<const float*>(weights.values) + at));
    return *reinterpret_cast<const UnalignedHalves*>(static_cast<const std::uint16_t*>(weights.values) + at);
}

/// What a vector of the panel takes from 2 * lanes weights of a row (bf16: two to a lane) or from lanes of them.
inline Vector load_lanes(ProductForm form, const GivenWeights& weights, std::size_t at) {
    if (form != ProductForm::bf16) return load_floats(weights, at);
    const HalfVector halves[2] = {load_halves(weights, at), load_halves(weights, at + lanes)};
    Vector pairs;
    __builtin_memcpy(&pairs, halves, sizeof pairs);
    return pairs;
}
inline void store_lanes(ProductForm form, Vector value, std::byte* panel, std::size_t at) {
    if (form == ProductForm::widened)
        *reinterpret_cast<UnalignedHalves*>(panel + 2 * at) = to_bf16(value);
    else
        store(reinterpret_cast<float*>(panel) + at, value);
}

/// A whole panel of rows whose elements stand side by side, a square at a time.
void pack_squares(ProductForm form, const GivenWeights& weights, std::size_t begin, std::byte* panel) {
    const std::size_t a_lane = form == ProductForm::bf16 ? 2 : 1, square = a_lane * lanes, whole = weights.depth / square * square;
    for (std::size_t j = 0; j < panel_rows; j += lanes)
        for (std::size_t k = 0; k < whole; k += square) {
            Vector rows[lanes];
            for (std::size_t r = 0; r < lanes; ++r) rows[r] = load_lanes(form, weights, (begin + j + r) * weights.row_step + k);
            transpose(rows);
            for (std::size_t r = 0; r < lanes; ++r) store_lanes(form, rows[r], panel, (k / a_lane + r) * panel_rows + j);
        }
    for (std::size_t j = 0; j < panel_rows; ++j) pack_row(form, weights, begin + j, whole, panel, j);
}

/// A whole panel of columns whose elements stand side by side: the weights of a transposed matrix.
void pack_columns(ProductForm form, const GivenWeights& weights, std::size_t begin, std::byte* panel) {
    const std::size_t a_lane = form == ProductForm::bf16 ? 2 : 1;
    for (std::size_t k = 0; k < weights.depth; k += a_lane)
        for (std::size_t j = 0; j < panel_rows; j += lanes) {
            const std::size_t at = begin + j + k * weights.column_step, to = k / a_lane * panel_rows + j;
            if (form != ProductForm::bf16) {
                store_lanes(form, load_floats(weights, at), panel, to);
                continue;
            }
            WordVector pairs = __builtin_convertvector(load_halves(weights, at), WordVector);
            if (k + 1 < weights.depth) pairs |= __builtin_convertvector(load_halves(weights, at + weights.column_step), WordVector) << 16;
            store_lanes(form, (Vector)pairs, panel, to);
        }
}

void pack(ProductForm form, const GivenWeights& weights, std::size_t first, std::size_t last, std::byte* values, float* scales,
          std::int32_t* sums) {
    const std::size_t bytes = parts_of(weights.depth, depth_step(form)) * depth_step(form) * panel_rows * weight_bytes(form);
    const std::size_t groups = num_groups(form, weights.depth);
    for (std::size_t p = first; p < last; ++p, values += bytes) {
        const std::size_t begin = p * panel_rows, rows = smaller(panel_rows, weights.rows - begin);
        if (rows < panel_rows || weights.depth % depth_step(form) != 0) __builtin_memset(values, 0, bytes);
        if (form != ProductForm::int8 && rows == panel_rows && (weights.column_step == 1 || weights.row_step == 1)) {
            (weights.column_step == 1 ? pack_squares : pack_columns)(form, weights, begin, values);
            continue;
        }
        for (std::size_t j = 0; j < rows; ++j) {
            const std::size_t at = (p - first) * groups * panel_rows + j;
            if (form == ProductForm::int8)
                pack_int8_row(weights, begin + j, reinterpret_cast<std::int8_t*>(values), j, scales + at, sums + at);
            else
                pack_row(form, weights, begin + j, 0, values, j);
        }
    }
}

// ---------------------------------------------------------------- activations

/// Calls whole(k) for whole vectors of a row and single(k) for the elements behind them.
template <typename Whole, typename Single>
inline void over_row(std::size_t depth, Whole whole, Single single) {
    std::size_t k = 0;
    for (; k + lanes <= depth; k += lanes) whole(k);
    for (; k < depth; ++k) single(k);
}

void prepare_bf16(const float* x, std::size_t depth, std::byte* to) {
    auto* out = reinterpret_cast<LooseHalf*>(to);
    over_row(
        depth, [&](std::size_t k) { *reinterpret_cast<UnalignedHalves*>(to + 2 * k) = to_bf16(load(x + k)); },
        [&](std::size_t k) { out[k] = to_bf16(x[k]); });
    if (depth % 2) out[depth] = 0;
}

/// A row as it is, or with each element multiplied by its own factor.
struct PlainRow {
    const float* x;
    Vector whole(std::size_t k) const { return load(x + k); }
    float single(std::size_t k) const { return x[k]; }
};
struct ScaledRow {
    const float *x, *factors;
    Vector whole(std::size_t k) const { return load(x + k) * load(factors + k); }
    float single(std::size_t k) const { return x[k] * factors[k]; }
};

/// The smallest and the largest of a row and 0.
template <typename Row>
inline void range_of(const Row& x, std::size_t depth, float& low, float& high) {
    Vector least{}, most{};
    over_row(
        depth,
        [&](std::size_t k) {
            const Vector v = x.whole(k);
            least = v < least ? v : least;
            most = v > most ? v : most;
        },
        [&](std::size_t k) {
            const float v = x.single(k);
            least[0] = v < least[0] ? v : least[0];
            most[0] = v > most[0] ? v : most[0];
        });
    low = least[0], high = most[0];
    for (std::size_t i = 1; i < lanes; ++i) {
        low = least[i] < low ? least[i] : low;
        high = most[i] > high ? most[i] : high;
    }
}

/// A group: q = round(x / scale) + zero in [0, 255], so that 0 is exactly `zero`. A row with a number that is not finite has a scale that
/// is not.
template <typename Row>
RowScale prepare_int8(const Row& x, std::size_t depth, std::byte* to) {
    float low, high;
    range_of(x, depth, low, high);
    const float scale = high > low ? (high - low) / 255.0f : 1.0f, inverse = 1.0f / scale;
    const float zero = __builtin_rintf(-low * inverse);
    const auto clipped = [](auto q, auto bottom, auto top) { return q < bottom ? bottom : q > top ? top : q; };
    auto* out = reinterpret_cast<std::uint8_t*>(to);
    constexpr float magic = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer
    float not_finite = 0;
    Vector poison{};
    over_row(
        depth,
        [&](std::size_t k) {
            const Vector v = x.whole(k);
            poison += v * 0.0f;
            Vector q = v * inverse + (zero + magic);
            q -= magic;
            q = q < 0.0f ? Vector{} : q;
            q = q > 255.0f ? Vector{} + 255.0f : q;
            *reinterpret_cast<UnalignedBytes*>(out + k) = __builtin_convertvector(__builtin_convertvector(q, IntVector), ByteVector);
        },
        [&](std::size_t k) {
            const float v = x.single(k);
            not_finite += v * 0.0f;
            out[k] = static_cast<std::uint8_t>(clipped(v * inverse + (zero + magic) - magic, 0.0f, 255.0f));
        });
    for (std::size_t i = 0; i < lanes; ++i) not_finite += poison[i];
    return {scale + not_finite, static_cast<std::int32_t>(zero)};
}

/// A row of several groups.
void prepare_int8_row(const float* x, std::size_t depth, const float* factors, std::byte* to, RowScale* scales) {
    const std::size_t group = group_depth(ProductForm::int8, depth);
    for (std::size_t k = 0; k < depth; k += group, ++scales) {
        const std::size_t here = smaller(group, depth - k);
        *scales = factors ? prepare_int8(ScaledRow{x + k, factors + k}, here, to + k) : prepare_int8(PlainRow{x + k}, here, to + k);
    }
    for (std::size_t k = depth; k % 4; ++k) to[k] = std::byte{0};
}

void prepare(ProductForm form, const float* x, std::size_t x_stride, std::size_t rows, std::size_t depth, const float* factors,
             std::byte* values, RowScale* scales) {
    const std::size_t stride = activation_stride(form, depth), groups = num_groups(form, depth);
    for (std::size_t i = 0; i < rows; ++i, x += x_stride, values += stride) {
        if (form == ProductForm::int8)
            prepare_int8_row(x, depth, factors, values, scales + i * groups);
        else if (form == ProductForm::bf16)
            prepare_bf16(x, depth, values);
        else
            __builtin_memcpy(values, x, depth * sizeof(float));
    }
}
