#include "eval/score_kernel.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace faceter {
namespace {

/// What an element adds to a score.
struct Product {
    static float of(float x, float y) { return x * y; }
};
struct SquaredDistance {
    static float of(float x, float y) { return -(x - y) * (x - y); }
};
struct AbsoluteDistance {
    static float of(float x, float y) { return -std::abs(x - y); }
};

template <typename Term, std::size_t rows, std::size_t lanes>
void plain_tile(const float* panel, const float* documents, std::size_t dim, const float* thresholds, float* scores, std::uint32_t* above) {
    for (std::size_t r = 0; r < rows; ++r) {
        float sum[lanes] = {};
        for (std::size_t d = 0; d < dim; ++d)
            for (std::size_t q = 0; q < lanes; ++q) sum[q] += Term::of(documents[r * dim + d], panel[d * lanes + q]);
        above[r] = 0;
        for (std::size_t q = 0; q < lanes; ++q) above[r] |= std::uint32_t{sum[q] > thresholds[q]} << q;
        std::copy(sum, sum + lanes, scores + r * lanes);
    }
}

template <typename Term>
constexpr ScoreKernel plain_kernel{8, 4, plain_tile<Term, 4, 8>, plain_tile<Term, 1, 8>};

#if defined(__x86_64__)
// Two registers of queries by as many documents as leave registers for them: 12 x 2 of 32 with AVX-512, 6 x 2 of 16 with AVX2.

template <std::size_t rows>
__attribute__((target("avx512f"))) void avx512_tile(const float* panel, const float* documents, std::size_t dim, const float* thresholds,
                                                    float* scores, std::uint32_t* above) {
    __m512 sum[rows][2];
#pragma GCC unroll 16
    for (std::size_t r = 0; r < rows; ++r) sum[r][0] = sum[r][1] = _mm512_setzero_ps();
    for (std::size_t d = 0; d < dim; ++d) {
        const __m512 left = _mm512_loadu_ps(panel + d * 32), right = _mm512_loadu_ps(panel + d * 32 + 16);
#pragma GCC unroll 16
        for (std::size_t r = 0; r < rows; ++r) {
            const __m512 x = _mm512_set1_ps(documents[r * dim + d]);
            sum[r][0] = _mm512_fmadd_ps(x, left, sum[r][0]);
            sum[r][1] = _mm512_fmadd_ps(x, right, sum[r][1]);
        }
    }
    const __m512 left = _mm512_loadu_ps(thresholds), right = _mm512_loadu_ps(thresholds + 16);
#pragma GCC unroll 16
    for (std::size_t r = 0; r < rows; ++r) {
        const std::uint32_t low = _mm512_cmp_ps_mask(sum[r][0], left, _CMP_GT_OQ), high = _mm512_cmp_ps_mask(sum[r][1], right, _CMP_GT_OQ);
        above[r] = low | high << 16;
        if (above[r] == 0) continue;
        _mm512_storeu_ps(scores + r * 32, sum[r][0]);
        _mm512_storeu_ps(scores + r * 32 + 16, sum[r][1]);
    }
}

template <std::size_t rows>
__attribute__((target("avx2,fma"))) void avx2_tile(const float* panel, const float* documents, std::size_t dim, const float* thresholds,
                                                   float* scores, std::uint32_t* above) {
    __m256 sum[rows][2];
#pragma GCC unroll 16
    for (std::size_t r = 0; r < rows; ++r) sum[r][0] = sum[r][1] = _mm256_setzero_ps();
    for (std::size_t d = 0; d < dim; ++d) {
        const __m256 left = _mm256_loadu_ps(panel + d * 16), right = _mm256_loadu_ps(panel + d * 16 + 8);
#pragma GCC unroll 16
        for (std::size_t r = 0; r < rows; ++r) {
            const __m256 x = _mm256_set1_ps(documents[r * dim + d]);
            sum[r][0] = _mm256_fmadd_ps(x, left, sum[r][0]);
            sum[r][1] = _mm256_fmadd_ps(x, right, sum[r][1]);
        }
    }
    const __m256 left = _mm256_loadu_ps(thresholds), right = _mm256_loadu_ps(thresholds + 8);
#pragma GCC unroll 16
    for (std::size_t r = 0; r < rows; ++r) {
        const auto low = static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_cmp_ps(sum[r][0], left, _CMP_GT_OQ)));
        const auto high = static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_cmp_ps(sum[r][1], right, _CMP_GT_OQ)));
        above[r] = low | high << 8;
        if (above[r] == 0) continue;
        _mm256_storeu_ps(scores + r * 16, sum[r][0]);
        _mm256_storeu_ps(scores + r * 16 + 8, sum[r][1]);
    }
}

constexpr ScoreKernel avx512_kernel{32, 12, avx512_tile<12>, avx512_tile<1>};
constexpr ScoreKernel avx2_kernel{16, 6, avx2_tile<6>, avx2_tile<1>};
#endif

const ScoreKernel& dot_product_kernel() {
#if defined(__x86_64__)
    const char* set = std::getenv("FACETER_CPU");
    const std::string_view wanted = set ? set : "";
    if (wanted != "generic" && wanted != "avx2" && __builtin_cpu_supports("avx512f")) return avx512_kernel;
    if (wanted != "generic" && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return avx2_kernel;
#endif
    return plain_kernel<Product>;
}

}  // namespace

const ScoreKernel& score_kernel(Similarity similarity) {
    static const ScoreKernel& products = dot_product_kernel();
    if (similarity == Similarity::euclidean) return plain_kernel<SquaredDistance>;
    return similarity == Similarity::manhattan ? plain_kernel<AbsoluteDistance> : products;
}

}  // namespace faceter
