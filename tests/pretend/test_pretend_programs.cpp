#include <sys/wait.h>

#include <QProcess>
#include <QRegularExpression>
#include <cmath>
#include <csignal>
#include <fstream>

#include "common/file.h"
#include "common/json.h"
#include "experiment/catalogue.h"
#include "experiment/experiment.h"
#include "launch/run_processes.h"
#include "record/journal.h"
#include "record/run_directory.h"
#include "support/checkout.h"
#include "support/test.h"
#include "two_hosts.h"
#include "worker/embedding_server.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

constexpr const char* experiment_text = R"(
tasks:
  facts: {type: retrieval, train: [{name: facts, source: file, path: facts.jsonl}]}
variants:
  V: {method: instruction}
evaluation: {baseline: false, datasets: [{path: sts, name: similar}]}
)";

constexpr const char* short_training = "{batch_size: 16, steps: 3, checkpoint_every_steps: 0, evaluate_every_steps: 2}";

/// More scored pairs than one rank would embed alone.
constexpr int scored_pairs = 60;

void write_data(const fs::path& folder) {
    std::ofstream facts(folder / "facts.jsonl");
    for (int i = 10; i < 60; ++i)
        facts << Json{{"query", "what is said of " + std::to_string(i)},
                      {"document", "it is said that " + std::to_string(i) + " is a number"}}
                     .dump()
              << "\n";
    fs::create_directories(folder / "sts");
    std::ofstream(folder / "sts/dataset.json") << R"({"name": "similar", "task": "sts"})";
    std::ofstream scores(folder / "sts/test.jsonl");
    for (int i = 0; i < scored_pairs; ++i)
        scores << Json{{"sentence1", "a cat of number " + std::to_string(i)},
                       {"sentence2", "the cat " + std::to_string(i * i % 47)},
                       {"score", i * 7 % 5}}
                      .dump()
               << "\n";
}

Experiment experiment_in(const fs::path& project, const std::string& fixture, const std::string& head,
                         const std::string& training = short_training) {
    const std::string text = "name: one\nthreads: 1\n" + head + "model: " + (shared_folder() / "fixtures" / fixture).string() +
                             experiment_text + "training: " + training + "\n";
    return Experiment::parse(text, project / "m.yaml", Catalogue::load({FACETER_BINARY_DIR "/lib/faceter/plugins"}));
}

RunDirectory run_in(const fs::path& project, const std::string& fixture, const std::string& head,
                    const std::string& training = short_training) {
    const Experiment experiment = experiment_in(project, fixture, head, training);
    return RunDirectory::create(project, experiment, experiment.runs().front(), false);
}

/// Whether a worker with pretend devices ends well with a run.
bool works(const RunDirectory& run, QByteArray& output) {
    QProcess worker;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert("LD_PRELOAD", FACETER_BINARY_DIR "/lib/libfaceter-pretend.so");
    worker.setProcessEnvironment(environment);
    worker.setProcessChannelMode(QProcess::MergedChannels);
    worker.start(FACETER_BINARY_DIR "/bin/faceter-worker", {"run", QString::fromStdString(run.folder().string())});
    const bool ended = worker.waitForFinished(hang_ms);
    output = worker.readAll();
    return ended && worker.exitCode() == 0;
}

/// What a worker's session with a pretend device says of an estimate; `bytes`: of the device, empty as many as it likes.
QByteArray estimated(const std::string& bytes = "") {
    const TemporaryDirectory project;
    write_data(project.path());
    const Json settings = experiment_in(project.path(), "bert", "").runs().front().settings;
    QProcess worker;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert("LD_PRELOAD", FACETER_BINARY_DIR "/lib/libfaceter-pretend.so");
    environment.insert("FACETER_PRETEND_SAYS", "1");
    if (!bytes.empty()) environment.insert("FACETER_PRETEND_BYTES", QString::fromStdString(bytes));
    worker.setProcessEnvironment(environment);
    worker.setProcessChannelMode(QProcess::MergedChannels);
    worker.start(FACETER_BINARY_DIR "/bin/faceter-worker", {"session"});
    const Json request = {{"id", 1}, {"method", "estimate"}, {"params", {{"settings", settings}, {"steps", 2}}}};
    worker.write((request.dump() + "\n").c_str());
    QByteArray output;
    while (!output.contains("\"result\"") && !output.contains("\"error\"") && worker.waitForReadyRead(hang_ms)) output += worker.readAll();
    worker.closeWriteChannel();
    worker.waitForFinished(hang_ms);
    return output;
}

