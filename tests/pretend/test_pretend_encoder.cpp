#include "model/accelerator.h"
#include "model/device_attention.h"
#include "model/embedding_model.h"
#include "support/ops_forms.h"
#include "support/pretend_device/pretend.h"
#include "support/rounding.h"
#include "support/small_encoders.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

const c10::Device there = pretend::device();

}  // namespace

/// Encoders on the pretend accelerator.
class TestPretendEncoder : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    /// In float64, where sums in another order are still the same; and nothing is read back.
    void a_pass_equals_that_of_the_processor_data() { every_kind(); }
    void a_pass_equals_that_of_the_processor() {
        QFETCH(QString, family);
        QFETCH(QString, kind);
        const auto encoder = some_encoder(family.toStdString(), kind.toStdString())->clone(at::kDouble);
        encoder->require_grad(true);
        const std::vector<int> experts = kind == "mixture" ? std::vector<int>{0, 0, 1, 1} : std::vector<int>{0, 0, 0, 0};
        at::Tensor wanted;
        std::vector<at::Tensor> gradients;
        {
            const InForm in_form(OpsForm::device);
            wanted = loss_of(*encoder, some_batch(experts));
            wanted.backward();
            for (const Parameter& p : encoder->parameters()) gradients.push_back(p.tensor.grad());
        }
        const auto far = encoder->clone();
        far->move_to(there);
        far->require_grad(true);
        const PackedBatch batch = some_batch(experts);
        pretend::reset_counts();
        const at::Tensor loss = loss_of(*far, batch);
        loss.backward();
        std::string places;
        for (const auto& [place, times] : pretend::waits_by_place()) places += place + " " + std::to_string(times) + " times\n";
        // Beyond bfloat16 a routed block needs to know how many rows each expert has; half precision does not, below.
        QVERIFY2(pretend::counts().waits == (kind == "routed" ? 2 : 0), places.c_str());
        QVERIFY(loss.device() == there);
        QVERIFY(relative_difference(loss.cpu(), wanted) < 1e-9);
        const auto parameters = far->parameters();
        double largest = 0;  // a gradient that cancels out is what rounding leaves of terms as large as these
        for (const at::Tensor& gradient : gradients)
            if (gradient.defined()) largest = std::max(largest, gradient.abs().max().item<double>());
        for (std::size_t i = 0; i < gradients.size(); ++i) {
            const at::Tensor got = parameters[i].tensor.grad();
            QCOMPARE(got.defined(), gradients[i].defined());
            if (got.defined()) QVERIFY2(max_difference(got.cpu(), gradients[i]) < 1e-9 * largest, parameters[i].name.c_str());
        }
    }

    /// As a query to a server comes: its rows are those of the table of positions, which lies on the host.
    void a_text_by_itself_equals_that_of_the_processor_data() {
        QTest::addColumn<QString>("family");
        for (const char* family : backbone_families) QTest::newRow(family) << family;
    }
    void a_text_by_itself_equals_that_of_the_processor() {
        QFETCH(QString, family);
        const at::NoGradGuard no_grad;
        const auto encoder = some_encoder(family.toStdString(), "dense")->clone(at::kDouble);
        const PackedBatch batch = some_batch({0});
        const at::Tensor wanted = encoder->forward(batch, {});
        const auto far = encoder->clone();
        far->move_to(there);
        QVERIFY(relative_difference(far->forward(some_batch({0}), {}).cpu(), wanted) < 1e-9);
    }

    /// Queries of 5 to 7 tokens and documents of 20 to 27: [texts, heads, 27, 27] a layer would be twice what these need.
    void a_position_bias_is_made_once_a_pass_and_by_lengths_data() {
        QTest::addColumn<QString>("family");
        for (const char* family : {"t5", "mpnet", "deberta-v2"}) QTest::newRow(family) << family;
    }
    void a_position_bias_is_made_once_a_pass_and_by_lengths() {
        QFETCH(QString, family);
        const auto encoder = some_encoder(family.toStdString(), "dense")->clone(at::kDouble);
        encoder->require_grad(true);
        std::vector<std::vector<std::int32_t>> texts;
        for (std::int32_t s = 0; s < 16; ++s) texts.emplace_back(s % 2 == 0 ? 5 + s % 4 : 20 + s / 2, 7 + s);
        std::vector<SequenceInput> inputs;
        for (const auto& text : texts) inputs.push_back({text.data(), static_cast<std::int64_t>(text.size()), inputs.size() + 1, {}, 0});
        const PackedBatch batch = make_packed_batch(inputs);
        const at::Tensor wanted = encoder->forward(batch, {});  // in the form that says the equation
        wanted.square().sum().backward();
        const auto far = encoder->clone();
        far->move_to(there);
        far->require_grad(true);
        const std::uint64_t held = device_memory(there).held;
        pretend::reset_counts();
        const at::Tensor got = far->forward(batch, {});
        const auto filled = pretend::operators_by_name()["aten::masked_fill_"];
        got.square().sum().backward();
        const auto counts = pretend::counts();
        qInfo("%s: %lld operators and %lld allocations in forward and backward, %llu bytes at most, %lld masks", qPrintable(family),
              static_cast<long long>(counts.operators), static_cast<long long>(counts.allocations),
              static_cast<unsigned long long>(counts.most - held), static_cast<long long>(filled));
        QVERIFY(relative_difference(got.cpu(), wanted) < 1e-9);
        const auto there_ones = far->parameters(), here = encoder->parameters();
        double largest = 0;
        for (const Parameter& p : here)
            if (p.tensor.grad().defined()) largest = std::max(largest, p.tensor.grad().abs().max().item<double>());
        for (std::size_t i = 0; i < here.size(); ++i)
            if (here[i].tensor.grad().defined())
                QVERIFY2(max_difference(there_ones[i].tensor.grad().cpu(), here[i].tensor.grad()) < 1e-9 * largest, here[i].name.c_str());
        QCOMPARE(counts.waits, std::int64_t{0});
        if (family != "deberta-v2") QCOMPARE(filled, std::int64_t{2});  // of two buckets, for four layers
    }

    /// Angles are gathered once a pass, cosines and sines of each base; queries and keys are turned together, in place of the whole; one
    /// expert that serves the batch takes it as it is.
    void rotary_positions_and_a_single_expert_put_nothing_together_data() {
        QTest::addColumn<QString>("family");
        QTest::addColumn<int>("bases");
        QTest::newRow("nomic_bert") << "nomic_bert" << 1;
        QTest::newRow("gte") << "gte" << 1;
        QTest::newRow("modernbert") << "modernbert" << 2;
    }
    void rotary_positions_and_a_single_expert_put_nothing_together() {
        QFETCH(QString, family);
        QFETCH(int, bases);
        const at::NoGradGuard no_grad;
        const auto encoder = some_encoder(family.toStdString(), "mixture");
        encoder->move_to(there);
        const auto lowered = encoder->lowered(at::kBFloat16);
        pretend::reset_counts();
        lowered->forward(some_batch({1, 1, 1, 1}), {});
        auto counts = pretend::operators_by_name();
        QCOMPARE(counts["aten::cat"], std::int64_t{0});
        QCOMPARE(counts["aten::index_select"], std::int64_t{2 * bases + 1});  // and the words'
    }

    /// FlashAttention lacks the backward pass of wide heads on GPUs like an RTX 4090, which would end, or give any gradient.
    void wide_heads_go_without_the_kernel_where_it_has_no_backward_pass_data() {
        QTest::addColumn<int>("capability");
        QTest::addColumn<int>("width");
        QTest::addColumn<double>("dropout");
        QTest::addColumn<bool>("kernel");
        QTest::addRow("H100, 256 with dropout") << 90 << 256 << 0.1 << true;
        QTest::addRow("A100, 208") << 80 << 208 << 0.0 << true;
        QTest::addRow("RTX 3090, 208") << 86 << 208 << 0.0 << false;
        QTest::addRow("RTX 4090, 256") << 89 << 256 << 0.0 << true;
        QTest::addRow("RTX 4090, 256 with dropout") << 89 << 256 << 0.1 << false;
        QTest::addRow("RTX 4090, 192 with dropout") << 89 << 192 << 0.1 << true;
        QTest::addRow("RTX 5090, 208") << 120 << 208 << 0.0 << false;
    }
    void wide_heads_go_without_the_kernel_where_it_has_no_backward_pass() {
        QFETCH(int, capability);
        QFETCH(int, width);
        QFETCH(double, dropout);
        QFETCH(bool, kernel);
        const auto back = qScopeGuard([] { pretend::set_capability(90); });
        pretend::set_capability(capability);
        const PackedBatch batch = some_batch({0, 0, 0, 0});
        AttentionForm form;
        form.heads = form.key_heads = 2;
        const at::Tensor qkv =
            at::ones({batch.layout->num_tokens(), 6 * width}, at::TensorOptions(there).dtype(at::kBFloat16)).requires_grad_();
        pretend::reset_counts();
        const at::Tensor out = device_attention(qkv, *batch.layout, form, dropout);
        out.sum().backward();
        QCOMPARE(pretend::operators_by_name().contains("aten::_flash_attention_forward"), kernel);
        QVERIFY(at::isfinite(qkv.grad()).all().item<bool>());
        if (dropout == 0) QVERIFY(max_difference(out.detach().cpu(), at::ones({out.size(0), 2 * width}, at::kBFloat16)) < 0.01);
    }

    void half_precision_is_refused_where_no_gpu_has_it() {
        const auto back = qScopeGuard([] { pretend::set_capability(90); });
        pretend::set_capability(75);
        EXPECT_ERROR((require_bfloat16(there), 0), "compute capability 7.5", "leave precision: bf16 out");
        require_bfloat16(c10::kCPU);
        pretend::set_capability(80);
        require_bfloat16(there);
    }

    /// bfloat16 goes through the attention of variable lengths and the grouped product.
    void half_precision_equals_float32_but_for_rounding_data() { every_kind(); }
    void half_precision_equals_float32_but_for_rounding() {
        QFETCH(QString, family);
        QFETCH(QString, kind);
        if (kind == "routed") QSKIP("a token between two experts may go either way; tests/model/test_device has it");
        const auto encoder = some_encoder(family.toStdString(), kind.toStdString());
        const PackedBatch batch = some_batch({0, 0, 0, 0});
        const InForm in_form(OpsForm::device);
        const ExactGradients exact(*encoder, batch);
        const auto far = encoder->clone();
        far->move_to(there);
        far->require_grad(true);
        pretend::reset_counts();
        loss_of(*far->lowered(at::kBFloat16), batch).backward();
        QCOMPARE(pretend::counts().waits, std::int64_t{0});
        if (family == "bert") QVERIFY(pretend::operators_by_name().contains("aten::_flash_attention_backward"));
        QCOMPARE(exact.differs(gradients_now(*far)), std::string());
    }
};

FACETER_TEST(TestPretendEncoder)
#include "test_pretend_encoder.moc"
