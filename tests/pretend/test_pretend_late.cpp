#include "common/error.h"
#include "watched.h"

using namespace faceter;
using namespace faceter::testing;

/// The numbers of a step are read while the next one is under way; nothing is made of weights whose step nobody has looked at.
class TestPretendLate : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void a_steps_numbers_are_read_while_the_next_is_under_way() {
        NEED_SHARED();
        WatchedRun far(six_steps(4), pretend::device()), here(six_steps(4), c10::kCPU);
        far.bench.trainer->run(far.events());
        here.bench.trainer->run(here.events());
        QCOMPARE(far.order, std::string("1late 2late 3late 4 saved4 5late 6 saved6 "));
        QCOMPARE(here.order, std::string("1 2 3 4 saved4 5 6 saved6 "));
        QVERIFY(largest_difference(far.numbers, here.numbers) < 1e-8);
        QVERIFY(largest_difference(far.bench.weights(), here.bench.weights()) < 1e-8);
        QCOMPARE(far.tokens, here.tokens);
    }

    /// Between a checkpoint and the next the host waits once a step, for the step before.
    void the_host_waits_once_a_step_for_the_one_before() {
        NEED_SHARED();
        WatchedRun far(six_steps(0), pretend::device());
        TrainerEvents events = far.events();
        const auto add = events.step;
        std::vector<std::int64_t> waits;
        events.step = [&](const StepReport& report) {
            add(report);
            waits.push_back(pretend::counts().waits);
        };
        pretend::reset_counts();
        far.bench.trainer->run(events);
        QCOMPARE(waits.size(), std::size_t{6});
        for (std::size_t i = 0; i < waits.size(); ++i) QCOMPARE(waits[i], static_cast<std::int64_t>(i + 1));
        for (const auto& [place, times] : pretend::waits_by_place())
            if (place.find("OnTheWay") != std::string::npos) QCOMPARE(times, std::int64_t{6});
    }

    /// No update is given behind it, and no checkpoint: the weights are those of the step before, whenever it is found.
    void a_gradient_that_is_not_finite_is_named_a_step_late_and_gets_into_no_weights_data() {
        QTest::addColumn<int>("broken");
        QTest::addColumn<int>("checkpoint_every");
        for (const int broken : {1, 3, 6})
            for (const int every : {0, 1, 2}) QTest::addRow("step %d, checkpoint every %d", broken, every) << broken << every;
    }
    void a_gradient_that_is_not_finite_is_named_a_step_late_and_gets_into_no_weights() {
        NEED_SHARED();
        QFETCH(int, broken);
        QFETCH(int, checkpoint_every);
        WatchedRun far(six_steps(checkpoint_every), pretend::device(), broken), here(six_steps(checkpoint_every), c10::kCPU, broken);
        const std::string message = far.error_of(far.events());
        QCOMPARE(message, here.error_of(here.events()));
        QVERIFY2(message.find("gradient is not finite at step " + std::to_string(broken) + " (task ") != std::string::npos,
                 message.c_str());
        QVERIFY2(message.find("the shared weights (") != std::string::npos && message.find("expert ") != std::string::npos,
                 message.c_str());
        QCOMPARE(far.numbers.size(), 3 * static_cast<std::size_t>(broken - 1));
        QCOMPARE(far.order.find("saved") == std::string::npos, here.order.find("saved") == std::string::npos);
        QVERIFY(largest_difference(far.bench.weights(), here.bench.weights()) < 1e-8);
        for (const at::Tensor& weights : far.bench.weights()) QVERIFY(at::isfinite(weights).all().item<bool>());
        if (checkpoint_every == 1 && broken > 1) QCOMPARE(largest_difference(far.bench.weights(), far.saved), 0.0);
    }

    /// A stop, a checkpoint that somebody asks for, an error: the last step before it is told as on the processor.
    void whatever_ends_a_step_leaves_none_before_it_untold_data() {
        QTest::addColumn<int>("stop");
        QTest::addColumn<int>("wanted");
        QTest::addColumn<int>("failing");
        QTest::addColumn<QString>("late");
        QTest::addRow("a stop") << 3 << 0 << 0 << "1late 2late 3 saved3 ";
        QTest::addRow("a stop behind the first step") << 1 << 0 << 0 << "1 saved1 ";
        QTest::addRow("a checkpoint that is asked for") << 0 << 2 << 0 << "1late 2 saved2 3late 4late 5late 6 saved6 ";
        QTest::addRow("an error") << 0 << 0 << 4 << "1late 2late 3late ";
        QTest::addRow("an error in the first step") << 0 << 0 << 1 << "";
    }
    void whatever_ends_a_step_leaves_none_before_it_untold() {
        NEED_SHARED();
        QFETCH(int, stop);
        QFETCH(int, wanted);
        QFETCH(int, failing);
        QFETCH(QString, late);
        WatchedRun far(six_steps(0), pretend::device()), here(six_steps(0), c10::kCPU);
        std::vector<std::string> errors;
        for (WatchedRun* run : {&far, &here}) {
            run->objective.failing_call = failing;
            TrainerEvents events = run->events();
            events.should_stop = [=] { return run->objective.calls == stop; };
            events.checkpoint_wanted = [=] { return run->objective.calls == wanted; };
            errors.push_back(run->error_of(events));
        }
        QCOMPARE(errors[0].empty(), failing == 0);
        QCOMPARE(errors[0], errors[1]);
        QCOMPARE(far.order, late.toStdString());
        QCOMPARE(here.order, late.remove("late").toStdString());
        QCOMPARE(far.numbers.size(), here.numbers.size());
        if (!far.numbers.empty()) QVERIFY(largest_difference(far.numbers, here.numbers) < 1e-8);
        QCOMPARE(far.tokens, here.tokens);
        QVERIFY(largest_difference(far.bench.weights(), here.bench.weights()) < 1e-8);
    }

    /// What is known of the step before comes first.
    void out_of_memory_comes_behind_the_numbers_of_the_step_before() {
        NEED_SHARED();
        WatchedRun far(six_steps(0), pretend::device());
        TrainerEvents events = far.events();
        const auto add = events.step;
        events.step = [&](const StepReport& report) {
            add(report);
            if (report.step == 2) pretend::fail_allocation(300);
        };
        EXPECT_ERROR(far.bench.trainer->run(events), "out of memory at step 4");
        QCOMPARE(far.order.substr(0, 12), std::string("1late 2late "));
        QVERIFY2(far.order.find("3") != std::string::npos, far.order.c_str());
        pretend::fail_allocation(0);
    }

    /// CUDA's libraries take memory beside PyTorch's, and say so in words of their own.
    void memory_that_a_library_lacks_ends_a_step_alike_data() {
        QTest::addColumn<QByteArray>("said");
        QTest::addRow("cuBLAS") << QByteArray("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`");
        QTest::addRow("the driver") << QByteArray("CUDA error: out of memory\nCompile with TORCH_USE_CUDA_DSA");
    }
    void memory_that_a_library_lacks_ends_a_step_alike() {
        NEED_SHARED();
        QFETCH(QByteArray, said);
        WatchedRun far(six_steps(0), pretend::device());
        far.objective.failing_call = 3;
        far.objective.shortage = said.constData();
        const QByteArray words = said.left(said.indexOf('\n'));
        EXPECT_ERROR(far.bench.trainer->run(far.events()), "out of memory at step 3, in a batch of at most 12 pairs",
                     "gradient_cache_chunk", words.constData());
        QCOMPARE(far.order, std::string("1late 2late "));
    }
};

FACETER_TEST(TestPretendLate)
#include "test_pretend_late.moc"
