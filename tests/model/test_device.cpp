#include <dlfcn.h>

#include "common/error.h"
#include "model/accelerator.h"
#include "model/cast_together.h"
#include "model/device.h"
#include "model/embedding_model.h"
#include "support/ops_forms.h"
#include "support/rounding.h"
#include "support/small_encoders.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

class TestDevice : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void gradients_through_half_precision_reach_the_full_weights_data() { every_kind(); }
    void gradients_through_half_precision_reach_the_full_weights() {
        QFETCH(QString, family);
        QFETCH(QString, kind);
        const InForm in_form(OpsForm::device);
        const PackedBatch batch = some_batch({0, 0, 0, 0});
        const auto encoder = encoder_that_chooses_alike(family.toStdString(), kind.toStdString(), batch);
        const ExactGradients exact(*encoder, batch);
        for (const Parameter& p : encoder->parameters()) p.tensor.mutable_grad() = at::Tensor();
        loss_of(*encoder->lowered(at::kBFloat16), batch, {}).backward();
        const std::vector<at::Tensor> got = gradients_now(*encoder);
        for (const at::Tensor& gradient : got) QVERIFY(!gradient.defined() || gradient.scalar_type() == at::kFloat);
        QCOMPARE(exact.differs(got), std::string());
    }

    void tensors_cast_together_have_the_gradients_of_those_cast_one_by_one() {
        const auto leaf = [](std::int64_t numbers, bool learned) { return at::randn({numbers}).requires_grad_(learned); };
        const std::vector<at::Tensor> all = {
            leaf(3, true), leaf(9 << 20, true), leaf(4, false), leaf(5, true), at::randn({2}).to(at::kBFloat16), leaf(6, true)};
        const std::vector<at::Tensor> cast = cast_together(all, at::kBFloat16);
        for (std::size_t i = 0; i < all.size(); ++i) {
            QVERIFY(at::equal(cast[i], all[i].to(at::kBFloat16)));
            QCOMPARE(cast[i].requires_grad(), all[i].requires_grad());
        }
        QVERIFY(cast[4].is_same(all[4]));
        const at::Tensor loss = (cast[0] * 3).sum() + (cast[1] * cast[1]).sum() + (cast[3] * cast[2][0]).sum();  // the last is not read
        loss.backward({}, /*retain_graph=*/true);
        loss.backward();
        const std::vector<at::Tensor> wanted = {at::full({3}, 6.0), 4 * cast[1].detach(), {}, (2 * cast[2][0]).expand({5}), {}, {}};
        for (std::size_t i = 0; i < all.size(); ++i) {
            const at::Tensor got = all[i].grad();
            QCOMPARE(got.defined(), wanted[i].defined());
            if (got.defined()) QVERIFY(got.scalar_type() == at::kFloat && at::allclose(got, wanted[i].to(at::kFloat), 1e-2, 1e-6));
        }
        const at::NoGradGuard no_grad;
        for (const at::Tensor& t : cast_together(all, at::kHalf)) QVERIFY(!t.requires_grad() && t.scalar_type() == at::kHalf);
    }

    void dropout_depends_on_seed_step_and_batch_alone() {
        const InForm in_form(OpsForm::device);
        const auto encoder = some_encoder("bert", "dense");
        const at::NoGradGuard no_grad;
        const auto pass = [&](std::uint64_t seed, std::int64_t step, std::uint64_t first_key) {
            at::rand({5});  // whatever was drawn before
            return encoder->forward(some_batch({0, 0}, first_key), {true, seed, step, dropping(*encoder, 0.3)});
        };
        const at::Tensor once = pass(1, 2, 3);
        QVERIFY(at::equal(once, pass(1, 2, 3)));
        QVERIFY(!at::equal(once, pass(2, 2, 3)) && !at::equal(once, pass(1, 3, 3)) && !at::equal(once, pass(1, 2, 4)));
    }

    /// Tensors of the meta device have shapes and no values: whatever reads one back, or mixes host and device, throws. So this is what a
    /// GPU's step is made of.
    void a_pass_in_training_reads_nothing_back_data() { every_kind(); }
    void a_pass_in_training_reads_nothing_back() {
        QFETCH(QString, family);
        QFETCH(QString, kind);
        const auto encoder = some_encoder(family.toStdString(), kind.toStdString());
        encoder->move_to(c10::kMeta);
        RoutingTrace trace;
        const ForwardContext context{true, 1, 2, dropping(*encoder, 0.1), &trace};
        const auto lowered = encoder->lowered(at::kBFloat16);
        for (const Encoder* one : std::initializer_list<const Encoder*>{encoder.get(), lowered.get()}) {
            if (one == encoder.get() && kind == "routed") continue;  // in float32 a routed block reads how many rows each expert has
            const at::Tensor loss = loss_of(*one, some_batch({0, 0, 0, 0}), context);
            QVERIFY(loss.is_meta());
            loss.backward();
        }
        for (const RouterOutput& router : trace) QVERIFY(router.load.is_meta() && router.entropy_sum().is_meta());
        for (const Parameter& p : encoder->parameters())
            if (p.owner.expert <= 0) QVERIFY2(p.tensor.grad().defined() && p.tensor.grad().is_meta(), p.name.c_str());
    }

    void scalars_of_the_host_and_absent_ones_are_read_in_order() {
        const auto values = read_scalars({at::scalar_tensor(2.5), at::Tensor(), at::scalar_tensor(7, at::kLong)});
        QCOMPARE(values, (std::vector<double>{2.5, 0, 7}));
    }

    void without_a_driver_auto_is_the_processor_and_cuda_says_what_is_missing() {
        if (::dlopen("libcuda.so.1", RTLD_LAZY)) QSKIP("this machine has NVIDIA's driver");
        QVERIFY(choose_device("auto").is_cpu());
        QVERIFY(choose_device("cpu", {.rank = 1, .size = 2}).is_cpu());
        EXPECT_ERROR(choose_device("cuda"), std::string("NVIDIA driver"));
        QCOMPARE(device_memory(c10::kCPU).most, std::uint64_t{0});
    }
};

FACETER_TEST(TestDevice)
#include "test_device.moc"
