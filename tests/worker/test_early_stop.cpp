#include <QProcess>
#include <atomic>
#include <fstream>
#include <future>
#include <map>

#include "checkpoint/hub_server.h"
#include "common/file.h"
#include "common/json.h"
#include "experiment/catalogue.h"
#include "experiment/experiment.h"
#include "launch/supervisor.h"
#include "record/state.h"
#include "support/checkout.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

/// A run whose worker is told to stop ahead of its first step.
class TestEarlyStop : public QObject {
    Q_OBJECT
    TemporaryDirectory project_;

    RunDirectory run_of(const std::string& model) const {
        std::ofstream pairs(project_.path() / "pairs.jsonl");
        for (int i = 0; i < 20; ++i) pairs << "{\"query\": \"number " << i << "\", \"document\": \"it is " << i << "\"}\n";
        pairs.close();
        const Experiment experiment = Experiment::parse(
            "name: early\nmodel: " + model +
                "\nmax_length: 32\nthreads: 1\ntasks:\n  retrieval:\n    train: [{name: pairs, source: file, path: pairs.jsonl}]\n"
                "variants:\n  IC: {method: instruction}\ntraining: {batch_size: 4, steps: 3}\nevaluation: {baseline: false, datasets: "
                "[]}\n",
            project_.path() / "early.yaml", Catalogue::load({FACETER_BINARY_DIR "/lib/faceter/plugins"}));
        return RunDirectory::create(project_.path(), experiment, experiment.runs().front(), false);
    }
    static void start(QProcess& worker, const RunDirectory& run, const std::map<QString, std::string>& variables) {
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        for (const auto& [name, value] : variables) environment.insert(name, QString::fromStdString(value));
        worker.setProcessEnvironment(environment);
        worker.setProcessChannelMode(QProcess::MergedChannels);
        worker.start(FACETER_BINARY_DIR "/bin/faceter-worker", {"run", QString::fromStdString(run.folder().string())});
    }

  private Q_SLOTS:
    void a_stop_while_the_model_is_fetched_is_no_failure() {
        std::atomic<bool> asked = false;
        std::promise<void> over;
        HttpServer hub([&asked, waits = over.get_future().share()](const ServerRequest&) {
            asked = true;
            waits.wait();
            return ServerAnswer{};
        });
        const auto let_go = qScopeGuard([&over] { over.set_value(); });
        const RunDirectory run = run_of("somebody/some-model");
        QProcess worker;
        start(worker, run,
              {{"HF_ENDPOINT", hub.url()}, {"HF_HUB_OFFLINE", "0"}, {"HF_TOKEN", ""}, {"HF_HUB_CACHE", project_.path().string()}});
        QTRY_VERIFY(asked || worker.state() == QProcess::NotRunning);
        worker.terminate();
        QVERIFY(worker.waitForFinished(hang_ms));
        QVERIFY2(worker.exitCode() == 6, worker.readAll());
        const RunState state = read_state(run);
        QCOMPARE(state.phase, RunPhase::stopped);
        QCOMPARE(state.exit_code, 6);
        QVERIFY2(state.cause.starts_with("stopped while fetching a model"), state.cause.c_str());
        prepare_resume({run});
    }

    void data_that_changed_since_the_run_stopped_are_said() {
        NEED_SHARED();
        const RunDirectory run = run_of((shared_folder() / "fixtures/bert").string());
        const auto warnings_of = [&](int attempt) {
            run.request("stop");
            QProcess worker;
            start(worker, run, {{"FACETER_ATTEMPT", std::to_string(attempt)}});
            [&] { QVERIFY(worker.waitForFinished(hang_ms)); }();
            std::string all;
            for (const JournalEvent& event : read_journal(run.attempt_journal(attempt)).events)
                if (event.type == "warning") all += event.fields.at("message").get<std::string>();
            return all;
        };
        for (const int attempt : {1, 2}) QVERIFY(warnings_of(attempt).find("are not those") == std::string::npos);
        std::ofstream(project_.path() / "pairs.jsonl", std::ios::app) << "{\"query\": \"another\", \"document\": \"pair\"}\n";
        const std::string warned = warnings_of(3);
        QVERIFY2(warned.find("training data 'pairs' (retrieval) are not those that attempt 2 read") != std::string::npos, warned.c_str());
        QCOMPARE(read_state(run).step, std::int64_t{3});
    }

    /// Its weights come from the checkpoint, but its texts went through another tokenizer and pooling from there on without a word.
    void a_start_model_that_changed_since_the_run_stopped_is_said() {
        NEED_SHARED();
        const fs::path model = project_.path() / "model", pooling = model / "1_Pooling/config.json";
        fs::copy(shared_folder() / "fixtures/bert", model, fs::copy_options::recursive);
        for (const fs::path& folder : {model, pooling.parent_path()})
            fs::permissions(folder, fs::perms::owner_write, fs::perm_options::add);
        const RunDirectory run = run_of(model.string());
        const auto warnings_of = [&](int attempt) {
            run.request("stop");
            QProcess worker;
            start(worker, run, {{"FACETER_ATTEMPT", std::to_string(attempt)}});
            [&] { QVERIFY(worker.waitForFinished(hang_ms)); }();
            std::string all;
            for (const JournalEvent& event : read_journal(run.attempt_journal(attempt)).events)
                if (event.type == "warning") all += event.fields.at("message").get<std::string>();
            return all;
        };
        for (const int attempt : {1, 2}) QVERIFY(warnings_of(attempt).find("start model") == std::string::npos);
        Json other = read_json(pooling);
        other["pooling_mode_mean_tokens"] = false;
        other["pooling_mode_cls_token"] = true;
        fs::remove(pooling);
        write_file_atomic(pooling, other.dump());
        const std::string warned = warnings_of(3);
        QVERIFY2(warned.find("the start model is not the one that attempt 2 read") != std::string::npos, warned.c_str());
        QCOMPARE(read_state(run).step, std::int64_t{3});
    }

    /// Whoever starts an attempt clears what earlier ones were asked for.
    void a_stop_that_comes_between_the_start_of_an_attempt_and_its_first_word_counts() {
        NEED_SHARED();
        const RunDirectory run = run_of((shared_folder() / "fixtures/bert").string());
        run.request("stop");
        QProcess handed, by_hand;
        start(handed, run, {{"FACETER_ATTEMPT", "1"}});
        QVERIFY(handed.waitForFinished(hang_ms));
        QVERIFY2(handed.exitCode() == 6, handed.readAll());
        const RunState state = read_state(run);
        QCOMPARE(state.phase, RunPhase::stopped);
        QCOMPARE(state.step, std::int64_t{1});
        start(by_hand, run, {});
        QVERIFY(by_hand.waitForFinished(hang_ms));
        QVERIFY2(by_hand.exitCode() == 0, by_hand.readAll());
        QCOMPARE(read_state(run).phase, RunPhase::done);
        QCOMPARE(read_state(run).step, std::int64_t{3});
    }
};

FACETER_TEST(TestEarlyStop)
#include "test_early_stop.moc"
