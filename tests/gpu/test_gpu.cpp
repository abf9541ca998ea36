#include <cmath>

#include "common/error.h"
#include "eval/embedder.h"
#include "model/accelerator.h"
#include "model/compute.h"
#include "pretend/training.h"
#include "support/ops_forms.h"
#include "support/rounding.h"
#include "support/small_encoders.h"
#include "train/rendezvous.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

/// The GPU, or why there is none.
struct Gpu {
    c10::Device device{c10::kCPU};
    std::string missing;
    Gpu() {
        try {
            device = choose_device("cuda");
        } catch (const Error& error) {
            missing = error.what();
        }
    }
};
const Gpu& gpu() {
    static const Gpu one;
    return one;
}

std::vector<std::string_view> some_texts(const TrainingBench& bench) {
    std::vector<std::string_view> texts;
    for (const Example& one : bench.sets[0].examples) texts.push_back(bench.sets[0].texts[one.positive]);
    return texts;
}

}  // namespace

/// The way of GPUs where there is one.
class TestGpu : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void init() {
        NEED_SHARED();
        if (!gpu().missing.empty()) QSKIP(gpu().missing.c_str());
        const QString row = QTest::currentDataTag();
        if (!gpu().device.is_cuda() && !row.isEmpty() && row != "IC" && row != "MoTE" && !row.startsWith("bert"))
            QSKIP("tests/pretend has it");
    }
    /// In float64: AdamW makes a whole step of a gradient that is nothing but rounding.
    void steps_equal_those_of_the_processor_data() { every_method(); }
    void steps_equal_those_of_the_processor() {
        QFETCH(int, method);
        const Method& one = methods[static_cast<std::size_t>(method)];
        TrainingBench far(one, exact_settings(), gpu().device, at::kDouble);
        const auto losses = far.steps(4);
        const InForm in_form(OpsForm::device);
        TrainingBench here(one, exact_settings(), c10::kCPU, at::kDouble);
        QVERIFY(largest_difference(losses, here.steps(4)) < 1e-7);
        QVERIFY(largest_difference(far.weights(), here.weights()) < 1e-7);
    }
    void steps_from_every_start_model_equal_those_of_the_processor_data() { every_start_model(); }
    /// A method that refuses a start model does so on both.
    void steps_from_every_start_model_equal_those_of_the_processor() {
        QFETCH(QString, fixture);
        QFETCH(int, method);
        require_steps_of_the_processor(method, fixture.toStdString(), gpu().device);
    }
    /// Through the attention of variable lengths and the grouped product.
    void gradients_in_bfloat16_are_those_in_float32_but_for_rounding_data() { every_kind(); }
    void gradients_in_bfloat16_are_those_in_float32_but_for_rounding() {
        QFETCH(QString, family);
        QFETCH(QString, kind);
        const PackedBatch batch = some_batch({0, 0, 0, 0});
        std::unique_ptr<Encoder> far;
        const ExactGradients exact = [&] {
            const InForm in_form(OpsForm::device);
            const auto encoder = encoder_that_chooses_alike(family.toStdString(), kind.toStdString(), batch);
            far = encoder->clone();
            return ExactGradients(*encoder, batch);
        }();
        far->move_to(gpu().device);
        far->require_grad(true);
        loss_of(*far->lowered(at::kBFloat16), batch).backward();
        QCOMPARE(exact.differs(gradients_now(*far)), std::string());
    }
    /// What the GPU draws, and the order in which it adds up, are its own: but the same again.
    void steps_with_dropout_are_the_same_again_data() { every_method(); }
    void steps_with_dropout_are_the_same_again() {
        QFETCH(int, method);
        TrainingSettings settings = exact_settings();
        settings.dropout = 0.1;
        settings.bf16 = true;
        const auto losses = [&] { return TrainingBench(methods[static_cast<std::size_t>(method)], settings, gpu().device).steps(6); };
        const std::vector<double> once = losses(), again = losses();
        for (const double value : once) QVERIFY(std::isfinite(value));
        QCOMPARE(again, once);
    }
    void what_recomputes_or_goes_in_chunks_equals_what_does_not_data() { every_method(); }
    void what_recomputes_or_goes_in_chunks_equals_what_does_not() {
        QFETCH(int, method);
        const Method& one = methods[static_cast<std::size_t>(method)];
        const auto losses = [&](bool recomputed, std::int64_t chunk) {
            TrainingSettings settings = exact_settings();
            settings.activation_checkpointing = recomputed;
            settings.gradient_cache_chunk = one.name == std::string("MLM") ? 0 : chunk;
            return TrainingBench(one, settings, gpu().device, at::kDouble).steps(3);
        };
        const std::vector<double> plain = losses(false, 0);
        QVERIFY(largest_difference(losses(true, 0), plain) < 1e-8);
        QVERIFY(largest_difference(losses(true, 5), plain) < 1e-8);
    }
    /// NCCL in a group of one.
    void sums_and_rows_go_through_nccl() {
        const TemporaryDirectory meeting;
        Rendezvous where;
        where.file = meeting.path() / "store";
        const auto group = join_gloo_group(where, {}, gpu().device);
        at::Tensor values = at::arange(1000, at::TensorOptions(at::kFloat).device(gpu().device));
        const at::Tensor wanted = values.cpu();
        group->all_reduce_sum(values);
        QVERIFY(at::equal(values.cpu(), wanted));
        QVERIFY(at::equal(group->reduce_scatter_sum(values).cpu(), wanted));
        QVERIFY(at::equal(group->all_gather_parts(values).cpu(), wanted));
        QVERIFY(at::equal(group->all_gather_rows(values.view({100, 10})).cpu(), wanted.view({100, 10})));
        QVERIFY(at::equal(group->start_all_reduce_sum(values)->wait().cpu(), wanted));
        group->barrier();
    }
    void every_start_model_embeds_as_on_the_processor_data() {
        QTest::addColumn<QString>("fixture");
        for (const char* fixture : start_models) QTest::newRow(fixture) << fixture;
    }
    void every_start_model_embeds_as_on_the_processor() {
        QFETCH(QString, fixture);
        const auto model = EmbeddingModel::open(ModelFolder::open(shared_folder() / "fixtures" / fixture.toStdString()));
        const std::vector<std::string_view> texts = {"a quick brown fox", "", "jumps",
                                                     "over the lazy dog, and then over all the others once more"};
        const at::Tensor wanted = embed_texts(*model, texts, {});
        model->move_to(gpu().device);
        const double rounding = max_difference(embed_texts(*model, texts, {}), wanted);
        prepare_products(*model, Compute::bf16, true);
        const double cosine = (normalize_rows(embed_texts(*model, texts, {})) * normalize_rows(wanted))
                                  .sum(1)
                                  .index_select(0, at::tensor({0, 2, 3}))
                                  .min()
                                  .item<double>();
        qInfo("apart by %.3g, cosine in bfloat16 %.6f", rounding, cosine);
        QVERIFY(rounding < 1e-4);
        QVERIFY(cosine > 0.99);
    }
    void steps_in_bfloat16_lose_what_those_in_float32_lose_data() { every_method(); }
    void steps_in_bfloat16_lose_what_those_in_float32_lose() {
        QFETCH(int, method);
        const auto first_loss = [&](bool bf16) {
            TrainingSettings settings = exact_settings();
            settings.bf16 = bf16;
            return TrainingBench(methods[static_cast<std::size_t>(method)], settings, gpu().device).steps(3).front();
        };
        const double exact = first_loss(false), rounded = first_loss(true);
        QVERIFY2(std::abs(rounded - exact) < 0.02 * std::abs(exact), std::to_string(rounded / exact).c_str());
    }
    void texts_are_embedded_as_on_the_processor() {
        TrainingBench bench(methods[0], exact_settings(), c10::kCPU);
        const auto texts = some_texts(bench);
        const Route route = bench.model->route("retrieval", Role::document);
        const at::Tensor wanted = embed_texts(*bench.model, texts, route);
        bench.model->move_to(gpu().device);
        QVERIFY(max_difference(embed_texts(*bench.model, texts, route), wanted) < 1e-4);
        prepare_products(*bench.model, Compute::bf16, true);
        const at::Tensor lowered = embed_texts(*bench.model, texts, route);
        QVERIFY((normalize_rows(lowered) * normalize_rows(wanted)).sum(1).min().item<double>() > 0.999);
    }

  private:
    static void every_method() {
        QTest::addColumn<int>("method");
        for (std::size_t m = 0; m < methods.size(); ++m) QTest::addRow("%s", methods[m].name) << static_cast<int>(m);
    }
};

FACETER_TEST(TestGpu)
#include "test_gpu.moc"
