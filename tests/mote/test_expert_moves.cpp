#include "plugin/loader.h"
#include "plugin/registry.h"
#include "support/backbones.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

/// The analysis of how far task experts have moved.
class TestExpertMoves : public QObject {
    Q_OBJECT

    static std::unique_ptr<EmbeddingModel> mixture(bool shared_norms) {
        auto model = std::make_unique<EmbeddingModel>();
        model->encoders.push_back(std::make_unique<Encoder>(small_config("bert"), std::vector<DenseModule>{}, at::kFloat));
        fill(*model->encoders.front());
        model->tasks = read_tasks(Json{{"retrieval", {{"instructions", {{"query", "q: "}, {"document", "d: "}}}}}});
        registry().make_variant("mote", {{"placement", "every"}, {"expert_norms", shared_norms ? "shared" : "own"}})->prepare(*model);
        return model;
    }
    static AnalysisResult analysed(const EmbeddingModel& model) {
        CachedEmbedder embedder(model);
        AnalysisContext context{.embedder = embedder, .tasks = model.tasks, .texts = {}, .run_name = "M"};
        return registry().make_analysis("expert_moves", Json::object())->run(context);
    }

  private Q_SLOTS:
    void distances_are_in_units_of_the_dense_block_data() {
        QTest::addColumn<bool>("shared_norms");
        QTest::newRow("own norms") << false;
        QTest::newRow("shared norms") << true;
    }
    void distances_are_in_units_of_the_dense_block() {
        QFETCH(bool, shared_norms);
        const auto model = mixture(shared_norms);
        for (const Json& block : analysed(*model).result.at("moves"))
            for (const double moved : block.at("moved").get<std::vector<double>>()) QCOMPARE(moved, 0.0);  // as it began
        const at::NoGradGuard no_grad;
        Expert& expert = model->encoders.front()->blocks().front().experts[1];
        if (shared_norms)
            for (const at::Tensor* t : {&expert.up, &expert.up_bias, &expert.down, &expert.down_bias}) t->mul_(1.25);
        else
            for (const at::Tensor& t : expert.tensors()) t.mul_(1.25);
        const AnalysisResult result = analysed(*model);
        const Json& first = result.result.at("moves").at(0);
        QVERIFY(std::abs(first.at("moved").at(1).get<double>() - 0.25) < 1e-6);
        QVERIFY(std::abs(first.at("between").at(0).at(1).get<double>() - 0.25) < 1e-6);
        QCOMPARE(first.at("moved").at(0).get<double>(), 0.0);
        QCOMPARE(result.result.at("moves").at(1).at("moved").at(1).get<double>(), 0.0);  // another block
        for (const auto& [name, figure] : result.figures) figure.validate();
        const Table& table = result.tables.front().second;
        table.validate();
        QCOMPARE(table.rows.size(), std::size_t{2});
        QCOMPARE(table.rows[1].cells[0].text, std::string("retrieval.document"));
        QCOMPARE(table.rows[1].cells[2].value, 1.0);
    }

    void a_model_without_task_experts_says_so() {
        auto model = std::make_unique<EmbeddingModel>();
        model->encoders.push_back(std::make_unique<Encoder>(small_config("bert"), std::vector<DenseModule>{}, at::kFloat));
        const AnalysisResult result = analysed(*model);
        QVERIFY(result.figures.empty() && result.result.contains("note"));
    }
};

FACETER_TEST(TestExpertMoves)
#include "test_expert_moves.moc"
