#include "common/error.h"
#include "eval/embedder.h"
#include "model/accelerator.h"
#include "model/shape_device.h"
#include "train/memory_forecast.h"
#include "training.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

const c10::Device there = pretend::device();

TrainingSettings settings_of(bool bf16, bool recomputed, std::int64_t chunk) {
    TrainingSettings settings = exact_settings();
    settings.batch_size = 20;
    settings.dropout = 0.1;
    settings.bf16 = bf16;
    settings.activation_checkpointing = recomputed;
    settings.gradient_cache_chunk = chunk;
    return settings;
}

struct Way {
    bool bf16, recomputed;
    std::int64_t chunk;
};
/// All of them for BERT's first method; of others each has one, so that a start model sees four kinds. FACETER_ALL_WAYS: all of all.
std::vector<Way> ways_of(const std::string& fixture, int method) {
    std::vector<Way> ways;
    for (const std::int64_t chunk : {0, 5})
        for (const bool bf16 : {false, true})
            for (const bool recomputed : {false, true}) ways.push_back({bf16, recomputed, chunk});
    if ((fixture == "bert" && method == 0) || !qEnvironmentVariableIsEmpty("FACETER_ALL_WAYS")) return ways;
    return {ways[static_cast<std::size_t>(method) % 4]};
}

/// The most bytes of a first step on the pretend device.
std::uint64_t measured(const Method& method, const TrainingSettings& settings, const std::string& fixture) {
    const std::uint64_t before = device_memory(there).held;
    TrainingBench bench(method, settings, there, at::kFloat, nullptr, fixture);
    pretend::reset_counts();
    bench.steps(1);
    return device_memory(there).most - before;
}

MemoryForecast forecast(const Method& method, const TrainingSettings& settings, const std::string& fixture, int processes = 1) {
    TrainingBench bench(method, settings, c10::kCPU, at::kFloat, nullptr, fixture);
    const auto objective = [&](const EmbeddingModel& shapes) { return TrainingBench::objective_of(method, shapes); };
    return forecast_memory(*bench.model, {bench.stage, *bench.batcher, settings, objective, processes}, bench.curriculum->next());
}

/// One and the same batch.
struct Again final : Curriculum {
    explicit Again(BatchPlan p) : plan(std::move(p)) {}
    BatchPlan next() override { return plan; }
    std::int64_t num_examples() const override { return static_cast<std::int64_t>(plan.items.size()); }
    Json state() const override { return Json::object(); }
    void restore(const Json&) override {}
    BatchPlan plan;
};

double weights_of(const std::string& fixture) {
    const ShapeDevice device;
    const auto shapes = shapes_of(*EmbeddingModel::open(ModelFolder::open(shared_folder() / "fixtures" / fixture)));
    return static_cast<double>(device.held());
}

}  // namespace

