#include <fstream>

#include "common/file.h"
#include "data/leaves.h"
#include "model/matrix.h"
#include "support/ops_forms.h"
#include "trainer_bench.h"

using namespace faceter;
using namespace faceter::testing;

class TestTrainer : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void the_loss_falls() {
        NEED_SHARED();
        TrainingSettings settings = small();
        settings.steps = 60;
        settings.learning_rate = 3e-3;
        settings.dropout = 0;
        Bench bench(settings);
        double first = 0, last = 0;  // means of five steps
        for (int i = 0; i < 60; ++i) {
            const double loss = bench.trainer->train_step().loss / 5;
            if (i < 5) first += loss;
            if (i >= 55) last += loss;
        }
        QVERIFY2(last < 0.8 * first, (std::to_string(first) + " " + std::to_string(last)).c_str());
    }

    void the_same_seed_gives_the_same_weights_bit_for_bit() {
        NEED_SHARED();
        Bench a(small()), b(small());
        for (int i = 0; i < 4; ++i) {
            a.trainer->train_step();
            b.trainer->train_step();
        }
        const auto x = a.weights(), y = b.weights();
        for (std::size_t i = 0; i < x.size(); ++i) QVERIFY(at::equal(x[i], y[i]));
    }

    void the_gradient_cache_gives_the_plain_step_with_dropout_on() {
        NEED_SHARED();
        TrainingSettings cached = small();
        cached.gradient_cache_chunk = 5;
        Bench a(small()), b(cached);
        for (int i = 0; i < 3; ++i) {
            const StepReport plain = a.trainer->train_step(), chunked = b.trainer->train_step();
            QVERIFY(std::abs(plain.loss - chunked.loss) < 1e-5 * plain.loss);
            QVERIFY(std::abs(plain.grad_norm - chunked.grad_norm) < 1e-4 * plain.grad_norm);
        }
    }

    void routed_tokens_without_a_loss_of_their_own_train_through_the_gradient_cache_too() {
        NEED_SHARED();
        TrainingSettings cached = small();
        cached.gradient_cache_chunk = 5;
        Stage stage;
        stage.routing_loss = [](const RoutingTrace&, const RoutingTotals&) { return LossResult{at::zeros({}), {}}; };
        Bench a(small(), false, stage), b(cached, false, stage);
        const StepReport plain = a.trainer->train_step(), chunked = b.trainer->train_step();
        QVERIFY(std::abs(plain.loss - chunked.loss) < 1e-5 * plain.loss);
        QVERIFY(std::abs(plain.grad_norm - chunked.grad_norm) < 1e-4 * plain.grad_norm);
    }

    void the_form_of_accelerators_takes_the_steps_of_the_kernels_and_in_half_precision_nearly() {
        NEED_SHARED();
        TrainingSettings settings = small();
        settings.dropout = 0;
        Bench reference(settings);
        const InForm in_form(OpsForm::device);
        Bench device(settings);
        settings.gradient_cache_chunk = 5;
        Bench cached(settings);
        settings.bf16 = true;
        Bench half(settings);
        for (int i = 0; i < 8; ++i) {
            force_ops({});
            const StepReport wanted = reference.trainer->train_step();
            force_ops(OpsForm::device);
            const auto off = [&](Bench& bench) { return std::abs(bench.trainer->train_step().loss / wanted.loss - 1); };
            QVERIFY(off(device) < 1e-4);
            QVERIFY(off(cached) < 1e-4);
            QVERIFY(off(half) < 5e-2);
        }
        for (const NamedTensor& t : half.model->named_tensors()) QCOMPARE(t.tensor.scalar_type(), at::kFloat);
    }

    void the_form_of_accelerators_drops_the_same_elements_when_a_pass_is_taken_again() {
        NEED_SHARED();
        const InForm in_form(OpsForm::device);
        TrainingSettings settings = small();
        settings.dropout = 0.2;
        settings.gradient_cache_chunk = 5;  // two passes of each chunk
        Bench one(settings), other(settings);
        for (int i = 0; i < 4; ++i) {
            const StepReport a = one.trainer->train_step();
            at::rand({3});  // what else was drawn meanwhile does not matter
            const StepReport b = other.trainer->train_step();
            QCOMPARE(a.loss, b.loss);
            QCOMPARE(a.grad_norm, b.grad_norm);
        }
    }

    void masked_items_give_no_loss_with_and_without_the_gradient_cache() {
        NEED_SHARED();
        TrainingSettings cached = small();
        cached.gradient_cache_chunk = 5;
        Bench unmasked(small()), plain(small(), true), chunks(cached, true);
        const double all = unmasked.trainer->train_step().loss, kept = plain.trainer->train_step().loss,
                     in_chunks = chunks.trainer->train_step().loss;
        QVERIFY(std::abs(all - kept) > 1e-4);
        QVERIFY(std::abs(kept - in_chunks) < 1e-4);
        // The same batch through the objective: the mean over the kept rows, all documents in the denominator.
        Bench fresh(small());
        const BatchPlan plan = fresh.curriculum->next();
        const PairBatch batch = fresh.batcher.build(plan.items, plan.temperature);
        PairEmbeddings rows;
        {
            const at::NoGradGuard no_grad;
            rows = batch.assemble(fresh.model->embed(*fresh.model->encoders.front(), batch.tokens, {}));
        }
        double sum = 0;
        int count = 0;
        for (std::size_t i = 0; i < plan.items.size(); ++i) {
            PairEmbeddings one = rows;
            one.keep.assign(plan.items.size(), 0);
            one.keep[i] = 1;
            if (i % 3 != 0) sum += fresh.objective(one).loss.item<double>(), ++count;
        }
        TrainingSettings quiet = small();
        quiet.dropout = 0;
        QVERIFY(std::abs(Bench(quiet, true).trainer->train_step().loss - sum / count) < 1e-4);
    }

    void an_epoch_has_the_steps_that_its_curriculum_plans() {
        NEED_SHARED();
        TrainingSettings settings = small();
        settings.steps = 0;
        settings.epochs = 3;
        QCOMPARE(Bench(settings).trainer->total_steps(), std::int64_t{15});  // 60 examples in batches of 12
        QCOMPARE(Bench(settings, true).trainer->total_steps(), std::int64_t{21});
        settings.accumulate = 4;
        QCOMPARE(Bench(settings, true).trainer->total_steps(), std::int64_t{6});  // the last one is short: nothing is left out
    }

    void the_last_step_takes_what_is_left_of_the_planned_epochs() {
        NEED_SHARED();
        TrainingSettings settings = small();
        settings.steps = 0;
        settings.epochs = 3;
        settings.accumulate = 4;
        Bench bench(settings, true);
        std::vector<StepReport> reports;
        TrainerEvents events;
        events.step = [&](const StepReport& report) { reports.push_back(report); };
        QVERIFY(bench.trainer->run(events) == TrainOutcome::finished);
        QCOMPARE(reports.size(), std::size_t{6});
        for (std::size_t i = 0; i < 5; ++i) QCOMPARE(reports[i].pairs, std::int64_t{4 * 12});
        QCOMPARE(reports.back().pairs, std::int64_t{12});                   // the last of 21 batches
        QCOMPARE(reports.back().temperature, reports.front().temperature);  // means are over it alone
    }

    void products_are_rounded_to_bf16_only_while_asked_for() {
        const at::Tensor x = at::randn({512, 384}), w = at::randn({384, 384}), exact = product(x, w);
        {
            const Bf16Products products(true);
            QVERIFY(max_difference(product(x, w), exact) < 0.02 * exact.abs().max().item<double>());
        }
        QVERIFY(at::equal(product(x, w), exact));
    }

    void bf16_rounds_products_and_keeps_float32_weights() {
        NEED_SHARED();
        TrainingSettings settings = small();
        settings.bf16 = true;
        Bench half(settings), full(small());
        const double a = half.trainer->train_step().loss, b = full.trainer->train_step().loss;
        QVERIFY2(std::abs(a - b) < 0.05 * b, (std::to_string(a) + " " + std::to_string(b)).c_str());
        QCOMPARE(half.model->encoders.front()->dtype(), at::kFloat);
        // The second step starts from weights that moved alike: by far less than bf16 can hold, had they been kept in it.
        const double c = half.trainer->train_step().loss, d = full.trainer->train_step().loss;
        QVERIFY2(std::abs(c - d) < 0.05 * d, (std::to_string(c) + " " + std::to_string(d)).c_str());
        const at::Tensor weight = half.model->encoders.front()->blocks()[0].experts[0].up;
        QVERIFY(max_difference(weight, weight.to(at::kBFloat16)) > 0);
    }

    void a_restored_trainer_goes_on_bit_for_bit() {
        NEED_SHARED();
        TemporaryDirectory folder;
        const CheckpointStore store(folder.path(), 2);
        TrainingSettings settings = small();
        settings.checkpoint_every_steps = 3;
        Bench whole(settings), part(settings), resumed(settings);
        whole.trainer->run({});
        TrainerEvents events;
        events.checkpoint = [&](const CheckpointState& state, const std::vector<NamedTensor>& optimizer) {
            store.save(state, part.model->named_tensors(), optimizer);
        };
        events.should_stop = [&] { return part.trainer->step() == 5; };
        QVERIFY(part.trainer->run(events) == TrainOutcome::stopped);
        std::vector<std::string> warnings;
        const auto checkpoint = store.newest(warnings);
        QVERIFY(checkpoint && checkpoint->state.step == 5 && warnings.empty());
        resumed.model->load_weights(Weights(std::vector<fs::path>{checkpoint->model()}));
        resumed.trainer->restore(*checkpoint);
        QVERIFY(resumed.trainer->run({}) == TrainOutcome::finished);
        const auto x = whole.weights(), y = resumed.weights();
        for (std::size_t i = 0; i < x.size(); ++i) QVERIFY(at::equal(x[i], y[i]));
    }

    void an_adapter_stage_trains_the_adapter_alone() {
        NEED_SHARED();
        TrainingSettings settings = small();
        settings.steps = 40;
        settings.learning_rate = 1e-2;
        settings.dropout = 0;
        Bench bench(settings, false, gate_stage());
        std::vector<at::Tensor> base;
        for (const NamedTensor& t : bench.model->base_tensors()) base.push_back(t.tensor.clone());
        double first = 0, last = 0;
        TrainerEvents events;
        events.step = [&](const StepReport& report) {
            if (report.step <= 5) first += report.loss;
            if (report.step > 35) last += report.loss;
        };
        QVERIFY(bench.trainer->run(events) == TrainOutcome::finished);
        QVERIFY2(last < 0.9 * first, (std::to_string(first) + " " + std::to_string(last)).c_str());
        const auto after = bench.model->base_tensors();
        for (std::size_t i = 0; i < base.size(); ++i) QVERIFY2(at::equal(base[i], after[i].tensor), after[i].name.c_str());
        for (const Parameter& p : bench.model->encoders.front()->adapter_parameters(0)) QVERIFY(!p.tensor.requires_grad());
    }

    void frozen_documents_give_the_step_of_documents_embedded_anew() {
        NEED_SHARED();
        Bench frozen(small(), false, gate_stage()), anew(small(), false, gate_stage());
        const std::vector<ExampleReference> items{{0, 0}, {0, 5}, {0, 7}, {0, 2}};
        const ForwardContext plain;
        const PairBatch a = frozen.batcher.build(items, 0.05, {0, Path::none, true}),
                        b = anew.batcher.build(items, 0.05, {0, Path::none, false});
        const PairEmbeddings x = a.assemble(frozen.model->embed(*frozen.model->encoders.front(), a.tokens, plain)),
                             y = b.assemble(anew.model->embed(*anew.model->encoders.front(), b.tokens, plain));
        QVERIFY(max_difference(x.queries, y.queries) < 1e-5);
        QVERIFY(max_difference(x.documents, y.documents) < 1e-5);
        QVERIFY(x.negatives.defined() && max_difference(x.negatives, y.negatives) < 1e-5);
        QVERIFY(a.tokens.layout->num_sequences() == 4 && b.tokens.layout->num_sequences() > 8);
        UsedPaths gate;
        gate.add(Path::of_adapter(0));
        QVERIFY(a.used == gate);
    }

    /// They were refused, once the run had begun. One text is a negative here and a document there.
    void frozen_negatives_keep_their_own_instruction() {
        NEED_SHARED();
        TrainingSet set = some_pairs();
        give_instructions(set, {"find: ", "text: ", "no house but the lazy fox: "});
        set.negatives[set.examples[5].first_negative] = set.examples[0].positive;
        const auto model = EmbeddingModel::open(ModelFolder::open(shared_folder() / "fixtures/bert"));
        model->routes[{"retrieval", Role::query}] = {"find: ", 0, Path{}, false};
        const TemporaryDirectory cache;
        const PairBatcher batcher(*model, {&set}, cache.path(), 1);
        SingleProcess group;
        batcher.freeze_documents(*model, {}, false, group);
        batcher.freeze_documents(*model, {}, true, group);
        const std::vector<ExampleReference> items{{0, 0}, {0, 5}, {0, 7}, {0, 2}};
        const auto rows = [&](bool frozen) {
            const PairBatch batch = batcher.build(items, 0.05, {std::nullopt, std::nullopt, frozen});
            return batch.assemble(model->embed(*model->encoders.front(), batch.tokens, ForwardContext{}));
        };
        const at::NoGradGuard no_grad;
        const PairEmbeddings x = rows(true), y = rows(false);
        QVERIFY(max_difference(x.documents, y.documents) < 1e-5);
        QVERIFY(x.negatives.defined() && max_difference(x.negatives, y.negatives) < 1e-5);
        QVERIFY(max_difference(x.negatives[0], x.documents[0]) > 1e-3);
    }

    void the_gradient_cache_gives_the_plain_step_of_an_adapter() {
        NEED_SHARED();
        TrainingSettings cached = small();
        cached.gradient_cache_chunk = 5;
        for (const bool documents_too : {false, true}) {
            Stage stage = gate_stage();
            stage.adapt_documents = documents_too;
            Bench a(small(), false, stage), b(cached, false, stage);
            for (int i = 0; i < 3; ++i) {
                const StepReport plain = a.trainer->train_step(), chunked = b.trainer->train_step();
                QVERIFY(std::abs(plain.loss - chunked.loss) < 1e-5 * plain.loss);
                QVERIFY(std::abs(plain.grad_norm - chunked.grad_norm) < 1e-4 * plain.grad_norm);
            }
        }
    }

    void an_adapter_keeps_the_weights_of_its_best_score_also_across_a_resume() {
        NEED_SHARED();
        TrainingSettings settings = small();
        settings.evaluate_every_steps = 1;
        const EarlyStopping early{true, 3, 0, true};
        const std::vector<double> scores{1, 5, 3, 4, 2, 9, 9, 9};
        const auto adapter = [](const Bench& bench) {
            std::vector<at::Tensor> all;
            for (const Parameter& p : bench.model->encoders.front()->adapter_parameters(0)) all.push_back(p.tensor.detach().clone());
            return all;
        };
        TemporaryDirectory folder;
        const CheckpointStore store(folder.path(), 2);
        std::vector<at::Tensor> best;
        Bench whole(settings, false, gate_stage(), early), resumed(settings, false, gate_stage(), early);
        TrainerEvents events;
        events.evaluate = [&](std::int64_t step) {
            if (step == 2) best = adapter(whole);
            return scores[static_cast<std::size_t>(step) - 1];
        };
        events.checkpoint = [&](const CheckpointState& state, const std::vector<NamedTensor>& optimizer) {
            store.save(state, whole.model->named_tensors(), optimizer);
        };
        events.checkpoint_wanted = [&] { return whole.trainer->step() == 4; };
        QVERIFY(whole.trainer->run(events) == TrainOutcome::early_stopped);
        QCOMPARE(whole.trainer->step(), std::int64_t{5});
        const auto kept = adapter(whole);
        for (std::size_t i = 0; i < best.size(); ++i) QVERIFY(at::equal(kept[i], best[i]));
        std::vector<std::string> warnings;
        fs::remove_all(folder.path() / "stage-000-step-000000005");
        const auto checkpoint = store.newest(warnings);
        QVERIFY(checkpoint && checkpoint->state.step == 4);
        resumed.model->load_weights(Weights(std::vector<fs::path>{checkpoint->model()}));
        resumed.trainer->restore(*checkpoint);
        TrainerEvents rest;
        rest.evaluate = [&](std::int64_t step) { return scores[static_cast<std::size_t>(step) - 1]; };
        QVERIFY(resumed.trainer->run(rest) == TrainOutcome::early_stopped);
        const auto again = adapter(resumed);
        for (std::size_t i = 0; i < best.size(); ++i) QVERIFY(at::equal(again[i], best[i]));
    }

    void every_variant_keeps_the_weights_of_its_best_score_also_across_a_resume() {
        NEED_SHARED();
        TrainingSettings settings = small();
        settings.evaluate_every_steps = 1;
        const EarlyStopping early{true, 3, 0, true};
        const std::vector<double> scores{1, 5, 3, 4, 2, 9, 9, 9};
        TemporaryDirectory folder;
        const CheckpointStore store(folder.path(), 2);
        std::vector<at::Tensor> best;
        Bench whole(settings, false, {}, early), resumed(settings, false, {}, early);
        TrainerEvents events;
        events.evaluate = [&](std::int64_t step) {
            if (step == 2) best = whole.weights();
            return scores[static_cast<std::size_t>(step) - 1];
        };
        events.checkpoint = [&](const CheckpointState& state, const std::vector<NamedTensor>& optimizer) {
            store.save(state, whole.model->named_tensors(), optimizer);
        };
        events.checkpoint_wanted = [&] { return whole.trainer->step() == 4; };
        QVERIFY(whole.trainer->run(events) == TrainOutcome::early_stopped);
        const auto kept = whole.weights();
        for (std::size_t i = 0; i < best.size(); ++i) QVERIFY(at::equal(kept[i], best[i]));
        QCOMPARE(whole.trainer->kept_step(), std::int64_t{2});
        fs::remove_all(folder.path() / "stage-000-step-000000005");
        std::vector<std::string> warnings;
        const auto checkpoint = store.newest(warnings);
        QVERIFY(checkpoint && checkpoint->state.step == 4);
        resumed.model->load_weights(Weights(std::vector<fs::path>{checkpoint->model()}));
        resumed.trainer->restore(*checkpoint);
        TrainerEvents rest;
        rest.evaluate = [&](std::int64_t step) { return scores[static_cast<std::size_t>(step) - 1]; };
        QVERIFY(resumed.trainer->run(rest) == TrainOutcome::early_stopped);
        const auto again = resumed.weights();
        for (std::size_t i = 0; i < best.size(); ++i) QVERIFY(at::equal(again[i], best[i]));
    }

    /// As transformers' early stopping has it: a gain too small to go on for is kept all the same.
    void the_best_score_is_kept_whatever_a_gain_must_be_also_across_a_resume() {
        NEED_SHARED();
        TrainingSettings settings = small();
        settings.evaluate_every_steps = 1;
        const EarlyStopping early{true, 3, 2, true};  // a gain is of more than 2
        const std::vector<double> scores{20, 21, 21.5, 19, 30, 30, 30, 30};
        const auto events_of = [&] {
            TrainerEvents events;
            events.evaluate = [&](std::int64_t step) { return scores[static_cast<std::size_t>(step) - 1]; };
            return events;
        };
        Bench whole(settings, false, {}, early), resumed(settings, false, {}, early);
        TemporaryDirectory folder;
        const CheckpointStore store(folder.path(), 2);
        TrainerEvents events = events_of();
        events.checkpoint = [&](const CheckpointState& state, const std::vector<NamedTensor>& optimizer) {
            store.save(state, whole.model->named_tensors(), optimizer);
        };
        events.checkpoint_wanted = [&] { return whole.trainer->step() == 2; };
        QVERIFY(whole.trainer->run(events) == TrainOutcome::early_stopped);
        QCOMPARE(whole.trainer->step(), std::int64_t{4});  // three evaluations without a gain
        QCOMPARE(whole.trainer->kept_step(), std::int64_t{3});
        fs::remove_all(folder.path() / "stage-000-step-000000004");
        std::vector<std::string> warnings;
        const auto checkpoint = store.newest(warnings);
        QVERIFY(checkpoint && checkpoint->state.step == 2);
        resumed.model->load_weights(Weights(std::vector<fs::path>{checkpoint->model()}));
        resumed.trainer->restore(*checkpoint);
        QVERIFY(resumed.trainer->run(events_of()) == TrainOutcome::early_stopped);
        QCOMPARE(resumed.trainer->step(), std::int64_t{4});
        QCOMPARE(resumed.trainer->kept_step(), std::int64_t{3});
    }

    /// The weights after the last evaluation were left for older ones unseen, and rounding was a better score.
    void the_last_step_is_judged_as_well_and_rounding_is_no_better_score() {
        NEED_SHARED();
        TrainingSettings settings = small();
        settings.steps = 7;
        settings.evaluate_every_steps = 3;
        Bench bench(settings, false, {}, {true, 9, 0, true});
        std::vector<std::int64_t> judged;
        TrainerEvents events;
        events.evaluate = [&](std::int64_t step) {
            judged.push_back(step);
            return step == 3 ? 20.333333333333332 : step == 6 ? 20.333333333333336 : 30.0;
        };
        QVERIFY(bench.trainer->run(events) == TrainOutcome::finished);
        QCOMPARE(judged, (std::vector<std::int64_t>{3, 6, 7}));
        QCOMPARE(bench.trainer->kept_step(), std::int64_t{7});
        Bench rounded(settings, false, {}, {true, 9, 0, true});
        events.evaluate = [](std::int64_t step) { return step == 3 ? 20.333333333333332 : 20.333333333333336; };
        QVERIFY(rounded.trainer->run(events) == TrainOutcome::finished);
        QCOMPARE(rounded.trainer->kept_step(), std::int64_t{3});
    }

    void bf16_products_train_an_adapter_alike() {
        NEED_SHARED();
        TrainingSettings settings = small();
        settings.bf16 = true;
        Bench half(settings, false, gate_stage()), full(small(), false, gate_stage());
        for (int i = 0; i < 2; ++i) {
            const double a = half.trainer->train_step().loss, b = full.trainer->train_step().loss;
            QVERIFY2(std::abs(a - b) < 0.05 * b, (std::to_string(a) + " " + std::to_string(b)).c_str());
        }
    }

    void a_damaged_checkpoint_is_passed_over_and_named() {
        NEED_SHARED();
        TemporaryDirectory folder;
        const CheckpointStore store(folder.path(), 3);
        Bench bench(small());
        bench.trainer->train_step();
        for (const std::int64_t step : {1, 2})
            store.save({0, step, {{"x", 1}}}, bench.model->named_tensors(), bench.trainer->optimizer().state());
        const fs::path newest = folder.path() / "stage-000-step-000000002";
        {
            std::fstream file(newest / "model.safetensors", std::ios::in | std::ios::out | std::ios::binary);
            file.seekp(5000);
            file.put('x');
        }
        std::vector<std::string> warnings;
        const auto found = store.newest(warnings);
        QVERIFY(found && found->state.step == 1);
        QVERIFY(warnings.size() == 1 && warnings[0].find("model.safetensors has another content") != std::string::npos);
    }

    void a_full_disk_while_saving_names_the_path_and_leaves_the_older_checkpoint() {
        NEED_SHARED();
        TemporaryDirectory folder;
        const CheckpointStore store(folder.path(), 1);
        Bench bench(small());
        store.save({0, 1, {{"x", 1}}}, bench.model->named_tensors(), bench.trainer->optimizer().state());
        for (int fail_at = 0; fail_at < 12; ++fail_at) {
            int count = 0;
            set_file_fault_hook([&](FileOperation, const fs::path&) { return count++ == fail_at ? ENOSPC : 0; });
            EXPECT_ERROR(store.save({0, 2, {{"x", 1}}}, bench.model->named_tensors(), bench.trainer->optimizer().state()),
                         std::string("No space left"), folder.path().string());
            set_file_fault_hook({});
            std::vector<std::string> warnings;
            const auto found = store.newest(warnings);
            QVERIFY(found && found->state.step == 1 && warnings.empty());
        }
    }
};

FACETER_TEST(TestTrainer)
#include "test_trainer.moc"
