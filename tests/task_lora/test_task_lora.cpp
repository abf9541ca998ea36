#include <set>

#include "eval/inter_task_similarity.h"
#include "plugin/loader.h"
#include "plugin/registry.h"
#include "support/backbones.h"
#include "support/tensors.h"
#include "support/test.h"
#include "train/optimizer.h"
#include "train/trainer.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

/// A small adapter; what is not named is as the manifest says.
std::unique_ptr<Variant> variant(const Json& changes = Json::object()) {
    Json settings = {{"rank", 4}, {"alpha", 16}};
    if (!changes.is_null()) settings.update(changes);
    return registry().make_variant("task_lora", settings);
}

std::unique_ptr<EmbeddingModel> dense_model(const std::string& family = "bert") {
    auto model = std::make_unique<EmbeddingModel>();
    model->encoders.push_back(std::make_unique<Encoder>(small_config(family), std::vector<DenseModule>{}, at::kFloat));
    fill(*model->encoders.front());
    model->tasks = read_tasks(Json{{"retrieval", {{"instructions", {{"query", "q: "}, {"document", "d: "}}}}},
                                   {"sts", {{"instructions", {{"query", "s: "}, {"document", "s: "}}}}}});
    return model;
}

std::unique_ptr<EmbeddingModel> lora_model(const Json& changes = Json::object(), const std::string& family = "bert") {
    auto model = dense_model(family);
    variant(changes)->prepare(*model);
    return model;
}

/// Updates that are not zero.
void disturb(Encoder& encoder) {
    const at::NoGradGuard no_grad;
    at::manual_seed(8);
    for (std::size_t i = 0; i < encoder.adapters().size(); ++i)
        for (const Parameter& p : encoder.adapter_parameters(i)) p.tensor.detach().copy_(0.2 * at::randn(p.tensor.sizes()));
}

int adapter(const EmbeddingModel& model, const char* task, Role role) { return model.route(task, role).path.adapter; }

}  // namespace

class TestTaskLora : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void at_step_0_every_task_equals_the_dense_model_data() {
        QTest::addColumn<QString>("family");
        for (const char* family : backbone_families) QTest::newRow(family) << family;
    }
    void at_step_0_every_task_equals_the_dense_model() {
        QFETCH(QString, family);
        const auto dense = dense_model(family.toStdString()), model = lora_model({}, family.toStdString());
        const c10::AutoGradMode no_grad(false);
        const at::Tensor expected = dense->encoders.front()->forward(batch_on(std::vector<Path>(4)), {});
        const at::Tensor got = model->encoders.front()->forward(
            batch_on({Path::of_adapter(0), Path::of_adapter(1), Path::of_adapter(2), Path::of_adapter(2)}), {});
        const double difference = relative_difference(got, expected);
        QVERIFY2(difference < noise_factor * float32_noise(*dense->encoders.front(), batch_on(std::vector<Path>(4))),
                 std::to_string(difference).c_str());
    }

    void queries_and_documents_share_an_adapter_where_their_instructions_are_the_same() {
        const auto model = lora_model();
        QCOMPARE(model->encoders.front()->adapters().size(), std::size_t{3});
        QVERIFY(adapter(*model, "retrieval", Role::query) != adapter(*model, "retrieval", Role::document));
        QCOMPARE(adapter(*model, "sts", Role::query), adapter(*model, "sts", Role::document));
        QCOMPARE(lora_model({{"adapters", "task"}})->encoders.front()->adapters().size(), std::size_t{2});
        QCOMPARE(lora_model({{"adapters", "role"}})->encoders.front()->adapters().size(), std::size_t{4});
    }

    void facets_show_both_adapters_of_a_task_whose_sides_have_one_instruction() {
        const auto names = [](const EmbeddingModel& model) {
            std::vector<std::string> all;
            for (const Facet& facet : facets_of(model.tasks, model)) all.push_back(facet.name);
            return all;
        };
        QCOMPARE(names(*lora_model()), (std::vector<std::string>{"retrieval.query", "retrieval.document", "sts"}));
        QCOMPARE(names(*lora_model({{"adapters", "role"}})),
                 (std::vector<std::string>{"retrieval.query", "retrieval.document", "sts", "sts.document"}));
    }

    void instructions_are_put_in_front_only_where_they_are_asked_for() {
        QCOMPARE(lora_model()->route("retrieval", Role::query).instruction, std::string());
        QCOMPARE(lora_model({{"instructions", true}})->route("retrieval", Role::query).instruction, std::string("q: "));
    }

    void another_seed_draws_other_adapters() {
        const auto a = lora_model({{"seed", 1}}), b = lora_model({{"seed", 1}}), c = lora_model({{"seed", 2}});
        const auto first = [](const EmbeddingModel& model) { return model.encoders.front()->adapter_parameters(0).front().tensor; };
        QVERIFY(at::equal(first(*a), first(*b)) && !at::equal(first(*a), first(*c)));
        QVERIFY(!at::equal(first(*a), a->encoders.front()->adapter_parameters(1).front().tensor));
    }

    void averaging_leaves_the_mean_of_the_merged_models() {
        const auto model = lora_model({{"final_form", "averaged"}});
        Encoder& encoder = *model->encoders.front();
        disturb(encoder);
        const auto base = encoder.clone(at::kDouble);
        at::Tensor sum = at::zeros_like(base->blocks()[1].experts[0].up);
        for (std::size_t i = 0; i < 3; ++i) {
            const auto merged = encoder.clone(at::kDouble);
            merged->merge_adapter(i);
            sum += merged->blocks()[1].experts[0].up / 3;
        }
        variant({{"final_form", "averaged"}})->finish(*model, {});
        QVERIFY(encoder.adapters().empty() && model->route("sts", Role::query).path == Path{});
        QVERIFY(relative_difference(encoder.blocks()[1].experts[0].up, sum) < 1e-6);
        QVERIFY(relative_difference(base->blocks()[1].experts[0].up, sum) > 1e-3);
    }

    void a_stage_trains_all_adapters_or_one_tasks() {
        const auto model = lora_model();
        const auto together = variant()->stages(*model), apart = variant({{"training", "one_by_one"}})->stages(*model);
        QCOMPARE(together.size(), std::size_t{1});
        QCOMPARE(together[0].adapters, (std::set<int>{0, 1, 2}));
        QCOMPARE(apart.size(), std::size_t{2});
        QCOMPARE(apart[0].adapters, (std::set<int>{0, 1}));
        QCOMPARE(apart[1].tasks, (std::vector<std::string>{"sts"}));
    }

    void a_base_that_moves_under_the_adapters_of_other_tasks_is_refused() {
        EXPECT_ERROR(variant({{"training", "one_by_one"}, {"base_rate", 0.1}}), "base_rate", "training: together");
    }
};

FACETER_TEST(TestTaskLora)
#include "test_task_lora.moc"
