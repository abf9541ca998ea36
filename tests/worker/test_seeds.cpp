#include <ATen/ATen.h>

#include "plugin/run_model.h"
#include "support/tensors.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

/// What a run draws before it trains: it depends on the run's seed and on nothing else.
class TestSeeds : public QObject {
    Q_OBJECT
    static std::unique_ptr<EmbeddingModel> prepared(const Json& variant, std::uint64_t seed) {
        const Json task = {{"type", "retrieval"}, {"instructions", {{"query", "find: "}, {"document", "text: "}}}};
        const Json settings = {{"model", (shared_folder() / "fixtures/bert").string()},
                               {"seed", seed},
                               {"tasks", {{"first", task}, {"second", task}}},
                               {"variant", variant}};
        auto model = open_start_model(settings);
        variant_of(settings)->prepare(*model);
        return model;
    }
    static std::vector<at::Tensor> routers(const EmbeddingModel& model) {
        std::vector<at::Tensor> all;
        for (const Block& block : model.encoders.front()->blocks())
            if (block.routing) all.push_back(block.routing->router);
        return all;
    }

  private Q_SLOTS:
    void routers_of_tokens_start_by_the_runs_seed() {
        NEED_SHARED();
        const Json variant = {{"method", "token_routed_moe"}, {"placement", "every"}};
        const auto one = routers(*prepared(variant, 1)), again = routers(*prepared(variant, 1)), other = routers(*prepared(variant, 2));
        QVERIFY(one.size() > 1);
        for (std::size_t i = 0; i < one.size(); ++i) QVERIFY(at::equal(one[i], again[i]) && !at::equal(one[i], other[i]));
        QVERIFY(!at::equal(one[0], one[1]));
    }
    void gates_start_by_the_runs_seed_each_by_itself() {
        NEED_SHARED();
        const Json variant = {{"method", "router_retriever"}, {"multi_task", false}};
        const auto one = prepared(variant, 1), again = prepared(variant, 1), other = prepared(variant, 2);
        const auto start = [](const EmbeddingModel& model, std::size_t gate) {
            for (const Parameter& p : model.encoders.front()->adapter_parameters(gate))
                if (p.name.find("lora_A") != std::string::npos) return p.tensor;
            return at::Tensor();
        };
        for (const std::size_t gate : {0, 1}) {
            QVERIFY(at::equal(start(*one, gate), start(*again, gate)));
            QVERIFY(!at::equal(start(*one, gate), start(*other, gate)));
        }
        QVERIFY(!at::equal(start(*one, 0), start(*one, 1)));
    }
};

FACETER_TEST(TestSeeds)
#include "test_seeds.moc"
