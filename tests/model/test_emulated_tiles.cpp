#include <immintrin.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "support/emulated_tiles/decoded.h"
#include "support/emulated_tiles/emulated_tiles.h"
#include "support/emulated_tiles/trapped_instructions.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

using Shapes = std::array<std::uint8_t, 64>;

/// Tiles 0, 1 and 2: m rows of n sums, of k values, and n weights of each of k.
Shapes shapes_of(int m, int k, int n) {
    Shapes shapes{1};
    const int bytes[] = {4 * n, 4 * k, 4 * n}, rows[] = {m, m, k};
    for (std::size_t t = 0; t < 3; ++t) {
        shapes[16 + 2 * t] = static_cast<std::uint8_t>(bytes[t]);
        shapes[48 + t] = static_cast<std::uint8_t>(rows[t]);
    }
    return shapes;
}

std::uint32_t bits_of(float value) {
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}
std::uint32_t pair_of(float even, float odd) { return bits_of(even) >> 16 | (bits_of(odd) & 0xffff0000u); }

/// What one sum becomes by pairs of numbers that bfloat16 holds.
float added(float before, const std::vector<std::pair<std::uint32_t, std::uint32_t>>& pairs) {
    configure_tiles(shapes_of(1, static_cast<int>(pairs.size()), 1).data());
    std::vector<std::uint32_t> values, weights;
    for (const auto& [value, weight] : pairs) values.push_back(value), weights.push_back(weight);
    load_tile(0, &before, 4);
    load_tile(1, values.data(), 64);
    load_tile(2, weights.data(), 4);
    multiply_bf16_tiles(0, 1, 2);
    float sum;
    store_tile(0, &sum, 4);
    release_tiles();
    return sum;
}
float added_by_vectors(float before, std::uint32_t value, std::uint32_t weight) {
    float sums[16] = {before};
    const std::uint32_t values[16] = {value}, weights[16] = {weight};
    multiply_bf16_pairs(sums, values, weights);
    return sums[0];
}

std::string fault_of(const std::function<void()>& body) {
    try {
        body();
    } catch (const TileFault& fault) {
        release_tiles();
        return fault.what;
    }
    release_tiles();
    return "none";
}

#define NEED_AVX512()                                                                                                        \
    if (!__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl")) { \
        QSKIP("emulated tiles need AVX-512");                                                                                \
    }

/// The product's own instructions: the processor's, or those of the trap.
namespace machine {
#include "model/kernels/tile_instructions.inc.h"
}

[[gnu::target("avx512f,avx512bf16")]] void multiply_pairs_by_machine(float* sums, const std::uint32_t* values,
                                                                     const std::uint32_t* weights) {
    const __m512i value = _mm512_loadu_si512(values), weight = _mm512_loadu_si512(weights);
    _mm512_storeu_ps(sums, _mm512_dpbf16_ps(_mm512_loadu_ps(sums), (__m512bh)value, (__m512bh)weight));
}

/// To sums: what `values` make with weights in a register, then in memory. To `other`: with number 5 of the weights, from what sums were.
[[gnu::target("avx512f,avx512bf16")]] void multiply_in_many_places(float* sums, const std::uint32_t* values, const std::uint32_t* weights,
                                                                   float* other) {
    const std::size_t index = 4;
    __asm__ volatile(
        "vmovups (%0), %%zmm30\n vmovups (%0), %%zmm7\n vmovups (%1), %%zmm25\n vmovups (%1), %%zmm12\n vmovups (%2), %%zmm17\n"
        "vdpbf16ps %%zmm17, %%zmm25, %%zmm30\n vdpbf16ps 64(%2), %%zmm25, %%zmm30\n"
        "vdpbf16ps 12(%2,%4,2)%{1to16%}, %%zmm12, %%zmm7\n"
        "vmovups %%zmm30, (%0)\n vmovups %%zmm7, (%3)\n" ::"r"(sums),
        "r"(values), "r"(weights), "r"(other), "r"(index)
        : "memory", "xmm7", "xmm12", "xmm17", "xmm25", "xmm30");
}

#define NEED_MACHINE() \
    if (!trap_missing_instructions()) QSKIP("needs AVX-512 and VNNI")

/// Pairs of numbers of every size, some below what is normal, some not finite.
std::vector<std::uint32_t> random_pairs(std::size_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    std::vector<std::uint32_t> pairs(count);
    const auto next = [&] {
        const float scales[] = {1, 1, 1, 1e-19f, 1e-38f, 1e17f};
        return normal(random) * scales[random() % 6];
    };
    for (auto& pair : pairs) pair = pair_of(next(), next());
    return pairs;
}

constexpr float smallest = std::numeric_limits<float>::min(), ulp_of_2_24 = 2;

}  // namespace

