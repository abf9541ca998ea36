// Included once by each isa_*.cpp with its own compiler flags. Everything is in an anonymous namespace and nothing of the standard
// library's templates is used: a template compiled here for AVX-512 must never be the one that the linker keeps for everybody.
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "model/kernels/kernels.h"

namespace faceter::kernels {
namespace {

#if defined(__AVX512F__)
constexpr std::size_t lanes = 16, tile_rows = 8;
#elif defined(__AVX2__)
constexpr std::size_t lanes = 8, tile_rows = 4;
#else
constexpr std::size_t lanes = 4, tile_rows = 4;
#endif
typedef float Vector __attribute__((vector_size(4 * lanes)));
typedef float UnalignedVector __attribute__((vector_size(4 * lanes), aligned(4), may_alias));
typedef std::int32_t IntVector __attribute__((vector_size(4 * lanes)));

inline Vector load(const float* at) { return *reinterpret_cast<const UnalignedVector*>(at); }
inline void store(float* at, Vector value) { *reinterpret_cast<UnalignedVector*>(at) = value; }
/// Taken off: adding a zero is an addition to the compiler as well, which turns -0 into 0.
inline Vector splat(float value) { return value - Vector{}; }
inline Vector select(IntVector condition, Vector yes, Vector no) { return condition ? yes : no; }
inline std::size_t round_up(std::size_t value, std::size_t to) { return (value + to - 1) / to * to; }
inline std::size_t smaller(std::size_t a, std::size_t b) { return a < b ? a : b; }

/// The numbers of lanes from 0 on, as constants: a vector that a loop fills is put together anew wherever it is used.
template <std::int32_t count, std::int32_t... i>
struct LaneNumbers : LaneNumbers<count - 1, count - 1, i...> {};
template <std::int32_t... i>
struct LaneNumbers<0, i...> {
    static IntVector counted() { return IntVector{i...}; }
    /// Lane i has lane i ^ distance of v.
    template <std::int32_t distance>
    static Vector exchanged(Vector v) {
        return __builtin_shuffle(v, IntVector{(i ^ distance)...});
    }
};
using Lanes = LaneNumbers<static_cast<std::int32_t>(lanes)>;

/// In pairs, so that no lane waits for all before it.
template <std::int32_t distance = lanes / 2>
inline float sum(Vector v) {
    v += Lanes::exchanged<distance>(v);
    if constexpr (distance > 1)
        return sum<distance / 2>(v);
    else
        return v[0];
}
template <std::int32_t distance = lanes / 2>
inline float largest(Vector v) {
    const Vector other = Lanes::exchanged<distance>(v);
    v = select(other > v, other, v);
    if constexpr (distance > 1)
        return largest<distance / 2>(v);
    else
        return v[0];
}

/// exp(x), relative error below 2e-7; below -87 the smallest normal number, callers mask what must be 0.
inline Vector exp_vector(Vector x) {
    x = select(x < -87.3f, splat(-87.3f), x);
    x = select(x > 88.3f, splat(88.3f), x);
    const Vector shifted = x * 1.44269504f + 12582912.0f;  // 1.5 * 2^23: the integer nearest lands in the low mantissa bits
    const Vector n = shifted - 12582912.0f;
    const Vector r = x - n * 0.693359375f + n * 2.12194440e-4f;
    Vector p = splat(1.9875691500e-4f);
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * r * r + r + 1.0f;
    const IntVector exponent = (__builtin_convertvector(n, IntVector) + 127) << 23;
    return p * (Vector)exponent;
}

/// erf(x) as a rational function of x^2 (the one of Eigen and XLA), within a few units in the last place.
inline Vector erf_vector(Vector x) {
    x = select(x < -3.832506856900711f, splat(-3.832506856900711f), x);
    x = select(x > 3.832506856900711f, splat(3.832506856900711f), x);
    const Vector s = x * x;
    Vector p = splat(0.00022905065861350646f);
    p = p * s + 0.0034082910107109506f;
    p = p * s + 0.050955695062380861f;
    p = p * s + 0.18520832239976145f;
    p = p * s + 1.128379143519084f;
    Vector q = splat(-1.1791602954361697e-7f);
    q = q * s + 0.000023547966471313185f;
    q = q * s + 0.0010179625278914885f;
    q = q * s + 0.014070470171167667f;
    q = q * s + 0.11098505178285362f;
    q = q * s + 0.49746925110067538f;
    q = q * s + 1.0f;
    return x * p / q;
}

// ---------------------------------------------------------------- dropout

/// Sixteen words side by side: the group's shape is the same for every instruction set, and so are the masks.
typedef std::uint32_t Words __attribute__((vector_size(64)));
typedef std::uint64_t HalfWords __attribute__((vector_size(64)));

/// The 32 x 32 bit products of all lanes as high and low halves.
inline void wide_product(Words c, std::uint32_t factor, Words& high, Words& low) {
#if defined(__AVX512F__)
    const __m512i x = (__m512i)c, m = _mm512_set1_epi32(static_cast<int>(factor));
    const __m512i even = _mm512_mul_epu32(x, m), odd = _mm512_mul_epu32(_mm512_srli_epi64(x, 32), m);
    high = (Words)_mm512_mask_blend_epi32(0xAAAA, _mm512_srli_epi64(even, 32), odd);
    low = (Words)_mm512_mask_blend_epi32(0xAAAA, even, _mm512_slli_epi64(odd, 32));
#elif defined(__AVX2__)
    const __m256i m = _mm256_set1_epi32(static_cast<int>(factor));
    __m256i x[2], h[2], l[2];
    __builtin_memcpy(x, &c, sizeof x);
    for (int half = 0; half < 2; ++half) {
        const __m256i even = _mm256_mul_epu32(x[half], m), odd = _mm256_mul_epu32(_mm256_srli_epi64(x[half], 32), m);
        h[half] = _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xAA);
        l[half] = _mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xAA);
    }
    __builtin_memcpy(&high, h, sizeof h);
    __builtin_memcpy(&low, l, sizeof l);
#else
    for (int i = 0; i < 16; ++i) {
        const std::uint64_t wide = std::uint64_t{factor} * c[i];
        high[i] = static_cast<std::uint32_t>(wide >> 32);
        low[i] = static_cast<std::uint32_t>(wide);
    }
#endif
}