/// The events of that type in the first rank's record of an attempt; none where there is no such record yet.
std::vector<Json> events_of(const RunDirectory& run, int attempt, const std::string& type) {
    std::vector<Json> found;
    if (!fs::exists(run.attempt_journal(attempt))) return found;
    for (const JournalEvent& event : read_journal(run.attempt_journal(attempt)).events)
        if (event.type == type) found.push_back(event.fields);
    return found;
}

/// Whether so many workers, each with a pretend device of its own, end well with a run.
bool work_together(const RunDirectory& run, int ranks, std::string& problem) {
    const QByteArray before = qgetenv("LD_PRELOAD");
    qputenv("LD_PRELOAD", FACETER_BINARY_DIR "/lib/libfaceter-pretend.so");
    RunProcesses processes(run, FACETER_BINARY_DIR "/bin/faceter-worker", ranks);
    before.isEmpty() ? qunsetenv("LD_PRELOAD") : qputenv("LD_PRELOAD", before);
    const auto over = [&] {
        int status = 0;
        for (pid_t child; (child = ::waitpid(-1, &status, WNOHANG)) > 0;) processes.ended(child, status);
        processes.end_stragglers();
        return processes.over();
    };
    const bool ended = QTest::qWaitFor(over, 5 * hang_ms);
    for (int rank = 0; rank < ranks; ++rank)
        if (const pid_t hung = processes.process(rank)) ::kill(hung, SIGKILL);
    problem = ended ? processes.exit().message : "they hang";
    return ended && processes.exit().code == 0;
}

/// The scores of a run, while it trained and at its end, and how they were computed.
struct Scored {
    std::vector<double> scores;
    std::string compute;
};
Scored scores_of(const RunDirectory& run) {
    Scored all;
    for (const JournalEvent& event : read_journal(run.attempt_journal(1)).events)
        if (event.type == "evaluation") all.scores.push_back(event.fields.at("scores").at("similar").get<double>());
    const Json result = parse_json(read_file(run.results() / "similar.json"), "result");
    all.scores.push_back(result.at("score").get<double>());
    all.compute = result.at("settings").value("compute", "");
    return all;
}

}  // namespace

