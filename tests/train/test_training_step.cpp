#include <cmath>
#include <map>

#include "common/file.h"
#include "data/sources.h"
#include "trainer_bench.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

/// InfoNCE whose gradient, not its value, is broken at one of its calls.
struct BrokenGradient final : PairObjective {
    explicit BrokenGradient(int call) : broken_call(call) {}
    LossResult operator()(const PairEmbeddings& batch) const override {
        LossResult result = InfoNce({})(batch);
        if (++calls == broken_call) result.loss = result.loss + (batch.queries.sum() * 0).abs().sqrt();
        return result;
    }
    int broken_call;
    mutable int calls = 0;
};

/// Texts of four classes with negatives drawn from the others.
TrainingSet labelled_pairs(const fs::path& folder) {
    std::string lines;
    for (int i = 0; i < 24; ++i) lines += fmt::format("{{\"text\": \"text {} of {}\", \"label\": \"l{}\"}}\n", i, i % 4, i % 4);
    write_file_atomic(folder / "labelled.jsonl", lines);
    return load_training_set({{{"source", "file"}, {"path", "labelled.jsonl"}, {"format", "labelled"}, {"hard_negatives", 2}}, folder},
                             "classification");
}

}  // namespace

/// What a step trains on and logs, and when it is not taken.
class TestTrainingStep : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void a_gradient_that_is_not_finite_ends_the_run_before_its_step() {
        NEED_SHARED();
        for (const double max_norm : {1.0, 0.0}) {
            TrainingSettings settings = small();
            settings.checkpoint_every_steps = 1;
            settings.max_grad_norm = max_norm;
            Bench bench(settings);
            const BrokenGradient objective(3);
            Trainer trainer(*bench.model, Stage{}, 0, bench.batcher, *bench.curriculum, objective, settings, {}, bench.group);
            std::vector<at::Tensor> saved;
            std::int64_t last_saved = 0;
            TrainerEvents events;
            events.checkpoint = [&](const CheckpointState& state, const std::vector<NamedTensor>&) {
                saved = bench.weights();
                last_saved = state.step;
            };
            EXPECT_ERROR(trainer.run(events), "gradient is not finite at step 3", "task retrieval", "the shared weights",
                         "last checkpoint");
            QCOMPARE(last_saved, std::int64_t{2});
            const auto after = bench.weights();
            for (std::size_t i = 0; i < after.size(); ++i) QVERIFY(at::equal(after[i], saved[i]));
        }
    }

    void a_broken_gradient_of_an_adapter_names_it() {
        NEED_SHARED();
        Bench bench(small(), false, gate_stage());
        const BrokenGradient objective(1);
        Trainer trainer(*bench.model, gate_stage(), 0, bench.batcher, *bench.curriculum, objective, small(), {}, bench.group);
        EXPECT_ERROR(trainer.run({}), "the low-rank adapter", "lora_");
    }

    void a_step_of_several_tasks_has_the_mean_loss_of_each() {
        NEED_SHARED();
        TrainingSettings settings = small();
        settings.dropout = 0;
        settings.accumulate = 16;
        settings.learning_rate = 1e-12;
        for (const std::int64_t chunk : {0, 5}) {
            settings.gradient_cache_chunk = chunk;
            Bench bench(settings);
            TrainingSet second = bench.set;
            second.name = second.task = "clustering";
            const PairBatcher batcher(*bench.model, {&bench.set, &second}, bench.cache.path(), 1);
            CurriculumContext context;
            context.tasks.resize(2);
            context.tasks[0].name = "retrieval";
            context.tasks[1].name = "clustering";
            context.tasks[1].temperature = 0.2;
            context.sets = {&bench.set, &second};
            context.batch_size = settings.batch_size;
            const auto curriculum = make_task_aware_curriculum(context), again = make_task_aware_curriculum(context);
            Trainer trainer(*bench.model, Stage{}, 0, batcher, *curriculum, bench.objective, settings, {}, bench.group);
            const StepReport report = trainer.train_step();
            std::map<std::string, std::pair<double, int>> wanted;
            double all = 0;
            for (int i = 0; i < settings.accumulate; ++i) {
                const at::NoGradGuard no_grad;
                const BatchPlan plan = again->next();
                const PairBatch batch = batcher.build(plan.items, plan.temperature);
                const double loss = bench.objective(batch.assemble(bench.model->embed(*bench.model->encoders.front(), batch.tokens, {})))
                                        .loss.item<double>();
                wanted[plan.task].first += loss;
                ++wanted[plan.task].second;
                all += loss / 16;
            }
            QCOMPARE(wanted.size(), std::size_t{2});
            QCOMPARE(report.task_losses.size(), std::size_t{2});
            for (const auto& [task, sum] : wanted) QVERIFY(std::abs(report.task_losses.at(task) - sum.first / sum.second) < 1e-4);
            QVERIFY(std::abs(report.loss - all) < 1e-4);
        }
    }

    void losses_of_prefixes_are_means_over_the_batches_of_a_step() {
        NEED_SHARED();
        const Matryoshka objective(std::make_unique<InfoNce>(InfoNceSettings{}), {8, 32}, {});
        for (const std::int64_t chunk : {0, 5}) {
            TrainingSettings settings = small();
            settings.accumulate = 3;
            settings.gradient_cache_chunk = chunk;
            Bench bench(settings);
            Trainer trainer(*bench.model, Stage{}, 0, bench.batcher, *bench.curriculum, objective, settings, {}, bench.group);
            const StepReport report = trainer.train_step();
            QVERIFY(std::abs(report.parts.at("prefix_loss/8") + report.parts.at("prefix_loss/32") - report.loss) < 1e-4 * report.loss);
        }
    }

    void what_routers_count_adds_up_over_the_batches_of_a_step_and_what_they_average_does_not() {
        NEED_SHARED();
        Stage stage;
        stage.routing_loss = [](const RoutingTrace&, const RoutingTotals&) {
            const at::Tensor ten = at::full({}, 10.0);
            return LossResult{at::zeros({}), {{"dropped_assignments", ten}, {"dropped_assignments/block 1", ten}, {"router_entropy", ten}}};
        };
        TrainingSettings settings = small();
        settings.accumulate = 4;
        const StepReport report = Bench(settings, false, stage).trainer->train_step();
        QCOMPARE(report.parts.at("dropped_assignments"), 40.0);
        QCOMPARE(report.parts.at("dropped_assignments/block 1"), 40.0);
        QCOMPARE(report.parts.at("router_entropy"), 10.0);
    }

    void hard_negatives_that_count_for_no_query_are_not_embedded() {
        NEED_SHARED();
        InfoNceSettings none;
        none.hard_negatives = InfoNceSettings::HardNegatives::none;
        const InfoNce objective(none);
        const Matryoshka prefixes(std::make_unique<InfoNce>(none), {16, 32}, {});
        for (const PairObjective* one : {static_cast<const PairObjective*>(&objective), static_cast<const PairObjective*>(&prefixes)})
            for (const std::int64_t chunk : {0, 5}) {
                TrainingSettings settings = small();
                settings.gradient_cache_chunk = chunk;
                Bench bench(settings), fresh(settings);
                Trainer trainer(*bench.model, Stage{}, 0, bench.batcher, *bench.curriculum, *one, settings, {}, bench.group);
                const BatchPlan plan = fresh.curriculum->next();
                const PairBatch all = fresh.batcher.build(plan.items, plan.temperature);
                std::int64_t tokens = 0;
                for (std::int64_t i = 0; i < 2 * all.num_pairs; ++i)
                    tokens += all.tokens.layout->length(all.rows[static_cast<std::size_t>(i)]);
                QVERIFY(tokens < all.tokens.layout->num_tokens());
                QCOMPARE(trainer.train_step().tokens, tokens);
            }
    }

    void documents_are_frozen_with_their_negatives_when_a_later_stage_asks_for_these() {
        NEED_SHARED();
        InfoNceSettings none;
        none.hard_negatives = InfoNceSettings::HardNegatives::none;
        const InfoNce without(none);
        Bench bench(small(), false, gate_stage());
        PairBatcher batcher(*bench.model, {&bench.set}, bench.cache.path(), 1);
        Trainer first(*bench.model, gate_stage(), 0, batcher, *bench.curriculum, without, small(), {}, bench.group);
        first.train_step();
        Trainer second(*bench.model, gate_stage(), 0, batcher, *bench.curriculum, bench.objective, small(), {}, bench.group);
        const std::vector<ExampleReference> items{{0, 1}, {0, 5}, {0, 8}};
        const PairBatch frozen = batcher.build(items, 0.05, {0, Path::none, true}),
                        anew = batcher.build(items, 0.05, {0, Path::none, false});
        const PairEmbeddings rows = anew.assemble(bench.model->embed(*bench.model->encoders.front(), anew.tokens, {}));
        QVERIFY(frozen.pairs.negatives.size(0) > 2 && max_difference(frozen.pairs.negatives, rows.negatives) < 1e-5);
    }

    void labels_of_two_sets_of_one_name_are_told_apart() {
        NEED_SHARED();
        Bench bench(small());
        const TrainingSet set = labelled_pairs(bench.cache.path()), other = set;
        const PairBatcher batcher(*bench.model, {&set, &other}, bench.cache.path(), 1);
        const std::vector<ExampleReference> items{{0, 0}, {1, 0}, {0, 0}};
        const auto labels = batcher.build(items, 0.05).pairs.labels;
        QCOMPARE(labels[2], labels[0]);
        QVERIFY(labels[1] != labels[0]);
    }

    void hard_negatives_of_a_querys_own_class_are_masked() {
        NEED_SHARED();
        Bench bench(small());
        const TrainingSet set = labelled_pairs(bench.cache.path());
        const PairBatcher batcher(*bench.model, {&set}, bench.cache.path(), 1);
        std::vector<ExampleReference> items;
        for (std::uint32_t i = 0; i < 8; ++i) items.push_back({0, i});
        const PairBatch batch = batcher.build(items, 0.05);
        QCOMPARE(batch.pairs.negative_labels.size(), std::size_t{16});
        const auto class_of = [](std::string_view text) { return text.substr(text.size() - 1); };
        double same = 0;
        for (const ExampleReference& query : items)
            for (const ExampleReference& other : items) {
                const Example &one = set.examples[query.example], &two = set.examples[other.example];
                const std::string_view own = class_of(set.texts[one.anchor]);
                same += query.example != other.example && own == class_of(set.texts[two.positive]);
                for (std::uint32_t n = 0; n < 2; ++n) same += own == class_of(set.texts[set.negatives[two.first_negative + n]]);
            }
        InfoNceSettings settings;
        settings.mask = InfoNceSettings::Mask::same_label;
        const LossResult result = InfoNce(settings)(batch.assemble(bench.model->embed(*bench.model->encoders.front(), batch.tokens, {})));
        QCOMPARE(result.parts.at("masked_negatives").item<double>(), same);
        QVERIFY(same > 16);  // the in-batch positives alone make 8
    }
};

FACETER_TEST(TestTrainingStep)
#include "test_training_step.moc"
