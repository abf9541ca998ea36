#include "eval/score_filter.h"

#include <cmath>
#include <cstdlib>
#include <numeric>
#include <string_view>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace faceter {
namespace {

#if defined(__x86_64__)
/// Added to a length: numbers below 2^-126 count as 0 in the filter, and 1e-15 is more than they can add up to.
constexpr float tiny_length = 1e-15F;

__attribute__((target("avx512f,avx512bw,avx512bf16"))) float bf16_pack(const float* row, std::size_t dim, std::uint32_t* pairs) {
    __m512 squares = _mm512_setzero_ps();
    for (std::size_t d = 0; d < dim; d += 32) {
        const std::size_t left = dim - d;
        const std::uint32_t here = left >= 32 ? 0xffffffffU : (1U << left) - 1;
        const __m512 low = _mm512_maskz_loadu_ps(static_cast<__mmask16>(here), row + d),
                     high = _mm512_maskz_loadu_ps(static_cast<__mmask16>(here >> 16), row + d + 16);
        squares = _mm512_fmadd_ps(low, low, _mm512_fmadd_ps(high, high, squares));
        const auto packed = (__m512i)_mm512_cvtne2ps_pbh(high, low);
        _mm512_mask_storeu_epi32(pairs + d / 2, static_cast<__mmask16>(left >= 32 ? 0xffff : (1U << (left + 1) / 2) - 1), packed);
    }
    float lanes[16];
    _mm512_storeu_ps(lanes, squares);
    return std::sqrt(std::accumulate(lanes, lanes + 16, 0.0F)) * 1.00001F + tiny_length;
}

template <std::size_t rows>
__attribute__((target("avx512f,avx512bw,avx512bf16"))) void bf16_tile(const std::uint32_t* panel, const std::uint32_t* documents,
                                                                      std::size_t pairs, const float* thresholds, const float* reaches,
                                                                      const float* lengths, std::uint32_t* maybe) {
    __m512 sum[rows][2];
#pragma GCC unroll 16
    for (std::size_t r = 0; r < rows; ++r) sum[r][0] = sum[r][1] = _mm512_setzero_ps();
    for (std::size_t p = 0; p < pairs; ++p) {
        const auto left = (__m512bh)_mm512_loadu_si512(panel + p * 32), right = (__m512bh)_mm512_loadu_si512(panel + p * 32 + 16);
#pragma GCC unroll 16
        for (std::size_t r = 0; r < rows; ++r) {
            const auto x = (__m512bh)_mm512_set1_epi32(static_cast<int>(documents[r * pairs + p]));
            sum[r][0] = _mm512_dpbf16_ps(sum[r][0], x, left);
            sum[r][1] = _mm512_dpbf16_ps(sum[r][1], x, right);
        }
    }
    const __m512 thresholds_left = _mm512_loadu_ps(thresholds), thresholds_right = _mm512_loadu_ps(thresholds + 16);
    const __m512 reach_left = _mm512_loadu_ps(reaches), reach_right = _mm512_loadu_ps(reaches + 16);
#pragma GCC unroll 16
    for (std::size_t r = 0; r < rows; ++r) {
        const __m512 length = _mm512_set1_ps(lengths[r]);
        const __m512 left = _mm512_fnmadd_ps(length, reach_left, thresholds_left);
        const __m512 right = _mm512_fnmadd_ps(length, reach_right, thresholds_right);
        // Not "greater": what cannot be compared may be above, and so may what overflowed.
        const std::uint32_t low = _mm512_cmp_ps_mask(sum[r][0], left, _CMP_NLT_UQ),
                            high = _mm512_cmp_ps_mask(sum[r][1], right, _CMP_NLT_UQ);
        maybe[r] = low | high << 16;
    }
}

constexpr ScoreFilter bf16_filter{32, 12, bf16_tile<12>, bf16_tile<1>, bf16_pack};
#endif

const ScoreFilter* filter_of_processor() {
#if defined(__x86_64__)
    const char* set = std::getenv("FACETER_CPU");
    const std::string_view wanted = set ? set : "";
    if (wanted != "generic" && wanted != "avx2" && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512bf16"))
        return &bf16_filter;
#endif
    return nullptr;
}

}  // namespace

const ScoreFilter* score_filter(Similarity similarity) {
    static const ScoreFilter* const filter = filter_of_processor();
    return similarity == Similarity::euclidean || similarity == Similarity::manhattan ? nullptr : filter;
}

void FilterRows::assign(const ScoreFilter& filter, const FeatureMatrix& rows) {
    const auto count = static_cast<std::size_t>(rows.rows), dim = static_cast<std::size_t>(rows.dim), width = (dim + 1) / 2;
    pairs.resize(count * width);
    lengths.resize(count);
    for (std::size_t r = 0; r < count; ++r) lengths[r] = filter.pack(rows.data + r * dim, dim, pairs.data() + r * width);
}

float reach_of(float length, std::int64_t dim) {
    // 2^-8 of each factor, their product, and the rounding of both sums, of which each step adds at most 2^-24 (the filter's two a pair).
    return length * static_cast<float>(1.0 / 128 + 1.0 / 65536 + 3e-7 * static_cast<double>(dim));
}

}  // namespace faceter
