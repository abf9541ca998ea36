#include "model/kernels/kernels.h"
#include "model/kernels/product_choice.h"
#include "support/test.h"

using namespace faceter::kernels;

namespace {

int asked = 0;
bool granted() { return ++asked > 0; }
bool refused() { return ++asked < 0; }

constexpr ProductMeans everything{"avx512", true, true, true};

const ProductTable* table(ProductForm form, const ProductMeans& processor, const char* wish, bool (*ask)()) {
    return &products_by(form, usable_means(processor, wish, ask));
}

}  // namespace

/// Which table multiplies, by what the processor has, what FACETER_CPU says, and what the system allows.
class TestProductChoice : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void init() { asked = 0; }

    void tiles_multiply_both_forms_where_the_system_grants_them() {
        for (const ProductForm form : {ProductForm::bf16, ProductForm::int8})
            QVERIFY(table(form, everything, nullptr, granted) == &amx_products);
        for (const ProductForm form : {ProductForm::float32, ProductForm::widened})
            QVERIFY(table(form, everything, nullptr, granted) == &avx512_products);
        QVERIFY(table(ProductForm::int8, everything, "", granted) == &amx_products);
    }
    void vectors_multiply_where_the_system_refuses_tiles() {
        QVERIFY(table(ProductForm::bf16, everything, nullptr, refused) == &avx512_bf16_products);
        QVERIFY(table(ProductForm::int8, everything, nullptr, refused) == &avx512_vnni_products);
        QVERIFY(table(ProductForm::float32, everything, nullptr, refused) == &avx512_products);
        QCOMPARE(asked, 3);
    }
    /// Once granted, tiles make each frame of a signal larger: none are asked for that will not be used.
    void tiles_are_not_asked_for_where_they_are_not_used() {
        QVERIFY(table(ProductForm::bf16, everything, "avx512", granted) == &avx512_bf16_products);
        QVERIFY(table(ProductForm::int8, everything, "avx512", granted) == &avx512_vnni_products);
        QVERIFY(table(ProductForm::int8, {"avx512", true, true, false}, nullptr, granted) == &avx512_vnni_products);
        QVERIFY(table(ProductForm::int8, {"avx512", true, false, true}, nullptr, granted) == &avx512_vnni_products);
        QVERIFY(table(ProductForm::bf16, {"avx512", false, true, true}, nullptr, granted) == &avx512_bf16_products);
        QVERIFY(table(ProductForm::int8, {"avx2", true, true, true}, "avx2", granted) == &avx2_products);
        QVERIFY(table(ProductForm::bf16, {"avx2", true, true, true}, nullptr, granted) == &avx2_products);
        QVERIFY(table(ProductForm::bf16, {"generic", true, true, true}, "generic", granted) == &generic_products);
        QCOMPARE(asked, 0);
    }
    void a_form_falls_back_to_plain_vectors_alone() {
        QVERIFY(table(ProductForm::bf16, {"avx512", true, false, false}, nullptr, granted) == &avx512_products);
        QVERIFY(table(ProductForm::int8, {"avx512", false, true, false}, nullptr, granted) == &avx512_products);
    }
    /// A processor without tiles has a system that refuses them, and products go on.
    void the_system_answers() {
        const bool has = __builtin_cpu_supports("amx-tile");
        if (!has) QVERIFY(!ask_for_tiles());
        QVERIFY(ask_for_tiles() == ask_for_tiles());
    }
};

FACETER_TEST(TestProductChoice)
#include "test_product_choice.moc"
