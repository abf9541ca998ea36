#include <ATen/ATen.h>

#include <cmath>
#include <cstring>
#include <tuple>

#include "model/kernels/kernels.h"
#include "model/product_weights.h"
#include "support/emulated_tiles/emulated_tiles.h"
#include "support/emulated_tiles/trapped_instructions.h"
#include "support/multiplied.h"
#include "support/tensors.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

/// The tables that can run here, for one form: with AVX-512 those that need AMX and AVX512-BF16 as well, whatever the processor has of it.
std::vector<const kernels::ProductTable*> tables_for(ProductForm form) {
    std::vector<const kernels::ProductTable*> tables{&kernels::generic_products};
    const std::string best = kernels::kernels().instruction_set;
    if (best != "generic") tables.push_back(&kernels::avx2_products);
    if (best != "avx512") return tables;
    tables.push_back(&kernels::avx512_products);
    const bool trapped = trap_missing_instructions();
    if (form == ProductForm::int8 && __builtin_cpu_supports("avx512vnni")) tables.push_back(&kernels::avx512_vnni_products);
    if (form == ProductForm::bf16 && (trapped || __builtin_cpu_supports("avx512bf16"))) tables.push_back(&kernels::avx512_bf16_products);
    if (trapped && (form == ProductForm::bf16 || form == ProductForm::int8)) tables.push_back(&kernels::amx_products);
    return tables;
}

/// What int8 makes of a group of the depth, in float64.
std::pair<at::Tensor, at::Tensor> as_integers(const at::Tensor& x, const at::Tensor& w) {
    const at::Tensor w_scale = w.abs().amax(1, true) / 127;
    const at::Tensor low = x.amin(1, true).clamp_max(0), high = x.amax(1, true).clamp_min(0), x_scale = (high - low) / 255;
    const at::Tensor zero = (-low / x_scale).round();
    const at::Tensor q = ((x / x_scale).round() + zero).clamp(0, 255) - zero;
    return {q.to(at::kDouble) * x_scale.to(at::kDouble), (w / w_scale).round().to(at::kDouble) * w_scale.to(at::kDouble)};
}

/// What the form makes of weights and activations, in float64.
std::pair<at::Tensor, at::Tensor> as_multiplied(ProductForm form, const at::Tensor& x, const at::Tensor& w) {
    const auto halved = [](const at::Tensor& t) { return t.to(at::kBFloat16).to(at::kDouble); };
    if (form == ProductForm::float32) return {x.to(at::kDouble), w.to(at::kDouble)};
    if (form == ProductForm::widened) return {x.to(at::kDouble), halved(w)};
    if (form == ProductForm::bf16) return {halved(x), halved(w)};
    const auto group = static_cast<std::int64_t>(kernels::group_depth(form, static_cast<std::size_t>(x.size(1))));
    std::vector<at::Tensor> rows, weights;
    for (std::int64_t k = 0; k < x.size(1); k += group) {
        const std::int64_t here = std::min(group, x.size(1) - k);
        auto [a, b] = as_integers(x.narrow(1, k, here), w.narrow(1, k, here));
        rows.push_back(a);
        weights.push_back(b);
    }
    return {at::cat(rows, 1), at::cat(weights, 1)};
}

constexpr ProductForm all_forms[] = {ProductForm::float32, ProductForm::widened, ProductForm::bf16, ProductForm::int8};

/// Quiet and other NaN and both infinities.
constexpr std::uint32_t no_numbers[] = {0x7fc00000, 0x7f800001, 0x7fffffff, 0xffffffff, 0x7f800000, 0xff800000};

