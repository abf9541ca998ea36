#include <QProcess>
#include <atomic>
#include <fstream>
#include <future>

#include "checkpoint/hub_server.h"
#include "common/file.h"
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

    RunDirectory run_of_a_model_elsewhere() const {
        std::ofstream(project_.path() / "pairs.jsonl") << R"({"query": "a", "document": "b"})"
                                                       << "\n";
        const Experiment experiment = Experiment::parse(
            "name: early\nmodel: somebody/some-model\ntasks:\n  retrieval:\n    train: [{name: pairs, source: file, path: pairs.jsonl}]\n"
            "variants:\n  IC: {method: instruction}\ntraining: {batch_size: 8, steps: 30}\nevaluation: {baseline: false, datasets: []}\n",
            project_.path() / "early.yaml", Catalogue::load({FACETER_BINARY_DIR "/lib/faceter/plugins"}));
        return RunDirectory::create(project_.path(), experiment, experiment.runs().front(), false);
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
        const RunDirectory run = run_of_a_model_elsewhere();
        QProcess worker;
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        for (const auto& [name, value] : {std::pair("HF_ENDPOINT", hub.url()), std::pair("HF_HUB_OFFLINE", std::string("0")),
                                          std::pair("HF_TOKEN", std::string()), std::pair("HF_HUB_CACHE", project_.path().string())})
            environment.insert(name, QString::fromStdString(value));
        worker.setProcessEnvironment(environment);
        worker.setProcessChannelMode(QProcess::MergedChannels);
        worker.start(FACETER_BINARY_DIR "/bin/faceter-worker", {"run", QString::fromStdString(run.folder().string())});
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
};

FACETER_TEST(TestEarlyStop)
#include "test_early_stop.moc"