/// Tiles in memory do what the manual says that the processor's do; where the processor has some, to the same bits. Where it has none, its
/// instructions are caught and read as the manual has them.
class TestEmulatedTiles : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void even_and_odd_elements_are_added_up_apart() {
        NEED_AVX512();
        const float big = 0x1p24f;
        // 1 beside 2^24 is lost, beside another 1 it is not.
        QVERIFY(added(0, {{pair_of(big, 1), pair_of(1, 1)}, {pair_of(0, 1), pair_of(1, 1)}}) == big + ulp_of_2_24);
        QVERIFY(added(0, {{pair_of(big, 0), pair_of(1, 1)}, {pair_of(1, 0), pair_of(1, 1)}, {pair_of(1, 0), pair_of(1, 1)}}) == big);
        QVERIFY(added(-big, {{pair_of(big, 1), pair_of(1, 1)}}) == 0.0f);
    }
    void vectors_add_odd_elements_first() {
        NEED_AVX512();
        const float big = 0x1p24f;
        QVERIFY(added_by_vectors(-big, pair_of(1, big), pair_of(1, 1)) == 1.0f);
        QVERIFY(added_by_vectors(-big, pair_of(big, 1), pair_of(1, 1)) == 1.0f);
        QVERIFY(added_by_vectors(big, pair_of(-big, 1), pair_of(1, 1)) == 0.0f);
        QVERIFY(added_by_vectors(big, pair_of(1, -big), pair_of(1, 1)) == 1.0f);
    }
    /// As inputs, as what is added to, and as results; and so they are after it as before.
    void numbers_that_are_not_normal_are_zeros() {
        NEED_AVX512();
        const float below = smallest / 2, root = 0x1p-64f;
        QVERIFY(below > 0);
        QVERIFY(added(0, {{pair_of(below, below), pair_of(0x1p100f, 0x1p100f)}}) == 0.0f);
        QVERIFY(added(below, {{pair_of(0, 0), pair_of(1, 1)}}) == 0.0f);
        QVERIFY(added(0, {{pair_of(root, root), pair_of(root / 2, root / 2)}}) == 0.0f);
        QVERIFY(added(0, {{pair_of(root, 0), pair_of(4 * root, 0)}}) == smallest);
        QVERIFY(added_by_vectors(below, pair_of(below, root), pair_of(0x1p100f, root / 2)) == 0.0f);
        volatile float half = below;
        QVERIFY(half + half == smallest);
    }
    void what_is_not_finite_stays_so() {
        NEED_AVX512();
        const float infinity = std::numeric_limits<float>::infinity();
        QVERIFY(added(0, {{pair_of(infinity, 1), pair_of(2, 1)}}) == infinity);
        QVERIFY(std::isnan(added(0, {{pair_of(infinity, 0), pair_of(0, 0)}})));
        QVERIFY(std::isnan(added(infinity, {{pair_of(-infinity, 0), pair_of(1, 0)}})));
        QVERIFY(std::isnan(added(0, {{0x7fc0, pair_of(1, 1)}})));
        QVERIFY(added(0, {{pair_of(0x1p127f, 0), pair_of(2, 0)}}) == infinity);
    }
    void bytes_without_a_sign_are_multiplied_by_bytes_with_one() {
        NEED_AVX512();
        configure_tiles(shapes_of(2, 16, 3).data());
        std::vector<std::uint8_t> values(2 * 64, 255);
        std::vector<std::int8_t> weights(16 * 12, -128);
        for (int i = 0; i < 4; ++i) weights[static_cast<std::size_t>(4 + i)] = static_cast<std::int8_t>(i);
        const std::array<std::int32_t, 6> before{7, 0, 0, 1 << 30, 0, 0};
        load_tile(0, before.data(), 12);
        load_tile(1, values.data(), 64);
        load_tile(2, weights.data(), 12);
        multiply_int8_tiles(0, 1, 2);
        std::array<std::int32_t, 6> sums{};
        store_tile(0, sums.data(), 12);
        release_tiles();
        const std::int32_t all = -255 * 128 * 64, other = all + 255 * (128 * 4 + 0 + 1 + 2 + 3);
        QVERIFY((sums == std::array<std::int32_t, 6>{7 + all, other, all, (1 << 30) + all, other, all}));
    }
    /// Whole tiles of random numbers, an element at a time.
    void a_tile_is_the_sum_of_its_parts() {
        NEED_AVX512();
        std::mt19937 random(3);
        std::normal_distribution<float> normal;
        const auto next = [&] { return pair_of(normal(random), normal(random)); };
        std::array<std::array<std::uint32_t, 16>, 13> values{};
        std::array<std::array<std::uint32_t, 9>, 16> weights{};
        std::array<std::array<float, 9>, 13> sums{}, before{};
        for (auto& row : values) std::generate(row.begin(), row.end(), next);
        for (auto& row : weights) std::generate(row.begin(), row.end(), next);
        for (auto& row : before) std::generate(row.begin(), row.end(), [&] { return normal(random); });
        configure_tiles(shapes_of(13, 16, 9).data());
        load_tile(0, before.data(), sizeof before[0]);
        load_tile(1, values.data(), sizeof values[0]);
        load_tile(2, weights.data(), sizeof weights[0]);
        multiply_bf16_tiles(0, 1, 2);
        store_tile(0, sums.data(), sizeof sums[0]);
        release_tiles();
        for (std::size_t m = 0; m < 13; ++m)
            for (std::size_t n = 0; n < 9; ++n) {
                std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
                for (std::size_t k = 0; k < 16; ++k) pairs.emplace_back(values[m][k], weights[k][n]);
                QVERIFY(sums[m][n] == added(before[m][n], pairs));
            }
    }
    void what_the_processor_refuses_is_refused() {
        NEED_AVX512();
        std::array<std::byte, 2048> memory{};
        const auto configured = [](int m, int k, int n, const std::function<void()>& then) {
            return fault_of([&] {
                configure_tiles(shapes_of(m, k, n).data());
                then();
            });
        };
        QVERIFY(fault_of([] { zero_tile(0); }) == "a tile that is configured");
        QVERIFY(configured(1, 1, 1, [] { zero_tile(3); }) == "a tile that is configured");
        QVERIFY(configured(1, 1, 1, [&] { load_tile(8, memory.data(), 64); }) == "a tile of this number");
        QVERIFY(configured(4, 5, 6, [] { multiply_bf16_tiles(0, 1, 2); }) == "none");
        QVERIFY(configured(4, 5, 6, [] { multiply_bf16_tiles(0, 1, 1); }) == "three different tiles");
        QVERIFY(configured(4, 5, 6, [] { multiply_int8_tiles(1, 0, 2); }) == "as many columns of sums as of weights");
        QVERIFY(configured(4, 5, 6, [] { multiply_int8_tiles(0, 2, 1); }) == "as many rows of sums as of values");
        QVERIFY(configured(5, 6, 5, [] { multiply_bf16_tiles(2, 0, 1); }) == "as many rows of sums as of values");
        QVERIFY(configured(17, 1, 1, [] {}) == "tiles of at most 16 rows of 64 bytes");
        QVERIFY(configured(1, 17, 1, [] {}) == "tiles of at most 16 rows of 64 bytes");
        QVERIFY(configured(0, 1, 1, [] {}) == "rows and bytes, or neither");
        QVERIFY(fault_of([] { configure_tiles(Shapes{2}.data()); }) == "palette 1 from row 0 on");
        Shapes reserved{1}, deeper = shapes_of(4, 5, 6);
        reserved[40] = 1;
        deeper[50] = 7;
        QVERIFY(fault_of([&] { configure_tiles(reserved.data()); }) == "zeros in what is reserved");
        const std::string fault = fault_of([&] {
            configure_tiles(deeper.data());
            multiply_bf16_tiles(0, 1, 2);
        });
        QVERIFY(fault == "as many columns of values as rows of weights");
    }
    /// m rows of n columns and k deep, by the instructions that the product uses and by these functions.
    void the_machine_gives_the_same_bits_data() {
        QTest::addColumn<int>("m");
        QTest::addColumn<int>("k");
        QTest::addColumn<int>("n");
        for (const auto& [m, k, n] : {std::array{1, 1, 1}, {16, 16, 16}, {13, 16, 16}, {5, 7, 3}, {16, 1, 16}, {1, 16, 16}, {16, 16, 1}})
            QTest::addRow("%d x %d x %d", m, k, n) << m << k << n;
    }
    void the_machine_gives_the_same_bits() {
        NEED_MACHINE();
        QFETCH(int, m);
        QFETCH(int, k);
        QFETCH(int, n);
        const auto shapes = shapes_of(m, k, n);
        const auto values = random_pairs(16 * 20, 1), weights = random_pairs(16 * 20, 2), before = random_pairs(16 * 20, 3);
        constexpr std::size_t stride = 80;
        for (const bool bytes : {false, true}) {
            std::vector<std::uint32_t> ours = before, theirs = before;
            configure_tiles(shapes.data());
            load_tile(0, ours.data(), stride), load_tile(1, values.data(), stride), load_tile(2, weights.data(), stride);
            bytes ? multiply_int8_tiles(0, 1, 2) : multiply_bf16_tiles(0, 1, 2);
            store_tile(0, ours.data(), stride);
            release_tiles();
            machine::configure_tiles(shapes);
            machine::load_tile<0>(theirs.data(), stride), machine::load_tile<1>(values.data(), stride);
            machine::load_tile<2>(weights.data(), stride);
            bytes ? machine::multiply_int8_tiles<0, 1, 2>() : machine::multiply_bf16_tiles<0, 1, 2>();
            machine::store_tile<0>(theirs.data(), stride);
            machine::zero_tile<0>();
            std::vector<std::uint32_t> zeros = before;
            machine::store_tile<0>(zeros.data(), stride);
            machine::release_tiles();
            QVERIFY2(ours == theirs, bytes ? "int8" : "bf16");
            for (std::size_t i = 0; i < before.size(); ++i) {
                const bool inside = i % 20 < static_cast<std::size_t>(n) && i / 20 < static_cast<std::size_t>(m);
                QVERIFY(zeros[i] == (inside ? 0 : before[i]) && (inside || ours[i] == before[i]));
            }
        }
    }
    void vectors_of_the_machine_give_the_same_bits() {
        NEED_MACHINE();
        for (unsigned seed = 0; seed < 200; ++seed) {
            const auto values = random_pairs(16, 3 * seed), weights = random_pairs(16, 3 * seed + 1),
                       start = random_pairs(16, 3 * seed + 2);
            std::array<float, 16> ours, theirs;
            std::memcpy(ours.data(), start.data(), sizeof ours);
            theirs = ours;
            multiply_bf16_pairs(ours.data(), values.data(), weights.data());
            multiply_pairs_by_machine(theirs.data(), values.data(), weights.data());
            for (std::size_t i = 0; i < 16; ++i)
                QVERIFY(bits_of(ours[i]) == bits_of(theirs[i]) || (std::isnan(ours[i]) && std::isnan(theirs[i])));
        }
    }
    /// Register 30 from 25, 17 and from memory, whose displacement counts in vectors; registers 7 and 12 from one number for all lanes.
    void every_place_of_an_operand_is_found() {
        NEED_MACHINE();
        const auto values = random_pairs(16, 1), weights = random_pairs(48, 2), start = random_pairs(16, 3);
        alignas(64) std::array<float, 16> sums, other;
        std::memcpy(sums.data(), start.data(), sizeof sums);
        const std::array<float, 16> before = sums;
        multiply_in_many_places(sums.data(), values.data(), weights.data(), other.data());
        std::array<float, 16> expected = before, expected_other = before;
        std::array<std::uint32_t, 16> one;
        one.fill(weights[5]);
        multiply_bf16_pairs(expected.data(), values.data(), weights.data());
        multiply_bf16_pairs(expected.data(), values.data(), weights.data() + 16);
        multiply_bf16_pairs(expected_other.data(), values.data(), one.data());
        QVERIFY(std::memcmp(sums.data(), expected.data(), sizeof expected) == 0);
        QVERIFY(std::memcmp(other.data(), expected_other.data(), sizeof expected_other) == 0);
    }
    /// An operand of each kind that general registers give; operands in the order of the manual.
    void instructions_are_read_as_the_manual_has_them() {
        greg_t registers[NGREG] = {};
        registers[REG_R13] = 0x1000, registers[REG_R9] = 0x80, registers[REG_RSP] = 0x2000, registers[REG_RBX] = 0x300;
        const auto read = [&](std::initializer_list<std::uint8_t> code) { return decode(std::data(code), registers); };
        const Decoded configure = read({0xc4, 0xe2, 0x78, 0x49, 0x44, 0x24, 0x40});  // ldtilecfg 0x40(%rsp)
        QVERIFY(configure.operation == Operation::configure && configure.length == 7 &&
                configure.memory == reinterpret_cast<std::byte*>(0x2040));
        const Decoded load = read({0xc4, 0x82, 0x7b, 0x4b, 0x74, 0x0d, 0x08});  // tileloadd 8(%r13,%r9,1), %tmm6
        QVERIFY(load.operation == Operation::load && load.to == 6 && load.stride == 0x80 && load.length == 7);
        QVERIFY(load.memory == reinterpret_cast<std::byte*>(0x1008));
        const Decoded store = read({0xc4, 0xe2, 0x7a, 0x4b, 0x14, 0x5c});  // tilestored %tmm2, (%rsp,%rbx,2)
        QVERIFY(store.operation == Operation::store && store.to == 2 && store.stride == 0x600 && store.length == 6);
        const Decoded product = read({0xc4, 0xe2, 0x4a, 0x5c, 0xdd});  // tdpbf16ps %tmm6, %tmm5, %tmm3
        QVERIFY(product.operation == Operation::tdpbf16ps && product.to == 3 && product.first == 5 && product.second == 6);
        QVERIFY(read({0xc4, 0xe2, 0x49, 0x5e, 0xdd}).operation == Operation::tdpbusd);
        QVERIFY(read({0xc4, 0xe2, 0x7b, 0x49, 0xc8}).operation == Operation::zero && read({0xc4, 0xe2, 0x7b, 0x49, 0xc8}).to == 1);
        QVERIFY(read({0xc4, 0xe2, 0x78, 0x49, 0xc0}).operation == Operation::release);
        for (const std::uint8_t kind : {0x48, 0x4a, 0x4b})  // tdpbuud, tdpbsud, tdpbssd: not what is used
            QVERIFY(read({0xc4, 0xe2, kind, 0x5e, 0xdd}).operation == Operation::unknown);
        QVERIFY(read({0x0f, 0x0b}).operation == Operation::unknown);
    }
};

FACETER_TEST(TestEmulatedTiles)
#include "test_emulated_tiles.moc"
