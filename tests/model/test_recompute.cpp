#include "support/backbones.h"
#include "support/ops_forms.h"
#include "support/tensors.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

/// A loss on every hidden state and, where there are routers, on their probabilities.
at::Tensor loss_of(const Encoder& encoder, const PackedBatch& batch, bool recompute) {
    RoutingTrace trace;
    at::Tensor loss = encoder.forward(batch, {true, 3, 5, dropping(encoder, 0.1), &trace, recompute}).square().mean();
    for (const RouterOutput& router : trace) loss = loss + router.probabilities.square().mean() + router.logits.logsumexp(1).mean();
    return loss;
}

}  // namespace

class TestRecompute : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void a_block_that_is_run_again_gives_the_same_gradients_with_dropout_data() {
        QTest::addColumn<QString>("family");
        QTest::addColumn<bool>("routed");
        QTest::addColumn<OpsForm>("form");
        for (const char* family : backbone_families)
            for (const bool routed : {false, true})
                for (const OpsForm form : {OpsForm::kernels, OpsForm::device})
                    QTest::addRow("%s, %s, %s", family, routed ? "routed" : "mixture", form == OpsForm::kernels ? "kernels" : "device")
                        << family << routed << form;
    }
    void a_block_that_is_run_again_gives_the_same_gradients_with_dropout() {
        QFETCH(QString, family);
        QFETCH(bool, routed);
        QFETCH(OpsForm, form);
        const InForm in_form(form);
        Encoder encoder(small_config(family.toStdString()), {}, at::kFloat);
        fill(encoder);
        Block& block = encoder.blocks()[1];
        if (routed) {
            TokenRouting routing;
            routing.num_experts = 4;
            routing.top_k = 2;
            routing.router = at::randn({4, 24});
            Encoder::route_tokens(block, std::move(routing));
        } else {
            block.experts.push_back(block.experts.front().clone());
            block.experts.push_back(block.experts.front().clone());
        }
        encoder.require_grad(true);
        const PackedBatch batch = some_batch({0, 0, 0, 1, 1});
        const auto gradients = [&](bool recompute) {
            const at::Tensor loss = loss_of(encoder, batch, recompute);
            loss.backward();
            std::vector<at::Tensor> all{loss.detach()};
            for (const Parameter& p : encoder.parameters()) {
                all.push_back(p.tensor.grad());
                p.tensor.mutable_grad() = at::Tensor();
            }
            return all;
        };
        const auto kept = gradients(false), again = gradients(true);
        for (std::size_t i = 0; i < kept.size(); ++i) {
            QCOMPARE(again[i].defined(), kept[i].defined());  // nobody goes through the third expert
            if (kept[i].defined()) QVERIFY2(relative_difference(again[i], kept[i]) < 1e-5, std::to_string(i).c_str());
        }
    }

    void an_adapter_of_a_frozen_encoder_is_trained_from_the_first_block_on() {
        Encoder encoder(small_config("bert"), {}, at::kFloat);
        fill(encoder);
        encoder.add_adapter("gate", {4, 16, 0, false, {}, ""}, 5);
        encoder.require_grad(false);
        for (const Parameter& p : encoder.adapter_parameters(0)) p.tensor.requires_grad_(true);
        loss_of(encoder, batch_on({Path::of_adapter(0), Path::of_adapter(0)}), true).backward();
        for (const Parameter& p : encoder.adapter_parameters(0)) QVERIFY2(p.tensor.grad().defined(), p.name.c_str());
    }
};

FACETER_TEST(TestRecompute)
#include "test_recompute.moc"