/// What training takes of a device, said before it begins, against what it takes of the pretend one.
class TestPretendMemory : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void a_forecast_is_within_a_twentieth_of_the_peak_data() {
        QTest::addColumn<QString>("fixture");
        QTest::addColumn<int>("method");
        for (const char* fixture : start_models)
            for (std::size_t m = 0; m < methods.size(); ++m)
                QTest::addRow("%s, %s", fixture, methods[m].name) << QString::fromUtf8(fixture) << static_cast<int>(m);
    }
    void a_forecast_is_within_a_twentieth_of_the_peak() {
        NEED_SHARED();
        QFETCH(QString, fixture);
        QFETCH(int, method);
        const Method& one = methods[static_cast<std::size_t>(method)];
        for (const auto& [bf16, recomputed, chunk] : ways_of(fixture.toStdString(), method)) {
            const TrainingSettings settings = settings_of(bf16, recomputed, chunk);
            MemoryForecast said;
            try {
                said = forecast(one, settings, fixture.toStdString());
            } catch (const Error& refused) {
                QSKIP(refused.what());
            }
            const double most = static_cast<double>(measured(one, settings, fixture.toStdString())),
                         fixed = static_cast<double>(said.weights + said.moments + said.gradients);
            const double off = static_cast<double>(said.most) / most - 1,
                         passing_off = static_cast<double>(said.passing()) / std::max(1.0, most - fixed) - 1;
            qInfo("%s, %s, %s%s, chunk %d: %.0f bytes, forecast %+.2f %%; beyond weights, moments and gradients %.0f, %+.2f %%",
                  qPrintable(fixture), one.name, bf16 ? "bfloat16" : "float32", recomputed ? ", recomputed" : "", static_cast<int>(chunk),
                  most, 100 * off, most - fixed, 100 * passing_off);
            QVERIFY(std::abs(off) < 0.05);
        }
    }

    /// It lies on the device beside the model, and embeds the batch's texts there.
    void a_guide_is_counted_with_its_weights_and_what_it_embeds_data() {
        QTest::addColumn<int>("method");
        QTest::addColumn<int>("chunk");
        for (std::size_t m = 0; m < guided_methods.size(); ++m)
            for (const int chunk : {0, 5}) QTest::addRow("%s, chunk %d", guided_methods[m].name, chunk) << static_cast<int>(m) << chunk;
    }
    void a_guide_is_counted_with_its_weights_and_what_it_embeds() {
        NEED_SHARED();
        QFETCH(int, method);
        QFETCH(int, chunk);
        const Method &one = guided_methods[static_cast<std::size_t>(method)], alone{"alone", one.variant, one.settings};
        for (const bool bf16 : {false, true}) {
            const TrainingSettings settings = settings_of(bf16, bf16, chunk);
            const MemoryForecast said = forecast(one, settings, "bert"), without = forecast(alone, settings, "bert");
            const double added = static_cast<double>(said.weights - without.weights) / weights_of(one.guide) - 1;
            QVERIFY2(std::abs(added) < 0.05, std::to_string(added).c_str());
            const double off = static_cast<double>(said.most) / static_cast<double>(measured(one, settings, "bert")) - 1;
            qInfo("%s, %s, chunk %d: forecast %+.2f %%", one.name, bf16 ? "bfloat16" : "float32", chunk, 100 * off);
            QVERIFY2(std::abs(off) < 0.05, std::to_string(off).c_str());
        }
    }

    /// Early stopping keeps the weights of the best score beside those that are trained.
    void the_best_weights_so_far_are_counted_where_they_are_kept() {
        NEED_SHARED();
        TrainingSettings settings = settings_of(false, false, 0);
        settings.steps = 3;
        settings.evaluate_every_steps = 1;
        const std::uint64_t before = device_memory(there).held;
        TrainingBench bench(methods[1], settings, there);
        bench.trainer.reset();
        Again same(bench.curriculum->next());
        EarlyStopping early;
        early.on = early.keep_best = true;
        Trainer trainer(*bench.model, bench.stage, 0, *bench.batcher, same, *bench.objective, settings, early, bench.alone);
        TrainerEvents events;
        events.evaluate = [](std::int64_t step) { return static_cast<double>(step); };
        pretend::reset_counts();
        QVERIFY(trainer.run(events) == TrainOutcome::finished);
        const double most = static_cast<double>(device_memory(there).most - before);
        const auto objective = [&](const EmbeddingModel& shapes) { return TrainingBench::objective_of(methods[1], shapes); };
        const auto off = [&](bool keeps_best) {
            const ForecastStage stage{bench.stage, *bench.batcher, settings, objective, 1, keeps_best};
            return static_cast<double>(forecast_memory(*bench.model, stage, same.plan).most) / most - 1;
        };
        qInfo("forecast %+.2f %%, without the best weights %+.2f %%", 100 * off(true), 100 * off(false));
        QVERIFY(std::abs(off(true)) < 0.05);
        QVERIFY(off(false) < off(true));
    }

    /// Texts that are the same stand for others of that length: where no data are read, all are.
    void a_guide_is_counted_as_if_no_text_came_twice() {
        NEED_SHARED();
        const auto shapes = shapes_of(*EmbeddingModel::open(ModelFolder::open(shared_folder() / "fixtures/bert")));
        const auto most_of = [&](std::size_t count) {
            const ShapeDevice device;
            const std::vector<std::string_view> texts(count, "one and the same text");
            const std::int64_t rows = embed_texts(*shapes, texts, Route{}).size(0);
            return rows == static_cast<std::int64_t>(count) ? device.most() : 0;
        };
        QVERIFY(most_of(1) > 0);
        QVERIFY(most_of(64) > 8 * most_of(1));
    }

    /// The search for the largest batch begins with one pair, whatever the number of processes.
    void a_batch_of_fewer_pairs_than_processes_has_a_forecast_data() {
        QTest::addColumn<int>("method");
        for (std::size_t m = 0; m < methods.size(); ++m) QTest::addRow("%s", methods[m].name) << static_cast<int>(m);
    }
    void a_batch_of_fewer_pairs_than_processes_has_a_forecast() {
        NEED_SHARED();
        QFETCH(int, method);
        const Method& one = methods[static_cast<std::size_t>(method)];
        for (const Sharding sharding : {Sharding::none, Sharding::zero2})
            for (const std::int64_t pairs : {1, 2, 3, 7}) {
                TrainingSettings settings = settings_of(false, false, 0);
                settings.batch_size = pairs;
                settings.sharding = sharding;
                const std::uint64_t alone = forecast(one, settings, "bert").most, shared = forecast(one, settings, "bert", 5).most;
                qInfo("%s, %d pairs: %llu bytes alone, %llu of five", one.name, static_cast<int>(pairs),
                      static_cast<unsigned long long>(alone), static_cast<unsigned long long>(shared));
                QVERIFY(shared > 0 && shared < 2 * alone);
            }
    }

    void the_largest_batch_is_the_last_that_fits() {
        std::vector<std::int64_t> asked;
        const auto bytes_of = [&](std::int64_t pairs) {
            asked.push_back(pairs);
            return static_cast<std::uint64_t>(1000 + 10 * pairs);
        };
        QCOMPARE(largest_batch(1375, 1 << 20, bytes_of), std::int64_t{37});
        QVERIFY(asked.size() < 15);
        QCOMPARE(largest_batch(1009, 1 << 20, bytes_of), std::int64_t{0});
        QCOMPARE(largest_batch(1 << 30, 50, bytes_of), std::int64_t{50});
    }

    /// It is found on shapes, and holds on the device: a step of it fits, one of eight pairs more does not.
    void a_device_of_that_size_takes_the_largest_batch_and_none_much_larger() {
        NEED_SHARED();
        const auto settings_for = [](std::int64_t pairs) {
            TrainingSettings settings = settings_of(false, false, 0);
            settings.batch_size = pairs;
            return settings;
        };
        const auto held_by = [&](std::int64_t pairs) { return forecast(methods[0], settings_for(pairs), "bert").most; };
        const std::uint64_t before = device_memory(there).held, size = held_by(12);
        const std::int64_t found = largest_batch(size, 14, held_by);
        QVERIFY(found >= 12);
        const auto fits = [&](std::int64_t pairs) {
            TrainingBench bench(methods[0], settings_for(pairs), there);
            pretend::limit_memory(before + size + size / 50);
            const auto back = qScopeGuard([] { pretend::limit_memory(~std::uint64_t{0}); });
            try {
                bench.steps(1);
                return true;
            } catch (const Error& error) {
                return error.code() != ExitCode::out_of_memory;
            }
        };
        QVERIFY(fits(found));
        QVERIFY(!fits(found + 8));
    }
};

FACETER_TEST(TestPretendMemory)
#include "test_pretend_memory.moc"