struct Sizes {
    std::int64_t rows, n, k;
};
/// Every rest of rows, columns and depth beside tiles of 16 rows, 16 columns and 64 bytes, one at a time.
std::vector<Sizes> rests() {
    std::vector<Sizes> all;
    const std::int64_t depths[] = {1, 2, 3, 31, 32, 33, 63, 64, 65, 97, 127, 128, 130, 385, 770};
    for (std::int64_t rows = 1; rows <= 34; ++rows)
        for (const std::int64_t k : depths) all.push_back({rows, 33, k});
    for (const std::int64_t n : {1, 2, 15, 16, 17, 31, 32, 33, 48, 63, 64, 65})
        for (const std::int64_t k : depths) all.push_back({17, n, k});
    return all;
}

QByteArray described(const kernels::ProductTable& table, ProductForm form, const Sizes& s) {
    return QString("%1 form %2 %3x%4x%5").arg(table.instruction_set).arg(int(form)).arg(s.rows).arg(s.n).arg(s.k).toUtf8();
}

/// Whole tiles and panels, parts of them, one of each, and a depth of several passes.
constexpr Sizes sizes[] = {{1, 1, 1},      {3, 5, 2},    {12, 32, 16},  {13, 33, 17},  {29, 70, 90}, {7, 64, 515},
                           {25, 37, 1203}, {2, 8, 2050}, {32, 64, 384}, {71, 96, 768}, {49, 33, 130}};

}  // namespace

