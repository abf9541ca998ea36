#include <cmath>

#include "common/error.h"
#include "eval/embedder.h"
#include "model/accelerator.h"
#include "model/compute.h"
#include "plugin/teacher.h"
#include "support/ops_forms.h"
#include "training.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

const c10::Device there = pretend::device();

void every_method() {
    QTest::addColumn<int>("method");
    for (std::size_t m = 0; m < methods.size(); ++m) QTest::addRow("%s", methods[m].name) << static_cast<int>(m);
}

std::vector<std::string_view> some_texts(const TrainingBench& bench) {
    std::vector<std::string_view> texts;
    for (std::uint32_t i = 0; i < 40; ++i) texts.push_back(bench.sets[0].texts[bench.sets[0].examples[i].positive]);
    return texts;
}

std::string listed(const std::map<std::string, std::int64_t>& places) {
    std::string all;
    for (const auto& [place, times] : places) all += "\n  " + std::to_string(times) + "  " + place;
    return all;
}

}  // namespace

/// Steps of the real trainer on the pretend accelerator.
class TestPretendTraining : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    /// In float64: AdamW makes a whole step of a gradient that is nothing but rounding.
    void steps_equal_those_of_the_processor_data() { every_method(); }
    void steps_equal_those_of_the_processor() {
        NEED_SHARED();
        QFETCH(int, method);
        const Method& one = methods[static_cast<std::size_t>(method)];
        for (const std::int64_t chunk : {0, 5}) {
            TrainingSettings settings = exact_settings();
            settings.gradient_cache_chunk = chunk;
            settings.accumulate = 2;
            TrainingBench far(one, settings, there, at::kDouble);
            const auto losses = far.steps(4);
            const InForm in_form(OpsForm::device);
            TrainingBench here(one, settings, c10::kCPU, at::kDouble);
            const double of_losses = largest_difference(losses, here.steps(4)),
                         of_weights = largest_difference(far.weights(), here.weights());
            qInfo("%s, chunk %d: losses within %.2g, weights within %.2g", one.name, static_cast<int>(chunk), of_losses, of_weights);
            QVERIFY(of_losses < 1e-8);
            QVERIFY(of_weights < 1e-8);
        }
    }

    /// Dropout draws by pass: one that is taken again draws the same.
    void recomputed_blocks_train_as_kept_ones_do_data() { every_method(); }
    void recomputed_blocks_train_as_kept_ones_do() {
        NEED_SHARED();
        QFETCH(int, method);
        Method one = methods[static_cast<std::size_t>(method)];
        if (one.settings.contains("jitter")) one.settings["jitter"] = 0.05;
        for (const std::int64_t chunk : {0, 5}) {
            TrainingSettings settings = exact_settings();
            settings.dropout = 0.1;
            settings.gradient_cache_chunk = chunk;
            TrainingBench kept(one, settings, there, at::kDouble);
            const auto losses = kept.steps(3);
            settings.activation_checkpointing = true;
            TrainingBench again(one, settings, there, at::kDouble);
            QVERIFY(largest_difference(again.steps(3), losses) < 1e-8);
            QVERIFY(largest_difference(again.weights(), kept.weights()) < 1e-8);
        }
    }

    /// A step in bfloat16, as a GPU trains: the host waits once, and the tenth step holds what the third held.
    void a_step_waits_once_and_holds_no_more_than_the_one_before_data() { every_method(); }
    void a_step_waits_once_and_holds_no_more_than_the_one_before() {
        NEED_SHARED();
        QFETCH(int, method);
        const Method& one = methods[static_cast<std::size_t>(method)];
        for (const std::int64_t chunk : {0, 5})
            for (const bool bf16 : {true, false}) {
                TrainingSettings settings = exact_settings();
                settings.bf16 = bf16;
                settings.dropout = 0.1;
                settings.gradient_cache_chunk = chunk;
                TrainingBench bench(one, settings, there);
                bench.steps(3);
                const auto before = pretend::counts();
                pretend::reset_counts();
                bench.steps(7);
                const auto after = pretend::counts();
                qInfo("%s, %s, chunk %d: a step has %.1f waits, %.0f operators, %.0f allocations; %llu bytes held, %llu at most%s",
                      one.name, bf16 ? "bfloat16" : "float32", static_cast<int>(chunk), static_cast<double>(after.waits) / 7,
                      static_cast<double>(after.operators) / 7, static_cast<double>(after.allocations) / 7,
                      static_cast<unsigned long long>(after.held), static_cast<unsigned long long>(after.most),
                      listed(pretend::waits_by_place()).c_str());
                QCOMPARE(after.held, before.held);
                if (bf16) QVERIFY2(after.waits <= 7, listed(pretend::waits_by_place()).c_str());
            }
    }

    /// The kernel of grouped products is of an H100 and its like; elsewhere PyTorch's function would wait in each product, and here the
    /// host asks once a block.
    void experts_on_a_gpu_without_grouped_products_wait_once_a_block() {
        NEED_SHARED();
        const auto back = qScopeGuard([] { pretend::set_capability(90); });
        std::map<int, double> losses;
        std::map<int, std::int64_t> waits;
        std::int64_t routed = 0;
        for (const int capability : {90, 80, 89, 120}) {
            pretend::set_capability(capability);
            TrainingSettings settings = exact_settings();
            settings.bf16 = true;
            TrainingBench bench(methods[2], settings, there);
            routed = 0;
            for (const Block& block : bench.model->encoders.front()->blocks()) routed += block.routing ? 1 : 0;
            pretend::reset_counts();
            losses[capability] = bench.steps(1).front();
            waits[capability] = pretend::counts().waits;
            QCOMPARE(pretend::operators_by_name().contains("aten::_grouped_mm"), capability == 90);
        }
        QVERIFY(routed > 0);
        for (const int capability : {80, 89, 120}) {
            QCOMPARE(waits[capability], waits[90] + routed);
            QVERIFY(std::abs(losses[capability] - losses[90]) < 0.02 * std::abs(losses[90]));
        }
    }

    /// What a run scores while it trains.
    void a_lowered_model_embeds_over_texts_end_to_end_and_is_itself_again_afterwards() {
        NEED_SHARED();
        TrainingBench bench(methods[1], exact_settings(), there, at::kFloat, nullptr, "nomic_bert");  // heads of 8
        const auto texts = some_texts(bench);
        const Route route = bench.model->route("retrieval", Role::document);
        const at::Tensor wanted = embed_texts(*bench.model, texts, route);
        const auto before = bench.weights();
        const Encoder* own = bench.model->encoders.front().get();
        const std::uint64_t held = device_memory(there).held;
        {
            const LoweredEncoders lowered(*bench.model, true);
            QVERIFY(bench.model->computed.starts_with("bf16"));
            pretend::reset_counts();
            const at::Tensor got = embed_texts(*bench.model, texts, route);
            const auto operators = pretend::operators_by_name();
            QVERIFY2(operators.contains("aten::_flash_attention_forward") && !operators.contains("aten::index_copy"),
                     listed(operators).c_str());
            QCOMPARE(pretend::counts().waits, std::int64_t{1});
            const double nearest = (normalize_rows(got) * normalize_rows(wanted)).sum(1).min().item<double>();
            QVERIFY2(nearest > 0.999 && nearest < 0.9999999, std::to_string(nearest).c_str());
        }
        QCOMPARE(device_memory(there).held, held);
        QVERIFY(bench.model->encoders.front().get() == own && bench.model->computed.empty());
        QCOMPARE(largest_difference(bench.weights(), before), 0.0);
        bench.steps(1);
        const LoweredEncoders unwanted(*bench.model, false);
        QVERIFY(bench.model->encoders.front().get() == own);
    }

    /// Whatever it lacks memory for, of one encoder or of a second one.
    void a_model_that_cannot_be_lowered_is_itself() {
        NEED_SHARED();
        TrainingBench bench(methods[1], exact_settings(), there);
        bench.model->encoders.push_back(bench.model->encoders.front()->clone());
        const auto before = bench.weights();
        const std::vector<const Encoder*> own{bench.model->encoders[0].get(), bench.model->encoders[1].get()};
        const std::uint64_t held = device_memory(there).held;
        pretend::reset_counts();
        { const LoweredEncoders lowered(*bench.model, true); }
        const std::int64_t allocations = pretend::counts().allocations;
        QVERIFY(allocations > 20);
        for (std::int64_t n = 1; n <= allocations; n += 7) {
            pretend::fail_allocation(n);
            bool failed = false;
            try {
                const LoweredEncoders lowered(*bench.model, true);
            } catch (const c10::OutOfMemoryError&) {
                failed = true;
            }
            pretend::fail_allocation(0);
            QVERIFY(failed);
            QVERIFY(bench.model->computed.empty());
            QCOMPARE(bench.model->encoders.size(), own.size());
            for (std::size_t i = 0; i < own.size(); ++i) QVERIFY(bench.model->encoders[i].get() == own[i]);
            QCOMPARE(device_memory(there).held, held);
        }
        QCOMPARE(largest_difference(bench.weights(), before), 0.0);
    }

    /// In bfloat16 as the steps, over texts end to end, and with a wait a batch for the rows.
    void documents_that_stay_are_embedded_in_the_precision_of_the_steps() {
        NEED_SHARED();
        for (const bool bf16 : {true, false}) {
            TrainingSettings settings = exact_settings();
            settings.bf16 = bf16;
            pretend::reset_counts();
            const TrainingBench bench(methods[3], settings, there, at::kFloat, nullptr, "nomic_bert");  // heads of 8
            const auto operators = pretend::operators_by_name();
            QVERIFY2(operators.contains("aten::_flash_attention_forward") == bf16, listed(operators).c_str());
            QVERIFY2(operators.contains("aten::index_copy") != bf16, listed(operators).c_str());
        }
    }

    /// Wherever it strikes, the step ends with one sentence that says what to do, and leaves nothing behind.
    void out_of_memory_at_any_allocation_is_one_clear_error() {
        NEED_SHARED();
        const std::uint64_t held = device_memory(there).held;
        std::int64_t allocations = 0;
        {
            TrainingBench bench(methods[2], exact_settings(), there);
            bench.steps(2);
            pretend::reset_counts();
            bench.steps(1);
            allocations = pretend::counts().allocations;
        }
        QVERIFY(allocations > 100);
        for (std::int64_t n = 1; n < allocations; n += 37) {
            {
                TrainingBench bench(methods[2], exact_settings(), there);
                bench.steps(2);
                pretend::fail_allocation(n);
                try {
                    bench.steps(1);
                    QFAIL("no error");
                } catch (...) {
                    const auto [code, message] = describe_current_exception();
                    QVERIFY(code == ExitCode::out_of_memory);
                    for (const char* part : {"out of memory", "step 3", "gradient_cache_chunk", "activation_checkpointing"})
                        QVERIFY2(message.find(part) != std::string::npos, message.c_str());
                    QVERIFY2(message.find('\n') == std::string::npos, message.c_str());
                }
            }
            pretend::fail_allocation(0);
            QCOMPARE(device_memory(there).held, held);
        }
    }

    void products_in_bfloat16_give_vectors_near_those_in_float32() {
        NEED_SHARED();
        TrainingBench bench(methods[0], exact_settings(), there);
        const auto texts = some_texts(bench);
        const Route route = bench.model->route("retrieval", Role::document);
        const at::Tensor wanted = embed_texts(*bench.model, texts, route);
        const ComputeReport report = prepare_products(*bench.model, Compute::bf16, true);
        QVERIFY(bench.model->encoders.front()->dtype() == at::kBFloat16 && !bench.model->computed.empty());
        QVERIFY2(report.smallest_cosine > 0.999, std::to_string(report.smallest_cosine).c_str());
        const at::Tensor got = embed_texts(*bench.model, texts, route);
        const double nearest = (normalize_rows(got) * normalize_rows(wanted)).sum(1).min().item<double>();
        QVERIFY2(nearest > 0.999 && nearest < 0.9999999, std::to_string(nearest).c_str());
        EXPECT_ERROR(prepare_products(*bench.model, Compute::int8, true), "--device cpu", "bf16");
    }

    /// No text is filled up, and the host waits once a batch, for its rows.
    void embedding_in_bfloat16_goes_over_texts_end_to_end() {
        NEED_SHARED();
        TrainingBench bench(methods[0], exact_settings(), there, at::kFloat, nullptr, "nomic_bert");  // heads of 8
        prepare_products(*bench.model, Compute::bf16, true);
        pretend::reset_counts();
        embed_texts(*bench.model, some_texts(bench), bench.model->route("retrieval", Role::document));
        const auto operators = pretend::operators_by_name();
        QVERIFY2(operators.contains("aten::_flash_attention_forward") && !operators.contains("aten::index_copy"),
                 listed(operators).c_str());
        QCOMPARE(pretend::counts().waits, std::int64_t{1});
    }

    /// What training fits in beside may be too little for as many texts as are embedded at once: then they go in parts.
    void texts_that_do_not_fit_together_are_embedded_in_smaller_batches() {
        NEED_SHARED();
        TrainingBench bench(methods[0], exact_settings(), there);
        const auto texts = some_texts(bench);
        const Route route = bench.model->route("retrieval", Role::document);
        const std::uint64_t held = device_memory(there).held;
        pretend::reset_counts();
        const at::Tensor wanted = embed_texts(*bench.model, texts, route);
        const std::uint64_t taken = device_memory(there).most - held;
        const auto back = qScopeGuard([] { pretend::limit_memory(~std::uint64_t{0}); });
        pretend::limit_memory(held + taken / 3);
        EmbedOptions options;
        std::vector<std::size_t> done;
        options.progress = [&](std::size_t count) { done.push_back(count); };
        QVERIFY(max_difference(embed_texts(*bench.model, texts, route, options), wanted) < 1e-5);
        QVERIFY(done.size() > 2 && done.back() == texts.size());
        QCOMPARE(device_memory(there).held, held);
        pretend::limit_memory(held + 512);
        EXPECT_ERROR(embed_texts(*bench.model, texts, route), "out of memory in embedding a text of", "tokens by itself", "max_length");
        QCOMPARE(device_memory(there).held, held);
    }

    /// What filters, mines and distils.
    void a_teacher_judges_as_on_the_processor() {
        NEED_SHARED();
        const auto teacher_on = [](const c10::Device& device) {
            return std::make_unique<ModelTeacher>(EmbeddingModel::open(ModelFolder::open(shared_folder() / "fixtures/bert")), device,
                                                  nullptr);
        };
        const TrainingSet set = task_pairs("retrieval", 60);
        std::vector<std::string_view> texts;
        for (const Example& one : set.examples) texts.push_back(set.texts[one.positive]);
        const auto here = teacher_on(c10::kCPU), far = teacher_on(there);
        pretend::reset_counts();
        const at::Tensor got = far->of_task("").embed(texts, Role::document);
        QVERIFY(pretend::counts().operators > 0 && got.is_cpu());
        QVERIFY(max_difference(got, here->of_task("").embed(texts, Role::document)) < 1e-5);
        QCOMPARE(far->fingerprint(), here->fingerprint());
    }

    void texts_are_embedded_as_on_the_processor_with_a_wait_a_batch() {
        NEED_SHARED();
        TrainingBench bench(methods[0], exact_settings(), c10::kCPU);
        const auto texts = some_texts(bench);
        EmbedOptions options;
        options.tokens_per_batch = 100;
        const Route route = bench.model->route("retrieval", Role::document);
        const at::Tensor wanted = embed_texts(*bench.model, texts, route, options);
        bench.model->move_to(there);
        int batches = 0;
        options.progress = [&](std::size_t) { ++batches; };
        pretend::reset_counts();
        const at::Tensor got = embed_texts(*bench.model, texts, route, options);
        QVERIFY(batches > 3);
        QCOMPARE(pretend::counts().waits, std::int64_t{batches});
        QVERIFY(max_difference(got, wanted) < 1e-5);
    }
};

FACETER_TEST(TestPretendTraining)
#include "test_pretend_training.moc"