/// The programs as they are, with the pretend devices in place of GPUs.
class TestPretendPrograms : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void the_script_for_gpus_runs_to_its_table() {
        NEED_SHARED();
        QProcess script;
        script.setProcessChannelMode(QProcess::MergedChannels);
        script.start("bash", {FACETER_SOURCE_DIR "/tests/bench/gpu.sh", "--build", FACETER_BINARY_DIR, "--pretend", "--model",
                              QString::fromStdString((shared_folder() / "fixtures/bert").string())});
        QVERIFY(script.waitForFinished(15 * hang_ms));
        const QByteArray output = script.readAll();
        QVERIFY2(script.exitCode() == 0, output);
        if (!qEnvironmentVariableIsEmpty("FACETER_PEERS"))
            for (const char* row : {"| peer: varlen train | 1 |", "| peer: st train | 1 |", "| peer: st embed, batch 128 | 1 |"})
                QVERIFY2(output.contains(row), output);
        QVERIFY2(output.contains("PASS   : TestGpu::steps_equal_those_of_the_processor(MoTE)"), output);
        for (const char* row : {"| train IC | 1 |", "| train IC | 2 |", "| train MoTE | 2 |", "| train TLR | 2 |", "| embed"})
            QVERIFY2(output.contains(row), output);
        QVERIFY2(!output.contains("| 0 |"), output);
    }

    void a_run_says_before_its_first_step_what_it_takes_of_the_device() {
        NEED_SHARED();
        const TemporaryDirectory project;
        write_data(project.path());
        const RunDirectory run = run_in(project.path(), "bert", "");
        QByteArray output;
        QVERIFY2(works(run, output), output);
        Json memory;
        bool before_first_step = true;
        for (const JournalEvent& event : read_journal(run.attempt_journal(1)).events) {
            before_first_step &= event.type != "step";
            if (event.type == "memory" && before_first_step) memory = event.fields;
        }
        QVERIFY2(memory.contains("bytes"), memory.dump().c_str());
        QCOMPARE(memory.at("pairs").get<int>(), 16);
        const auto bytes = [&](const char* name) { return memory.at(name).get<std::int64_t>(); };
        QCOMPARE(bytes("bytes_kept"), bytes("bytes"));
        QVERIFY(bytes("bytes") > bytes("weights") + bytes("moments") + bytes("gradients"));
        QVERIFY(memory.at("bytes").get<std::int64_t>() < memory.at("device_bytes").get<std::int64_t>());
        QCOMPARE(memory.at("largest_batch").get<int>(), 50);  // all there are
    }

    /// The workbench's worker lives on, and the run that is launched next wants the GPU for itself.
    void an_estimate_gives_back_what_it_took_of_the_device() {
        NEED_SHARED();
        const QByteArray output = estimated();
        QVERIFY2(output.contains("device_bytes"), output);  // of the pretend one
        QVERIFY2(output.contains("\"probed_steps\":2"), output);
        QVERIFY2(output.contains("pretend device: nothing is kept at hand"), output);
    }

    void an_estimate_of_what_does_not_fit_says_what_would() {
        NEED_SHARED();
        const QByteArray fits = estimated();
        const QRegularExpressionMatch bytes = QRegularExpression("\"bytes\":(\\d+)").match(QString::fromUtf8(fits));
        QVERIFY2(bytes.hasMatch(), fits);
        const QByteArray output = estimated(std::to_string(bytes.captured(1).toLongLong() * 9 / 10));
        QVERIFY2(output.contains("\"probed_steps\":0"), output);
        QVERIFY2(output.contains("\"largest_batch\"") && output.contains("lower training.batch_size"), output);
    }

    /// Its steps come in order, each before the scores of its weights, though their numbers are read late.
    void a_runs_own_scores_are_in_the_precision_of_its_steps_and_say_so() {
        NEED_SHARED();
        double score[2] = {};
        for (const bool bf16 : {false, true}) {
            const TemporaryDirectory project;
            write_data(project.path());
            const RunDirectory run = run_in(project.path(), "nomic_bert", bf16 ? "precision: bf16\n" : "");
            QByteArray output;
            QVERIFY2(works(run, output), output);
            std::string order;
            Json scored;
            for (const JournalEvent& event : read_journal(run.attempt_journal(1)).events) {
                if (event.type == "step") order += std::to_string(event.fields.at("step").get<int>());
                if (event.type == "evaluation") order += "e", scored = event.fields;
            }
            QCOMPARE(order, std::string("12e3"));
            const Json result = parse_json(read_file(run.results() / "similar.json"), "result");
            QCOMPARE(scored.value("compute", ""), std::string(bf16 ? "bf16" : ""));
            QCOMPARE(result.at("settings").value("compute", ""), std::string(bf16 ? "bf16" : ""));
            score[bf16] = result.at("score").get<double>();
        }
        qInfo("%.4f in float32, %.4f in bfloat16", score[0], score[1]);
        QVERIFY(std::abs(score[0] - score[1]) < 10);
    }

    /// A cable that is out tells nobody: each rank gives up by its time limit, names the other, and both go on from the last checkpoint.
    void two_hosts_lose_each_other_and_go_on() {
        NEED_SHARED();
        const TwoHosts hosts;
        if (!hosts.problem().isEmpty()) QSKIP(hosts.problem().constData());
        const TemporaryDirectory project;
        write_data(project.path());
        const RunDirectory run =
            run_in(project.path(), "bert", "", "{batch_size: 8, steps: 2000, checkpoint_every_steps: 1, rank_timeout_s: 30}");
        const auto start = [&](QProcess(&ranks)[2]) {
            for (const int rank : {0, 1})
                hosts.start(ranks[rank], rank, {{"LD_PRELOAD", FACETER_BINARY_DIR "/lib/libfaceter-pretend.so"}},
                            {FACETER_BINARY_DIR "/bin/faceter-worker", "run", QString::fromStdString(run.folder().string())});
        };
        QProcess first[2];
        start(first);
        QVERIFY2(QTest::qWaitFor([&] { return !events_of(run, 1, "checkpoint").empty(); }, hang_ms), first[0].readAll());
        hosts.connect(false);
        for (const int rank : {0, 1}) {
            QVERIFY(first[rank].waitForFinished(hang_ms));  // a store's call by itself would wait for a quarter of an hour
            const QByteArray output = first[rank].readAll(), other = "rank " + QByteArray::number(1 - rank) + " of 2";
            QVERIFY2(first[rank].exitCode() == 8 && output.contains(other), output);
        }
        hosts.connect(true);
        QProcess second[2];
        start(second);
        QVERIFY2(QTest::qWaitFor([&] { return !events_of(run, 2, "step").empty(); }, hang_ms), second[0].readAll());
        run.request("stop");
        for (QProcess& rank : second) QVERIFY2(rank.waitForFinished(hang_ms) && rank.exitCode() == 6, rank.readAll());
        const int went_on_from = events_of(run, 2, "attempt_started").front().at("from_step").get<int>();
        QVERIFY(went_on_from >= 1);
        QCOMPARE(events_of(run, 2, "step").front().at("step").get<int>(), went_on_from + 1);
    }

    /// Each embeds its share of the texts. Scores are percent.
    void two_devices_score_a_run_as_one_does() {
        NEED_SHARED();
        for (const bool bf16 : {false, true}) {
            Scored scored[2];
            for (const int ranks : {1, 2}) {
                const TemporaryDirectory project;
                write_data(project.path());
                const RunDirectory run = run_in(project.path(), "nomic_bert", bf16 ? "precision: bf16\n" : "");
                std::string problem;
                QVERIFY2(work_together(run, ranks, problem), problem.c_str());
                scored[ranks - 1] = scores_of(run);
            }
            QCOMPARE(scored[0].scores.size(), std::size_t{2});  // behind the second step, and of the final model
            QCOMPARE(scored[1].scores.size(), scored[0].scores.size());
            for (const Scored& one : scored) QCOMPARE(one.compute, std::string(bf16 ? "bf16" : ""));
            for (std::size_t i = 0; i < scored[0].scores.size(); ++i) {
                const double off = std::abs(scored[0].scores[i] - scored[1].scores[i]);
                qInfo("%s: %.4f and %.4f", bf16 ? "bfloat16" : "float32", scored[0].scores[i], scored[1].scores[i]);
                QVERIFY(off < (bf16 ? 5 : 0.2));
            }
        }
    }

    /// The weights take 6 MB of these 8, and all texts at once would take ten times what is left.
    void a_server_answers_in_parts_what_does_not_fit_in_a_devices_memory() {
        NEED_SHARED();
        const Json request = {{"input", std::vector<std::string>(400, "a cat sat on the mat and so on " + std::string(100, '!'))}};
        std::string answers[2];
        for (const bool small : {false, true}) {
            auto environment = QProcessEnvironment::systemEnvironment();
            environment.insert("LD_PRELOAD", FACETER_BINARY_DIR "/lib/libfaceter-pretend.so");
            if (small) environment.insert("FACETER_PRETEND_BYTES", "8388608");
            const Server server({"--device", "cuda"}, environment);
            const HttpAnswer answer = server.embeddings(request);
            QVERIFY2(answer.status == 200, answer.body.c_str());
            answers[small] = answer.body;
            QCOMPARE(server.metric("faceter_batches_total") > 4, small);
        }
        const Json whole = Json::parse(answers[0]), parts = Json::parse(answers[1]);
        for (const std::size_t text : {0, 399}) {
            const auto one = whole.at("data").at(text).at("embedding").get<std::vector<float>>();
            const auto other = parts.at("data").at(text).at("embedding").get<std::vector<float>>();
            for (std::size_t i = 0; i < one.size(); ++i) QVERIFY(std::abs(one[i] - other[i]) < 1e-5f);
        }
    }
};

FACETER_TEST(TestPretendPrograms)
#include "test_pretend_programs.moc"