/// Products of passes without gradients, by the kernels of every instruction set that this processor has.
class TestProducts : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void every_form_is_exact_but_for_its_own_rounding() {
        at::manual_seed(1);
        for (const ProductForm form : all_forms)
            for (const auto* table : tables_for(form))
                for (const Sizes& s : sizes) {
                    const at::Tensor x = at::randn({s.rows, s.k}), w = at::randn({s.n, s.k}), bias = at::randn({s.n});
                    const auto [a, b] = as_multiplied(form, x, w);
                    const at::Tensor expected = a.mm(b.t()) + bias.to(at::kDouble), largest = a.abs().mm(b.abs().t()) + 1;
                    const at::Tensor off = (multiplied(*table, form, x, w, bias).to(at::kDouble) - expected).abs() / largest;
                    // int8: a rounding that falls the other way moves a product by one step of its scale.
                    const double allowed = form == ProductForm::int8 ? 2e-3 : 1e-6;
                    QVERIFY2(off.max().item<double>() < allowed, qPrintable(QString("%1 form %2 %3x%4x%5: %6")
                                                                                .arg(table->instruction_set)
                                                                                .arg(int(form))
                                                                                .arg(s.rows)
                                                                                .arg(s.n)
                                                                                .arg(s.k)
                                                                                .arg(off.max().item<double>())));
                }
    }
    void integers_are_the_same_on_every_instruction_set() {
        at::manual_seed(2);
        const at::Tensor x = at::randn({29, 203}), w = at::randn({70, 203});
        const at::Tensor expected = multiplied(kernels::generic_products, ProductForm::int8, x, w, {});
        for (const auto* table : tables_for(ProductForm::int8))
            QVERIFY2(relative_difference(multiplied(*table, ProductForm::int8, x, w, {}), expected) < 1e-6, table->instruction_set);
    }
    /// AVX-512 with and without VNNI, and AMX: with scales and bias.
    void integers_are_the_same_to_the_bit_on_all_that_has_avx512() {
        if (!trap_missing_instructions()) QSKIP("needs AVX-512 and VNNI");
        at::manual_seed(9);
        for (const Sizes& s : rests()) {
            const at::Tensor x = at::randn({s.rows, s.k}) * 3 + 1, w = at::randn({s.n, s.k}), bias = at::randn({s.n});
            const at::Tensor expected = multiplied(kernels::avx512_products, ProductForm::int8, x, w, bias);
            for (const auto* table : {&kernels::avx512_vnni_products, &kernels::amx_products})
                QVERIFY2(at::equal(multiplied(*table, ProductForm::int8, x, w, bias), expected), described(*table, ProductForm::int8, s));
        }
    }
    /// Small integers, whose sums are exact in any order: any element out of its place is seen, whatever the rounding.
    void exact_sums_are_the_same_to_the_bit_on_every_instruction_set() {
        at::manual_seed(10);
        for (const Sizes& s : rests()) {
            const at::Tensor x = at::randint(-8, 9, {s.rows, s.k}, at::kFloat), w = at::randint(-8, 9, {s.n, s.k}, at::kFloat);
            const at::Tensor bias = at::randint(-8, 9, {s.n}, at::kFloat), expected = at::addmm(bias, x, w.t());
            for (const auto* table : tables_for(ProductForm::bf16))
                QVERIFY2(at::equal(multiplied(*table, ProductForm::bf16, x, w, bias), expected), described(*table, ProductForm::bf16, s));
        }
    }
    void every_rest_is_multiplied() {
        at::manual_seed(11);
        for (const ProductForm form : {ProductForm::bf16, ProductForm::int8})
            for (const Sizes& s : rests()) {
                const at::Tensor x = at::randn({s.rows, s.k}), w = at::randn({s.n, s.k}), bias = at::randn({s.n});
                const auto [a, b] = as_multiplied(form, x, w);
                const at::Tensor expected = a.mm(b.t()) + bias.to(at::kDouble), largest = a.abs().mm(b.abs().t()) + 1;
                const double allowed = form == ProductForm::int8 ? 1e-2 : 1e-6;
                for (const auto* table : tables_for(form)) {
                    const at::Tensor off = (multiplied(*table, form, x, w, bias).to(at::kDouble) - expected).abs() / largest;
                    QVERIFY2(off.max().item<double>() < allowed,
                             described(*table, form, s) + ' ' + QByteArray::number(off.max().item<double>()));
                }
            }
    }
    /// Whatever panels and rows a thread takes; nor are tiles left to a thread that has done its part.
    void threads_do_not_change_bits() {
        at::manual_seed(12);
        const int threads = at::get_num_threads();
        for (const ProductForm form : all_forms)
            for (const std::int64_t rows : {1, 5, 40, 411}) {
                const at::Tensor x = at::randn({rows, 205}), bias = at::randn({135});
                const ProductWeights w(at::randn({135, 205}), form);
                at::set_num_threads(1);
                const at::Tensor alone = product(x, w, bias);
                at::set_num_threads(7);
                for (int i = 0; i < 3; ++i) QVERIFY(at::equal(product(x, w, bias), alone));
                at::set_num_threads(threads);
                QVERIFY(!holds_tiles());
            }
    }
    /// Where sums of 255 x 127 would leave 16 bits.
    void the_largest_integers_do_not_overflow() {
        const at::Tensor x = at::full({3, 4096}, 5.0f), w = at::full({40, 4096}, 2.0f);
        for (const auto* table : tables_for(ProductForm::int8)) {
            const at::Tensor y = multiplied(*table, ProductForm::int8, x, w, {});
            QVERIFY2(std::abs(y.min().item<double>() - 40960) < 1 && std::abs(y.max().item<double>() - 40960) < 1, table->instruction_set);
        }
    }
    void a_row_has_the_same_bits_alone_and_beside_others() {
        at::manual_seed(3);
        for (const ProductForm form : all_forms)
            for (const auto* table : tables_for(form))
                for (const Sizes& s : sizes) {
                    const at::Tensor x = at::randn({s.rows, s.k}), w = at::randn({s.n, s.k}), bias = at::randn({s.n});
                    const at::Tensor whole = multiplied(*table, form, x, w, bias);
                    for (std::int64_t i = 0; i < s.rows; ++i)
                        QVERIFY2(at::equal(multiplied(*table, form, x.narrow(0, i, 1), w, bias), whole.narrow(0, i, 1)),
                                 table->instruction_set);
                }
    }
    /// Plain, transposed, in every other column, and in half precision.
    void weights_are_read_as_they_stand() {
        at::manual_seed(4);
        for (const ProductForm form : all_forms)
            for (const auto* table : tables_for(form))
                for (const Sizes& s : sizes) {
                    const at::Tensor x = at::randn({s.rows, s.k}), w = at::randn({s.n, s.k}).to(at::kBFloat16).to(at::kFloat);
                    const at::Tensor expected = multiplied(*table, form, x, w, {}), half = w.to(at::kBFloat16);
                    const at::Tensor apart = w.new_empty({s.n, 2 * s.k}).slice(1, 0, 2 * s.k, 2).copy_(w);
                    for (const at::Tensor& same : {w.t().contiguous().t(), apart, half, half.t().contiguous().t()})
                        QVERIFY2(at::equal(multiplied(*table, form, x, same, {}), expected), table->instruction_set);
                }
    }
    void float32_weights_are_rounded_to_half_precision_however_they_stand() {
        at::manual_seed(5);
        for (const ProductForm form : {ProductForm::widened, ProductForm::bf16})
            for (const auto* table : tables_for(form)) {
                const at::Tensor x = at::randn({9, 77}), w = at::randn({64, 77});
                const at::Tensor expected = multiplied(*table, form, x, w.to(at::kBFloat16).to(at::kFloat), {});
                for (const at::Tensor& same : {w, w.t().contiguous().t()})
                    QVERIFY2(at::equal(multiplied(*table, form, x, same, {}), expected), table->instruction_set);
            }
    }
    /// Within whole vectors and behind them; the last bits are what a block of a disk that was never written reads as.
    void an_element_that_is_not_finite_is_not_hidden() {
        for (const std::uint32_t bits : no_numbers)
            for (const std::size_t k : {std::size_t{3}, std::size_t{32}})
                for (const ProductForm form : all_forms)
                    for (const auto* table : tables_for(form)) {
                        const at::Tensor x = at::ones({20, 33}), w = at::ones({40, 33});
                        std::memcpy(x.data_ptr<float>() + 7 * 33 + k, &bits, sizeof bits);
                        const at::Tensor finite = multiplied(*table, form, x, w, {}).isfinite().all(1);
                        for (std::int64_t i = 0; i < 20; ++i) QCOMPARE(finite[i].item<bool>(), i != 7);
                    }
    }
    void a_weight_that_is_not_finite_is_not_hidden() {
        for (const std::uint32_t bits : no_numbers)
            for (const ProductForm form : all_forms)
                for (const auto* table : tables_for(form)) {
                    const at::Tensor x = at::ones({20, 33}), w = at::ones({40, 33});
                    std::memcpy(w.data_ptr<float>() + 7 * 33 + 32, &bits, sizeof bits);
                    const at::Tensor finite = multiplied(*table, form, x, w, {}).isfinite().all(0);
                    for (std::int64_t n = 0; n < 40; ++n)
                        QVERIFY2(
                            finite[n].item<bool>() == (n != 7),
                            qPrintable(
                                QString("%1 form %2 %3 column %4").arg(table->instruction_set).arg(int(form)).arg(bits, 0, 16).arg(n)));
                }
    }
    /// Weights below what float32 divides by 127 are nothing, and no division by nothing.
    void weights_that_vanish_are_zeros() {
        const at::Tensor x = at::ones({3, 8}), w = at::full({5, 8}, 1e-44);
        for (const auto* table : tables_for(ProductForm::int8))
            QVERIFY(at::equal(multiplied(*table, ProductForm::int8, x, w, {}), at::zeros({3, 5})));
    }
    /// So that it is the first to be kept from the form.
    void an_error_that_is_not_finite_is_the_largest() {
        ProductError error;
        error.squared_error = std::nan("");
        error.squared_size = 1;
        QVERIFY(error.relative() > 1e300);
    }
    void no_rows_make_no_rows() {
        QCOMPARE(product(at::empty({0, 8}), ProductWeights(at::ones({5, 8}), ProductForm::float32)).sizes().vec(),
                 (std::vector<std::int64_t>{0, 5}));
    }
    /// One large element costs its own group of the depth the small steps, and not the others.
    void a_large_element_costs_its_own_group_alone() {
        at::manual_seed(7);
        const auto group = static_cast<std::int64_t>(kernels::largest_group);
        const at::Tensor x = at::randn({16, 2 * group}), w = at::randn({40, 2 * group});
        x.select(1, 3).fill_(1000);
        w.select(1, 3).zero_();
        const at::Tensor off = (product(x, ProductWeights(w, ProductForm::int8)) - x.mm(w.t())).abs();
        const at::Tensor alone = x.narrow(1, 0, group), expected = alone.mm(w.narrow(1, 0, group).t());
        const at::Tensor off_alone = (product(alone, ProductWeights(w.narrow(1, 0, group), ProductForm::int8)) - expected).abs();
        QVERIFY(off.mean().item<double>() < 1.1 * off_alone.mean().item<double>());
    }
    void gradients_of_weights_are_added_up_where_they_stand_data() {
        QTest::addColumn<int>("steps");
        QTest::addColumn<int>("rows");
        QTest::addColumn<int>("columns");
        for (const auto& [steps, rows, columns] :
             {std::tuple(1, 1, 1), std::tuple(5, 12, 32), std::tuple(300, 13, 33), std::tuple(517, 205, 70), std::tuple(0, 7, 9),
              std::tuple(256, 1, 40), std::tuple(40, 400, 1)})
            QTest::addRow("%d x %d x %d", steps, rows, columns) << steps << rows << columns;
    }
    /// By every table, against float64; and the same bits on one thread and on seven.
    void gradients_of_weights_are_added_up_where_they_stand() {
        QFETCH(int, steps);
        QFETCH(int, rows);
        QFETCH(int, columns);
        at::manual_seed(8);
        const at::Tensor dy = at::randn({steps, rows + 3}).narrow(1, 2, rows), x = at::randn({steps, columns + 1}).narrow(1, 0, columns);
        const at::Tensor before = at::randn({rows, columns}), exact = dy.to(at::kDouble).t().mm(x.to(at::kDouble));
        const double allowed = 1e-6 * (std::sqrt(steps) + 1);
        for (const auto* table : tables_for(ProductForm::float32))
            for (const bool add : {false, true}) {
                const at::Tensor dw = add ? before.clone() : at::full({rows, columns}, std::nan(""));
                std::vector<float> scratch(kernels::outer_scratch(*table, static_cast<std::size_t>(rows)));
                const auto size = [](std::int64_t value) { return static_cast<std::size_t>(value); };
                table->add_outer({dy.data_ptr<float>(), x.data_ptr<float>(), size(dy.stride(0)), size(x.stride(0)), size(steps), size(rows),
                                  size(columns), dw.data_ptr<float>(), size(columns), add},
                                 scratch.data());
                const at::Tensor expected = add ? exact + before : exact;
                QVERIFY2((dw - expected).abs().max().item<double>() < allowed * 10, table->instruction_set);
            }
        const auto on_threads = [&](int threads) {
            at::set_num_threads(threads);
            const at::Tensor dw = at::empty({rows, columns});
            add_outer(dy, x, dw, false);
            return dw;
        };
        const int threads = at::get_num_threads();
        const at::Tensor alone = on_threads(1), shared = on_threads(7);
        at::set_num_threads(threads);
        QVERIFY(at::equal(alone, shared));
    }
    void zeros_stay_zeros() {
        for (const ProductForm form : all_forms)
            QVERIFY(at::equal(product(at::zeros({3, 8}), ProductWeights(at::zeros({5, 8}), form)), at::zeros({3, 5})));
    }
};

FACETER_TEST(TestProducts)
#include "test_products.moc"