/// The random words of one group of 128 elements: 16 Philox counters, 4 words each, two elements a word.
inline void group_words(std::uint32_t group, std::uint32_t row, std::uint64_t sequence, const Dropout& dropout, Words out[4]) {
    constexpr Words lane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    Words c0 = lane + group * 16, c1 = Words{} + row, c2 = Words{} + static_cast<std::uint32_t>(sequence);
    Words c3 = Words{} + (static_cast<std::uint32_t>(sequence >> 32) ^ (dropout.site * 0x9E3779B1u));
    std::uint32_t k0 = dropout.key[0], k1 = dropout.key[1];
    for (int round = 0; round < 10; ++round) {
        Words high_a, low_a, high_b, low_b;
        wide_product(c0, 0xD2511F53u, high_a, low_a);
        wide_product(c2, 0xCD9E8D57u, high_b, low_b);
        c0 = high_b ^ c1 ^ k0;
        c1 = low_b;
        c2 = high_a ^ c3 ^ k1;
        c3 = low_a;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    out[0] = c0, out[1] = c1, out[2] = c2, out[3] = c3;
}

typedef float Mask __attribute__((vector_size(64)));
typedef float UnalignedMask __attribute__((vector_size(64), aligned(4), may_alias));

/// Multiplies a row by its mask (0 or scale). Element j of the row: group j / 128, half-word (j / 16) % 8, lane j % 16.
void dropout_row(const float* x, float* y, std::size_t count, std::size_t row, std::uint64_t sequence, const Dropout& dropout) {
    if (dropout.threshold == 0) {
        if (x != y) __builtin_memcpy(y, x, count * sizeof(float));
        return;
    }
    Words words[4];
    for (std::size_t start = 0; start < count; start += 128) {
        group_words(static_cast<std::uint32_t>(start / 128), static_cast<std::uint32_t>(row), sequence, dropout, words);
        for (std::size_t part = 0; part < 8 && start + part * 16 < count; ++part) {
            const Words bits = part % 2 ? words[part / 2] >> 16 : words[part / 2] & 0xffffu;
            const Mask mask = (bits >= dropout.threshold) ? Mask{} + dropout.scale : Mask{};
            const std::size_t at = start + part * 16, here = smaller(16, count - at);
            if (here == 16)
                *reinterpret_cast<UnalignedMask*>(y + at) = *reinterpret_cast<const UnalignedMask*>(x + at) * mask;
            else
                for (std::size_t i = 0; i < here; ++i) y[at + i] = x[at + i] * mask[i];
        }
    }
}

// ---------------------------------------------------------------- small matrix products

/// One tile: C[R, V * lanes] (+)= A[R, K] B[K, V * lanes], A(i, k) = a[i * row_step + k * column_step].
template <std::size_t R, std::size_t V, bool accumulate>
inline void tile(std::size_t depth, const float* a, std::size_t row_step, std::size_t column_step, const float* b, std::size_t b_stride,
                 float* c, std::size_t c_stride) {
    Vector acc[R][V];
#pragma GCC unroll 8
    for (std::size_t i = 0; i < R; ++i)
#pragma GCC unroll 4
        for (std::size_t v = 0; v < V; ++v) acc[i][v] = accumulate ? load(c + i * c_stride + v * lanes) : Vector{};
    for (std::size_t k = 0; k < depth; ++k) {
        Vector row[V];
#pragma GCC unroll 4
        for (std::size_t v = 0; v < V; ++v) row[v] = load(b + k * b_stride + v * lanes);
#pragma GCC unroll 8
        for (std::size_t i = 0; i < R; ++i) {
            const Vector factor = splat(a[i * row_step + k * column_step]);
#pragma GCC unroll 4
            for (std::size_t v = 0; v < V; ++v) acc[i][v] += factor * row[v];
        }
    }
#pragma GCC unroll 8
    for (std::size_t i = 0; i < R; ++i)
#pragma GCC unroll 4
        for (std::size_t v = 0; v < V; ++v) store(c + i * c_stride + v * lanes, acc[i][v]);
}

template <std::size_t R, bool accumulate>
inline void tile_row(std::size_t columns, std::size_t depth, const float* a, std::size_t row_step, std::size_t column_step, const float* b,
                     std::size_t b_stride, float* c, std::size_t c_stride) {
    std::size_t n = 0;
    for (; n + 2 * lanes <= columns; n += 2 * lanes)
        tile<R, 2, accumulate>(depth, a, row_step, column_step, b + n, b_stride, c + n, c_stride);
    for (; n < columns; n += lanes) tile<R, 1, accumulate>(depth, a, row_step, column_step, b + n, b_stride, c + n, c_stride);
}

/// C[M, N] (+)= A[M, K] B[K, N]; N is a multiple of the vector's width (buffers are padded).
template <bool accumulate>
void product(std::size_t rows, std::size_t columns, std::size_t depth, const float* a, std::size_t row_step, std::size_t column_step,
             const float* b, std::size_t b_stride, float* c, std::size_t c_stride) {
    std::size_t i = 0;
    for (; i + tile_rows <= rows; i += tile_rows)
        tile_row<tile_rows, accumulate>(columns, depth, a + i * row_step, row_step, column_step, b, b_stride, c + i * c_stride, c_stride);
    for (; i + 4 <= rows; i += 4)
        tile_row<4, accumulate>(columns, depth, a + i * row_step, row_step, column_step, b, b_stride, c + i * c_stride, c_stride);
    for (; i < rows; ++i)
        tile_row<1, accumulate>(columns, depth, a + i * row_step, row_step, column_step, b, b_stride, c + i * c_stride, c_stride);
}

#include "model/kernels/transpose.inc.h"

#include "model/kernels/attention_rows.inc.h"
#include "model/kernels/relative.inc.h"
// Behind the two that it is made of.
#include "model/kernels/attention.inc.h"

// ---------------------------------------------------------------- activations

/// f(x) and f'(x) of each activation.
struct Gelu {
    static void both(Vector x, Vector& value, Vector& slope) {
        const Vector cdf = 0.5f * (1.0f + erf_vector(x * 0.70710678f));
        value = x * cdf;
        slope = cdf + x * 0.39894228f * exp_vector(x * x * -0.5f);  // Phi(x) + x phi(x)
    }
    static Vector value(Vector x) { return 0.5f * x * (1.0f + erf_vector(x * 0.70710678f)); }
};
struct GeluTanh {  // 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) = x sigmoid(2 sqrt(2 / pi) (x + 0.044715 x^3))
    static Vector gate(Vector x) { return 1.0f / (1.0f + exp_vector(x * (1.0f + 0.044715f * x * x) * -1.5957691216f)); }
    static void both(Vector x, Vector& value, Vector& slope) {
        const Vector g = gate(x);
        value = x * g;
        slope = g + x * g * (1.0f - g) * 1.5957691216f * (1.0f + 0.134145f * x * x);
    }
    static Vector value(Vector x) { return x * gate(x); }
};
struct Relu {
    static void both(Vector x, Vector& value, Vector& slope) {
        value = Relu::value(x);
        slope = select(x <= 0.0f, Vector{}, splat(1.0f));
    }
    static Vector value(Vector x) { return select(x <= 0.0f, Vector{}, x); }  // NaN stays NaN
};
struct Silu {
    static Vector gate(Vector x) { return 1.0f / (1.0f + exp_vector(-x)); }
    static void both(Vector x, Vector& value, Vector& slope) {
        const Vector g = gate(x);
        value = x * g;
        slope = g * (1.0f + x * (1.0f - g));
    }
    static Vector value(Vector x) { return x * gate(x); }
};

/// `body(at, count)` over a row: whole vectors, then the tail through a padded copy.
template <typename Body>
inline void over_row(std::size_t width, Body body) {
    std::size_t j = 0;
    for (; j + lanes <= width; j += lanes) body(j, lanes);
    if (j < width) body(j, width - j);
}

inline Vector load_part(const float* at, std::size_t count) {
    if (count == lanes) return load(at);
    Vector v{};
    for (std::size_t i = 0; i < count; ++i) v[i] = at[i];
    return v;
}

inline void store_part(float* at, Vector value, std::size_t count) {
    if (count == lanes) return store(at, value);
    for (std::size_t i = 0; i < count; ++i) at[i] = value[i];
}

inline Vector biased(const float* u, const float* bias, std::size_t j, std::size_t count) {
    return load_part(u + j, count) + (bias ? load_part(bias + j, count) : Vector{});
}

inline void add_part(float* at, Vector value, std::size_t count) { store_part(at, load_part(at, count) + value, count); }

template <typename F>
void activate(const ActivationShape& shape, const float* u, const float* bias, float* y) {
    const std::size_t inner = shape.inner, width = shape.gated ? 2 * inner : inner;
    const std::size_t gate = shape.gate_second ? inner : 0, factor = inner - gate;  // where each half begins
    for (std::size_t i = 0; i < shape.rows; ++i, u += width, y += inner)
        over_row(inner, [&](std::size_t j, std::size_t count) {
            const Vector value = F::value(biased(u, bias, gate + j, count));
            store_part(y + j, shape.gated ? value * biased(u, bias, factor + j, count) : value, count);
        });
}

template <typename F>
void activate_backward(const ActivationShape& shape, const float* u, const float* bias, const float* dy, float* y, float* du,
                       float* dbias) {
    const std::size_t inner = shape.inner, width = shape.gated ? 2 * inner : inner;
    const std::size_t gate = shape.gate_second ? inner : 0, other = inner - gate;  // where each half begins
    for (std::size_t i = 0; i < shape.rows; ++i, u += width, du += width, y += inner, dy += inner)
        over_row(inner, [&](std::size_t j, std::size_t count) {
            Vector value, slope, d = load_part(dy + j, count);
            F::both(biased(u, bias, gate + j, count), value, slope);
            if (shape.gated) {
                const Vector factor = biased(u, bias, other + j, count), dfactor = d * value;
                store_part(du + other + j, dfactor, count);
                if (dbias) add_part(dbias + other + j, dfactor, count);
                value *= factor;
                d *= factor;
            }
            store_part(y + j, value, count);
            const Vector dx = d * slope;
            store_part(du + gate + j, dx, count);
            if (dbias) add_part(dbias + gate + j, dx, count);
        });
}

void activation(const ActivationShape& shape, const float* u, const float* bias, float* y) {
    switch (shape.kind) {
        case Activation::gelu:
            return activate<Gelu>(shape, u, bias, y);
        case Activation::gelu_tanh:
            return activate<GeluTanh>(shape, u, bias, y);
        case Activation::relu:
            return activate<Relu>(shape, u, bias, y);
        case Activation::silu:
            return activate<Silu>(shape, u, bias, y);
    }
}

void activation_backward(const ActivationShape& shape, const float* u, const float* bias, const float* dy, float* y, float* du,
                         float* dbias) {
    switch (shape.kind) {
        case Activation::gelu:
            return activate_backward<Gelu>(shape, u, bias, dy, y, du, dbias);
        case Activation::gelu_tanh:
            return activate_backward<GeluTanh>(shape, u, bias, dy, y, du, dbias);
        case Activation::relu:
            return activate_backward<Relu>(shape, u, bias, dy, y, du, dbias);
        case Activation::silu:
            return activate_backward<Silu>(shape, u, bias, dy, y, du, dbias);
    }
}

// ---------------------------------------------------------------- dropout + residual + layer norm

/// Mean and 1 / standard deviation (biased variance, two passes) of a row; 0 and 1 / root mean square.
inline void moments(const float* z, const NormParameters& norm, float& mean, float& rstd) {
    mean = 0;
    if (!norm.rms) {
        Vector total{};
        over_row(norm.width, [&](std::size_t j, std::size_t count) { total += load_part(z + j, count); });
        mean = sum(total) / static_cast<float>(norm.width);
    }
    Vector squares{};
    over_row(norm.width, [&](std::size_t j, std::size_t count) {
        Vector d = load_part(z + j, count) - mean;
        for (std::size_t i = count; i < lanes; ++i) d[i] = 0;
        squares += d * d;
    });
    rstd = 1.0f / __builtin_sqrtf(sum(squares) / static_cast<float>(norm.width) + norm.epsilon);
}

void add_norm(float* x, const float* bias, const float* residual, float* y, float* mean, float* rstd, std::size_t rows,
              std::size_t first_row, std::uint64_t sequence_key, const Dropout& dropout, const NormParameters& norm) {
    const std::size_t width = norm.width;
    for (std::size_t i = 0; i < rows; ++i) {
        float* row = x + i * width;
        if (bias)
            over_row(width, [&](std::size_t j, std::size_t count) {
                store_part(row + j, load_part(row + j, count) + load_part(bias + j, count), count);
            });
        if (dropout.threshold) dropout_row(row, row, width, first_row + i, sequence_key, dropout);
        if (residual)
            over_row(width, [&](std::size_t j, std::size_t count) {
                store_part(row + j, load_part(row + j, count) + load_part(residual + i * width + j, count), count);
            });
        moments(row, norm, mean[i], rstd[i]);
        over_row(width, [&](std::size_t j, std::size_t count) {
            const Vector normal = (load_part(row + j, count) - mean[i]) * rstd[i];
            const Vector scaled = normal * load_part(norm.gamma + j, count);
            store_part(y + i * width + j, norm.beta ? scaled + load_part(norm.beta + j, count) : scaled, count);
        });
    }
}

void add_norm_backward(const float* z, const float* dy, const float* dsum, const float* mean, const float* rstd, float* dx, float* dz,
                       float* dgamma, float* dbeta, float* dbias, std::size_t rows, std::size_t first_row, std::uint64_t sequence_key,
                       const Dropout& dropout, const NormParameters& norm) {
    const std::size_t width = norm.width;
    const float inverse = 1.0f / static_cast<float>(width);
    for (std::size_t i = 0; i < rows; ++i) {
        const float *zi = z + i * width, *dyi = dy + i * width;
        float* dxi = dx + i * width;
        Vector sum_g{}, sum_gn{};  // sums of g = dy * gamma and of g * normal
        over_row(width, [&](std::size_t j, std::size_t count) {
            const Vector d = load_part(dyi + j, count), normal = (load_part(zi + j, count) - mean[i]) * rstd[i];
            const Vector g = d * load_part(norm.gamma + j, count);
            sum_g += g;
            sum_gn += g * normal;
            store_part(dgamma + j, load_part(dgamma + j, count) + d * normal, count);
            store_part(dbeta + j, load_part(dbeta + j, count) + d, count);
        });
        const float mean_g = norm.rms ? 0.0f : sum(sum_g) * inverse, mean_gn = sum(sum_gn) * inverse;
        over_row(width, [&](std::size_t j, std::size_t count) {
            const Vector normal = (load_part(zi + j, count) - mean[i]) * rstd[i];
            const Vector g = load_part(dyi + j, count) * load_part(norm.gamma + j, count);
            Vector d = (g - mean_g - normal * mean_gn) * rstd[i];
            if (dsum) d += load_part(dsum + i * width + j, count);
            if (dz) store_part(dz + i * width + j, d, count);
            store_part(dxi + j, d, count);
        });
        if (dropout.threshold) dropout_row(dxi, dxi, width, first_row + i, sequence_key, dropout);
        if (dbias)
            over_row(width, [&](std::size_t j, std::size_t count) {
                store_part(dbias + j, load_part(dbias + j, count) + load_part(dxi + j, count), count);
            });
    }
}

void dropout_rows(const float* x, float* y, std::size_t rows, std::size_t width, std::size_t first_row, std::uint64_t sequence_key,
                  const Dropout& dropout) {
    for (std::size_t i = 0; i < rows; ++i) dropout_row(x + i * width, y + i * width, width, first_row + i, sequence_key, dropout);
}

}  // namespace

extern const Table FACETER_ISA_TABLE;
const Table FACETER_ISA_TABLE = {FACETER_ISA_NAME, attention_forward, attention_backward, activation,  activation_backward,
                                 rotate,           add_norm,          add_norm_backward,  dropout_rows};

}  // namespace faceter::kernels
