#include <cmath>

#include "common/error.h"
#include "eval/embedder.h"
#include "model/accelerator.h"
#include "model/compute.h"
#include "pretend/training.h"
#include "support/ops_forms.h"

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
