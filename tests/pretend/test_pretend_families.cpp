#include "common/error.h"
#include "support/ops_forms.h"
#include "training.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

constexpr const char* fixtures[] = {"bert",     "xlm_roberta",     "nomic_bert", "nomic_moe",           "t5",
                                    "t5_gated", "modernbert",      "mpnet",      "distilbert",          "roberta",
                                    "mmbert",   "qwen3_embedding", "eurobert",   "qwen3_bidirectional", "mistral",
                                    "gte",      "embedding_gemma", "deberta_v2", "jina_embeddings_v3"};

/// Two steps of a method from a start model, or why it refuses that one.
struct Trained {
    std::vector<double> losses;
    std::vector<at::Tensor> weights;
    std::string refused;
};

Trained trained(const Method& method, const std::string& fixture, const c10::Device& device) {
    try {
        TrainingBench bench(method, exact_settings(), device, at::kDouble, nullptr, fixture);
        std::vector<double> losses = bench.steps(2);
        return {std::move(losses), bench.weights(), ""};
    } catch (const Error& error) {
        return {{}, {}, error.what()};
    }
}

}  // namespace

/// Every method from every start model on the pretend accelerator.
class TestPretendFamilies : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void steps_equal_those_of_the_processor_data() {
        QTest::addColumn<QString>("fixture");
        QTest::addColumn<int>("method");
        for (const char* fixture : fixtures)
            for (std::size_t m = 0; m < methods.size(); ++m)
                QTest::addRow("%s, %s", fixture, methods[m].name) << QString::fromUtf8(fixture) << static_cast<int>(m);
    }
    /// In float64. A method that refuses a start model does so on both.
    void steps_equal_those_of_the_processor() {
        NEED_SHARED();
        QFETCH(QString, fixture);
        QFETCH(int, method);
        const Method& one = methods[static_cast<std::size_t>(method)];
        const Trained far = trained(one, fixture.toStdString(), pretend::device());
        const InForm in_form(OpsForm::device);
        const Trained here = trained(one, fixture.toStdString(), c10::kCPU);
        QCOMPARE(far.refused, here.refused);
        if (!here.refused.empty()) QSKIP(here.refused.c_str());
        QVERIFY(largest_difference(far.losses, here.losses) < 1e-8);
        QVERIFY(largest_difference(far.weights, here.weights) < 1e-8);
    }
};

FACETER_TEST(TestPretendFamilies)
#include "test_pretend_families.moc"
