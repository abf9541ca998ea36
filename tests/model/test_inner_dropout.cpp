#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include "model/device.h"
#include "support/backbones.h"
#include "support/ops_forms.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

/// Long enough for more than one chunk of rows, and of two segments.
LayoutPointer long_layout() {
    return std::make_shared<PackedLayout>(std::vector<std::int64_t>{700, 900, 1000}, std::vector<std::uint64_t>{7, 8, 9},
                                          std::vector<Path>{Path::of_expert(0), Path::of_expert(1), Path::of_expert(1)});
}

/// Rows, and the weights of two gated halves, four wide and six inside: from one seed in any type.
struct Halves {
    at::Tensor x;
    std::vector<FeedForwardWeights> weights;
    std::vector<at::Tensor> leaves;

    Halves(std::int64_t rows, at::ScalarType type) {
        at::manual_seed(3);
        const auto leaf = [&](at::IntArrayRef shape) {
            leaves.push_back(at::randn(shape).to(type).requires_grad_());
            return leaves.back();
        };
        x = leaf({rows, 4});
        for (int s = 0; s < 2; ++s) {
            const at::Tensor up = leaf({12, 4}), up_bias = leaf({12}), down = leaf({4, 6});
            weights.push_back({up, up_bias, down});
        }
    }
    at::Tensor through(const LayoutPointer& layout, const DropoutSite& dropout) const {
        return feed_forward(x, layout->segments(), weights, {Activation::silu, true}, layout, dropout);
    }
};

Encoder t5_with_adapter(at::ScalarType type) {
    Encoder encoder(small_config("t5 gated"), {}, type);
    fill(encoder);
    AdapterConfig config;
    config.rank = 3;
    config.targets = {"all-linear"};
    const std::size_t index = encoder.add_adapter("a", config, 1);
    const at::NoGradGuard no_grad;
    at::manual_seed(11);
    for (const Parameter& p : encoder.adapter_parameters(index)) p.tensor.copy_(0.3 * at::randn(p.tensor.sizes()));
    return encoder;
}

}  // namespace

class TestInnerDropout : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void own_kernels_and_the_plain_equation_drop_the_same_elements_forwards_and_backwards() {
        const LayoutPointer layout = long_layout();
        const Halves fast(layout->num_tokens(), at::kFloat), exact(layout->num_tokens(), at::kDouble);
        const DropoutSite site{0.4, 5, 6, 77};
        const at::Tensor y = fast.through(layout, site), expected = exact.through(layout, site);
        QVERIFY(relative_difference(y, expected) < 1e-5);
        QVERIFY(max_difference(y, fast.through(layout, {})) > 1);
        y.square().sum().backward();
        expected.square().sum().backward();
        for (std::size_t i = 0; i < fast.leaves.size(); ++i)
            QVERIFY(relative_difference(fast.leaves[i].grad(), exact.leaves[i].grad()) < 1e-4);
        const at::NoGradGuard no_grad;  // the first pass of a gradient cache
        QVERIFY(at::equal(y, fast.through(layout, site)));
    }

    void what_is_dropped_comes_back_in_the_mean_data() {
        QTest::addColumn<OpsForm>("form");
        for (const auto& [name, form] : ops_forms) QTest::addRow("%s", name) << form;
    }
    void what_is_dropped_comes_back_in_the_mean() {
        QFETCH(OpsForm, form);
        const InForm in_form(form);
        const at::NoGradGuard no_grad;
        const auto layout = std::make_shared<PackedLayout>(std::vector<std::int64_t>{2, 1}, std::vector<std::uint64_t>{7, 8},
                                                           std::vector<Path>{Path::of_expert(0), Path::of_expert(1)});
        const Halves halves(3, at::kFloat);
        const at::Tensor whole = halves.through(layout, {});
        at::Tensor sum = at::zeros_like(whole), squares = sum.clone();
        constexpr int draws = 4000;
        seed_device(c10::kCPU, 9);
        for (int i = 0; i < draws; ++i) {
            const at::Tensor y = halves.through(layout, {0.3, 5, i, 77});
            sum += y;
            squares += y.square();
        }
        const at::Tensor mean = sum / draws, deviation = (squares / draws - mean.square()).sqrt();
        QVERIFY((deviation > 0).all().item<bool>());
        QVERIFY(((mean - whole).abs() < 5 * deviation / std::sqrt(double{draws})).all().item<bool>());
    }

    /// Nearly all of what is inside T5's feed-forward halves dropped: as if these gave nothing.
    void t5_drops_inside_its_feed_forward_halves() {
        for (const char* family : {"t5", "t5 gated", "modernbert"}) {
            Encoder encoder(small_config(family), {}, at::kFloat);
            fill(encoder);
            ForwardContext context{true, 1, 2, {}};
            context.dropout.inner = 0.99999;
            const at::Tensor dropped = encoder.forward(some_batch({0, 0}), context);
            QVERIFY(max_difference(dropped, encoder.forward(some_batch({0, 0}), {})) > 0.1);
            const at::NoGradGuard no_grad;
            for (Block& block : encoder.blocks()) block.experts.front().down.zero_();
            QVERIFY2(at::equal(dropped, encoder.forward(some_batch({0, 0}), {})), family);
        }
    }

    void a_rate_of_nowhere_and_one_of_zero_change_no_bit() {
        Encoder encoder(small_config("bert"), {}, at::kFloat);
        fill(encoder);
        QVERIFY(dropping(encoder, 0.9).inner == DropoutRates::nowhere);
        const at::Tensor still = encoder.forward(some_batch({0, 0}), {});
        QVERIFY(at::equal(still, encoder.forward(some_batch({0, 0}), {true, 1, 2, dropping(encoder, 0)})));
        QVERIFY(!at::equal(still, encoder.forward(some_batch({0, 0}), {true, 1, 2, dropping(encoder, 0.1)})));
    }

    void an_adapter_reads_what_was_kept() {
        const Encoder fast = t5_with_adapter(at::kFloat);
        const PackedBatch batch = batch_on({Path{}, Path::of_adapter(0), Path::of_adapter(0)});
        const ForwardContext context{true, 1, 2, dropping(fast, 0.3)};
        const auto exact = fast.clone(at::kDouble);
        const at::Tensor y = fast.forward(batch, context);
        QVERIFY(relative_difference(y, exact->forward(batch, context)) < 1e-4);
        DropoutRates outside = context.dropout;
        outside.inner = 0;
        QVERIFY(max_difference(y, fast.forward(batch, {true, 1, 2, outside})) > 0.1);
    }
};

FACETER_TEST(TestInnerDropout)
#include "test_inner_dropout.moc"
