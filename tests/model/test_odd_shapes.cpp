#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>

#include "model/ops.h"
#include "support/backbones.h"
#include "support/rounding.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

/// A family in widths that no vector, tile or group of the depth divides.
std::unique_ptr<Encoder> odd_encoder(const std::string& family) {
    EncoderConfig config = small_config(family);
    config.hidden_dim = 21;
    config.head_dim = config.rotary_dim > 0 ? 6 : 7;
    config.rotary_dim = std::min(config.rotary_dim, std::int64_t{6});
    config.intermediate_dim = 41;
    auto encoder = std::make_unique<Encoder>(config, std::vector<DenseModule>{}, at::kFloat);
    fill(*encoder);
    return encoder;
}

PackedBatch batch_of(const std::vector<std::int64_t>& lengths) {
    static const auto ids = [] {
        std::vector<std::int32_t> all(64);
        for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int32_t>((17 * i + 3) % 100);
        return all;
    }();
    std::vector<SequenceInput> inputs;
    for (std::size_t s = 0; s < lengths.size(); ++s) inputs.push_back({ids.data() + s, lengths[s], s + 1, Path{}, 0});
    return make_packed_batch(inputs);
}

/// One token alone; texts of one token to more than a block of rows, and none.
const std::vector<std::vector<std::int64_t>> batches = {{1}, {29}, {1, 29, 2, 0, 17, 13}};

at::Tensor pooled(const Encoder& encoder, const PackedBatch& batch) {
    return pool(encoder.forward(batch, {}), batch.layout, Pooling::mean, {});
}

double smallest_cosine(const at::Tensor& a, const at::Tensor& b) {
    const at::Tensor x = a.to(at::kDouble), y = b.to(at::kDouble), sizes = x.norm(2, -1) * y.norm(2, -1);
    return at::where(sizes > 0, (x * y).sum(-1) / sizes, at::ones_like(sizes)).min().item<double>();
}

void lay_out(Encoder& encoder, ProductForm form) {
    encoder.lay_out_products([&](const ProductPlace&, const at::Tensor& w) { return std::make_shared<const ProductWeights>(w, form); });
}

}  // namespace

/// Encoders whose widths fit no kernel, on batches that fit none.
class TestOddShapes : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void a_pass_is_that_in_float64_data() { every_family(); }
    void a_pass_is_that_in_float64() {
        QFETCH(QString, family);
        const at::NoGradGuard no_grad;
        const auto encoder = odd_encoder(family.toStdString());
        for (const auto& lengths : batches) {
            const double noise = float32_noise(*encoder, batch_of(lengths));
            QVERIFY2(noise < 5e-5, std::to_string(noise).c_str());
        }
    }
    void gradients_are_those_in_float64_data() { every_family(); }
    void gradients_are_those_in_float64() {
        QFETCH(QString, family);
        const auto encoder = odd_encoder(family.toStdString());
        encoder->require_grad(true);
        const auto pass = [](const Encoder& one) { return pooled(one, batch_of(batches.back())).cos().sum(); };
        QCOMPARE(beyond_float32(*encoder, pass, [](const Encoder& one) { return one.parameters(); }), std::string());
    }
    void lower_forms_are_near_data() { every_family(); }
    void lower_forms_are_near() {
        QFETCH(QString, family);
        const at::NoGradGuard no_grad;
        const auto encoder = odd_encoder(family.toStdString());
        for (const auto& lengths : batches) {
            encoder->drop_prepared();
            const at::Tensor exact = pooled(*encoder, batch_of(lengths));
            for (const auto& [form, least] : {std::pair(ProductForm::bf16, 0.998), std::pair(ProductForm::int8, 0.98)}) {
                lay_out(*encoder, form);
                const double cosine = smallest_cosine(pooled(*encoder, batch_of(lengths)), exact);
                QVERIFY2(cosine > least, std::to_string(cosine).c_str());
            }
        }
    }
    void any_number_of_threads_gives_the_same_bits_data() { every_family(); }
    void any_number_of_threads_gives_the_same_bits() {
        QFETCH(QString, family);
        const at::NoGradGuard no_grad;
        const int threads = at::get_num_threads();
        const auto encoder = odd_encoder(family.toStdString());
        for (const ProductForm form : {ProductForm::float32, ProductForm::bf16, ProductForm::int8}) {
            lay_out(*encoder, form);
            std::vector<at::Tensor> rows;
            for (const int number : {1, 2, 7}) {
                at::set_num_threads(number);
                rows.push_back(pooled(*encoder, batch_of(batches.back())));
            }
            at::set_num_threads(threads);
            QVERIFY(at::equal(rows[0], rows[1]) && at::equal(rows[0], rows[2]));
        }
    }

  private:
    static void every_family() {
        QTest::addColumn<QString>("family");
        for (const char* family : backbone_families) QTest::newRow(family) << family;
    }
};

FACETER_TEST(TestOddShapes)
#include "test_odd_shapes.moc"
