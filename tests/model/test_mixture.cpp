#include <set>

#include "plugin/loader.h"
#include "plugin/registry.h"
#include "support/backbones.h"
#include "support/tensors.h"
#include "support/test.h"
#include "train/optimizer.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

/// A model of four tasks' routes on one encoder, shaped by the plugin's variant.
std::unique_ptr<EmbeddingModel> mote_model(const Json& settings, const std::string& family = "bert") {
    auto model = std::make_unique<EmbeddingModel>();
    model->encoders.push_back(std::make_unique<Encoder>(small_config(family), std::vector<DenseModule>{}, at::kFloat));
    fill(*model->encoders.front());
    model->tasks = read_tasks(Json{{"retrieval", {{"instructions", {{"query", "q: "}, {"document", "d: "}}}}},
                                   {"classification", {{"instructions", {{"query", "c: "}, {"document", "c: "}}}}},
                                   {"clustering", {{"instructions", {{"query", "k: "}, {"document", "k: "}}}}}});
    registry().make_variant("mote", settings)->prepare(*model);
    return model;
}

}  // namespace

class TestMixture : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void every_instruction_has_its_own_expert_and_tasks_with_one_instruction_one() {
        const auto model = mote_model({{"method", "mote"}});
        std::set<int> experts;
        for (const auto& [key, route] : model->routes) experts.insert(route.path.expert);
        QCOMPARE(experts.size(), std::size_t{4});
        QCOMPARE(model->route("clustering", Role::query).path, model->route("clustering", Role::document).path);
        QVERIFY(model->route("retrieval", Role::query).path != model->route("retrieval", Role::document).path);
    }

    void a_pattern_gives_the_instructions_that_it_matches_one_expert() {
        const auto model = mote_model({{"method", "mote"}, {"experts", {{"retrieval.document", "own"}, {"*: ", "all"}}}});
        QVERIFY(model->route("retrieval", Role::query).path == model->route("clustering", Role::document).path);
        QVERIFY(model->route("retrieval", Role::query).path != model->route("retrieval", Role::document).path);
        EXPECT_ERROR(mote_model({{"method", "mote"}, {"experts", {{"search *", "all"}}}}), "search *", "no task's instruction");
    }

    void placement_says_which_blocks_have_experts() {
        const auto count = [](const char* placement) {
            std::vector<bool> mixtures;
            for (const Block& block : mote_model({{"method", "mote"}, {"placement", placement}})->encoders.front()->blocks())
                mixtures.push_back(block.is_mixture());
            return mixtures;
        };
        QVERIFY((count("every") == std::vector<bool>{true, true, true, true}));
        QVERIFY((count("every_other") == std::vector<bool>{false, true, false, true}));
    }

    void at_step_0_it_equals_the_dense_model_exactly_data() { every_family(); }
    void at_step_0_it_equals_the_dense_model_exactly() {
        QFETCH(QString, family);
        Encoder dense(small_config(family.toStdString()), {}, at::kFloat);
        fill(dense);
        const c10::AutoGradMode no_grad(false);
        for (const char* placement : {"every", "every_other"})
            for (const char* norms : {"own", "shared"}) {
                const auto model =
                    mote_model({{"method", "mote"}, {"placement", placement}, {"expert_norms", norms}}, family.toStdString());
                const at::Tensor expected = dense.forward(some_batch(std::vector<int>(14, 0)), {});
                const at::Tensor got = model->encoders.front()->forward(some_batch({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 2, 3}), {});
                QCOMPARE(max_difference(got, expected), 0.0);
            }
    }

    void experts_that_a_step_does_not_use_stay_as_they_are_bit_for_bit() {
        const auto model = mote_model({{"method", "mote"}, {"placement", "every"}});
        Encoder& encoder = *model->encoders.front();
        encoder.require_grad(true);
        AdamW optimizer(encoder.parameters(), {0.9, 0.999, 1e-8, 0.1});
        // All experts once, so that there are moments which would move an expert later.
        train_step(encoder, optimizer, {0, 1, 2, 3});
        std::map<std::string, at::Tensor> before;
        for (const Parameter& p : encoder.parameters()) before[p.name] = p.tensor.detach().clone();
        for (int step = 0; step < 10; ++step) train_step(encoder, optimizer, {0, 1});
        int moved = 0;
        for (const Parameter& p : encoder.parameters()) {
            const bool same = at::equal(p.tensor, before[p.name]);
            if (p.owner.expert >= 2) QVERIFY2(same, p.name.c_str());
            moved += p.owner.expert < 2 && !same;
        }
        QVERIFY(moved > 20);
    }

    void gradients_equal_those_of_one_sequence_at_a_time_data() { every_family(); }
    void gradients_equal_those_of_one_sequence_at_a_time() {
        QFETCH(QString, family);
        const auto model = mote_model({{"method", "mote"}, {"placement", "every"}}, family.toStdString());
        const Encoder& fast = *model->encoders.front();
        model->encoders.front()->require_grad(true);
        const std::vector<int> experts{0, 0, 1, 1, 2, 3, 3};
        const PackedBatch batch = some_batch(experts);
        at::manual_seed(9);
        const at::Tensor weight = at::randn({batch.layout->num_tokens(), 24});
        (fast.forward(batch, {}) * weight).sum().backward();

        const auto reference = fast.clone(at::kDouble);
        reference->require_grad(true);
        for (std::size_t s = 0; s < experts.size(); ++s) {
            const std::int64_t begin = batch.layout->offsets()[s], length = batch.layout->length(static_cast<std::int64_t>(s));
            std::vector<std::int32_t> ids;
            for (std::int64_t i = 0; i < length; ++i) ids.push_back(static_cast<std::int32_t>(batch.ids[begin + i].item<std::int64_t>()));
            const PackedBatch one = make_packed_batch({{ids.data(), length, 0, Path::of_expert(experts[s]), 0}});
            (reference->forward(one, {}) * weight.narrow(0, begin, length).to(at::kDouble)).sum().backward();
        }
        const auto got = fast.parameters(), expected = reference->parameters();
        for (std::size_t i = 0; i < got.size(); ++i) {
            QVERIFY2(got[i].tensor.grad().defined() == expected[i].tensor.grad().defined(), got[i].name.c_str());
            if (!got[i].tensor.grad().defined()) continue;
            const double difference = relative_difference(got[i].tensor.grad(), expected[i].tensor.grad());
            // The key's bias shifts all scores of a row alike: its gradient is zero but for rounding, and so it is compared as part of the
            // whole.
            QVERIFY2(difference < 1e-4, (got[i].name + " " + std::to_string(difference)).c_str());
        }
    }

    void dropout_draws_the_same_masks_in_both_forms_and_in_backward_data() { every_family(); }
    void dropout_draws_the_same_masks_in_both_forms_and_in_backward() {
        QFETCH(QString, family);
        const auto model = mote_model({{"method", "mote"}}, family.toStdString());
        const Encoder& encoder = *model->encoders.front();
        model->encoders.front()->require_grad(true);
        const ForwardContext context{true, 11, 3, dropping(encoder, 0.2)};
        const PackedBatch batch = some_batch({0, 0, 1, 2, 3});
        const at::Tensor fast = encoder.forward(batch, context);
        fast.square().sum().backward();
        const auto reference = encoder.clone(at::kDouble);
        reference->require_grad(true);
        const at::Tensor composed = reference->forward(batch, context);
        composed.square().sum().backward();
        QVERIFY(max_difference(fast, composed) < 1e-4);
        QVERIFY(max_difference(fast, encoder.forward(batch, {})) > 0.1);
        const auto got = encoder.parameters(), expected = reference->parameters();
        for (std::size_t i = 0; i < got.size(); ++i)
            if (got[i].tensor.grad().defined()) {
                const double difference = relative_difference(got[i].tensor.grad(), expected[i].tensor.grad());
                QVERIFY2(difference < 2e-4, (got[i].name + " " + std::to_string(difference)).c_str());
            }
    }

    void a_sequence_does_not_notice_its_neighbours_data() { every_family(); }
    void a_sequence_does_not_notice_its_neighbours() {
        QFETCH(QString, family);
        const auto model = mote_model({{"method", "mote"}}, family.toStdString());
        const c10::AutoGradMode no_grad(false);
        const PackedBatch together = some_batch({0, 0, 0, 1, 2});
        const at::Tensor all = model->encoders.front()->forward(together, {true, 1, 1, dropping(*model->encoders.front(), 0.1)});
        std::vector<std::int32_t> ids;
        const std::int64_t begin = together.layout->offsets()[3], length = together.layout->length(3);
        for (std::int64_t i = 0; i < length; ++i) ids.push_back(static_cast<std::int32_t>(together.ids[begin + i].item<std::int64_t>()));
        const at::Tensor alone = model->encoders.front()->forward(make_packed_batch({{ids.data(), length, 4, Path::of_expert(1), 0}}),
                                                                  {true, 1, 1, dropping(*model->encoders.front(), 0.1)});
        const double difference = max_difference(all.narrow(0, begin, length), alone);
        QVERIFY2(difference < 2e-5, std::to_string(difference).c_str());
    }

    void averaging_leaves_one_dense_block_with_the_mean_of_the_experts() {
        const Json settings = {{"method", "mote"}, {"placement", "every"}, {"final_form", "averaged"}};
        const auto model = mote_model(settings);
        fill(*model->encoders.front());
        at::Tensor mean = at::zeros_like(model->encoders.front()->blocks()[0].experts[0].up);
        for (const Expert& expert : model->encoders.front()->blocks()[0].experts) mean += expert.up / 4;
        registry().make_variant("mote", settings)->finish(*model, {});
        QVERIFY(!model->encoders.front()->blocks()[0].is_mixture());
        QVERIFY(max_difference(model->encoders.front()->blocks()[0].experts[0].up, mean) < 1e-6);
        for (const auto& [key, route] : model->routes) QVERIFY(route.path == Path{});
    }

  private:
    static void every_family() {
        QTest::addColumn<QString>("family");
        for (const char* family : backbone_families) QTest::newRow(family) << family;
    }

    static void train_step(const Encoder& encoder, AdamW& optimizer, const std::vector<int>& experts) {
        encoder.forward(some_batch(experts), {}).square().sum().backward();
        UsedPaths used;
        for (const int expert : experts) used.add(Path::of_expert(expert));
        optimizer.step(1e-2, 1.0, used);
        optimizer.zero_grad();
    }
};

FACETER_TEST(TestMixture)
#include "test_mixture.moc"
