#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "common/file.h"
#include "data/child_process.h"
#include "experiment/experiment.h"
#include "record/run_directory.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

ChildResult worker(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), FACETER_BINARY_DIR "/bin/faceter-worker");
    return run_child(arguments, std::chrono::seconds(200), 1 << 20);
}

}  // namespace

/// `faceter export` of a run of two steps on the tiny reference model.
class TestExportCommand : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;
    std::string run_;
    QByteArray peers_;

    std::string in(const std::string& name) const { return (folder_.path() / name).string(); }
    /// A Python that answers with `answer` in place of vectors.
    void fake_peers(const std::string& answer) const {
        std::ofstream(in("peers")) << "#!/bin/sh\nprintf '%s' '" << answer << "' > \"$4\"\n";
        fs::permissions(in("peers"), fs::perms::owner_all);
        qputenv("FACETER_PEERS", QByteArray::fromStdString(in("peers")));
    }
    bool nothing_is_left(const std::string& name) const {
        return !fs::exists(in(name)) &&
               std::none_of(fs::directory_iterator(folder_.path()), fs::directory_iterator(),
                            [&](const auto& entry) { return entry.path().filename().string().find(name) != std::string::npos; });
    }

  private Q_SLOTS:
    void initTestCase() {
        NEED_SHARED();
        peers_ = qgetenv("FACETER_PEERS");
        std::ofstream pairs(in("pairs.jsonl"));
        for (int i = 0; i < 16; ++i)
            pairs << Json{{"query", fmt::format("question {}", i)}, {"document", fmt::format("an answer to {}", i)}}.dump() << "\n";
        pairs.close();
        const Experiment experiment = Experiment::parse(
            "name: exported\nmodel: " + (shared_folder() / "fixtures/bert").string() +
                "\nthreads: 1\ntasks:\n  retrieval:\n    instructions: {query: \"search query: \", document: \"search document: \"}\n" +
                "    train: [{source: file, path: pairs.jsonl}]\nvariants: {IC: {method: instruction}}\n" +
                "training: {batch_size: 8, steps: 2}\nevaluation: {baseline: false, datasets: []}\n",
            folder_.path() / "e.yaml", Catalogue::load({FACETER_BINARY_DIR "/lib/faceter/plugins"}));
        const RunDirectory run = RunDirectory::create(folder_.path() / "project", experiment, experiment.runs().front(), false);
        run_ = run.folder().string();
        const ChildResult made = worker({"run", run_});
        QVERIFY2(made.exit_code == 0, made.last_lines.c_str());
    }
    void init() { qunsetenv("FACETER_PEERS"); }
    void cleanupTestCase() { peers_.isEmpty() ? qunsetenv("FACETER_PEERS") : qputenv("FACETER_PEERS", peers_); }

    void an_export_proves_itself_and_says_so_last() {
        const ChildResult result = worker({"export", run_, in("good")});
        QVERIFY2(result.exit_code == 0, result.last_lines.c_str());
        QVERIFY2(result.output.ends_with(" over 24 texts by faceter\n"
                                         "not verified by sentence-transformers: none found (name a Python with it by FACETER_PEERS)\n"),
                 result.output.c_str());
        const Json record = read_json(in("good") + "/faceter_export.json");
        QCOMPARE(record.at("source").at("run").get<std::string>(), fs::path(run_).filename().string());
        QCOMPARE(record.at("verified").at(0).at("texts").get<int>(), 24);
        write_file_atomic(in("texts.txt"), "a cat\n");
        QCOMPARE(worker({"embed", "--model", in("good"), "--task", "retrieval.query", "--output", in("v.npy"), in("texts.txt")}).exit_code,
                 0);
    }
    void an_onnx_export_has_both_forms_the_prompts_and_a_card() {
        const ChildResult result = worker({"export", run_, in("onnx"), "--to", "onnx", "--int8"});
        QVERIFY2(result.exit_code == 0, result.last_lines.c_str());
        QVERIFY2(result.output.find("over 12 texts by faceter\n") != std::string::npos, result.output.c_str());
        QVERIFY2(
            result.output.find("by faceter in int8\nnot verified by onnxruntime: none found (name a Python with it by FACETER_PEERS)\n") !=
                std::string::npos,
            result.output.c_str());
        QVERIFY(fs::exists(in("onnx") + "/onnx/model.onnx") && fs::exists(in("onnx") + "/onnx/model_qint8_avx512_vnni.onnx"));
        QVERIFY(!fs::exists(in("onnx") + "/model.safetensors"));
        QCOMPARE(read_json(in("onnx") + "/config_sentence_transformers.json").at("prompts").at("retrieval.query").get<std::string>(),
                 std::string("search query: "));
        const std::string card = read_file(in("onnx") + "/README.md");
        for (const char* said : {"## Training data\n\n- retrieval", "backend=\"onnx\"", "`retrieval.query`: `'search query: '`",
                                 "This run was not evaluated.", "Its folder does not name one", "verified: largest difference"})
            QVERIFY2(card.find(said) != std::string::npos, (std::string(said) + "\n" + card).c_str());
        QCOMPARE(worker({"export", run_, in("int8"), "--int8"}).exit_code, 2);
        QCOMPARE(worker({"export", run_, in("other"), "--to", "gguf"}).exit_code, 2);
    }
    void one_that_differs_elsewhere_fails_and_leaves_nothing() {
        Json vectors = Json::array();
        for (int part = 0; part < 2; ++part) vectors.push_back(std::vector<std::vector<float>>(12, std::vector<float>(48, 0.5f)));
        fake_peers(Json{{"version", "0.1"}, {"vectors", vectors}}.dump());
        const ChildResult result = worker({"export", run_, in("differs")});
        QCOMPARE(result.exit_code, 5);
        QVERIFY2(result.last_lines.find("by sentence-transformers 0.1") != std::string::npos, result.last_lines.c_str());
        QVERIFY(nothing_is_left("differs"));
        QVERIFY2(result.output.empty(), result.output.c_str());  // no folder is named that is not there
    }
    void one_that_another_program_cannot_answer_for_fails_and_leaves_nothing() {
        fake_peers(R"({"version": "0.1", "vectors": []})");
        const ChildResult result = worker({"export", run_, in("unanswered")});
        QCOMPARE(result.exit_code, 5);
        QVERIFY(nothing_is_left("unanswered"));
    }
    void what_is_no_folder_is_refused_at_once() {
        write_file_atomic(in("file"), "mine");
        for (const std::string& name : {in("file"), std::string()}) {
            const ChildResult result = worker({"export", run_, name, "--force"});
            QCOMPARE(result.exit_code, 2);
            QVERIFY2(result.last_lines.find("is no folder; name one that is to be written") != std::string::npos,
                     result.last_lines.c_str());
        }
        QCOMPARE(read_file(in("file")), std::string("mine"));
    }
    void a_folder_that_is_there_stays_as_it_was_where_the_export_fails() {
        make_directories(in("there"));
        write_file_atomic(in("there") + "/notes.txt", "mine");
        fake_peers(R"({"version": "0.1", "vectors": []})");
        QCOMPARE(worker({"export", run_, in("there"), "--force"}).exit_code, 5);
        QCOMPARE(std::distance(fs::directory_iterator(in("there")), fs::directory_iterator()), std::ptrdiff_t{1});
        qunsetenv("FACETER_PEERS");
        QCOMPARE(worker({"export", run_, in("there"), "--force"}).exit_code, 0);
        QCOMPARE(read_file(in("there") + "/notes.txt"), std::string("mine"));
        QVERIFY(fs::exists(in("there") + "/model.safetensors") && fs::exists(in("there") + "/1_Pooling/config.json"));
    }
};

FACETER_TEST(TestExportCommand)
#include "test_export_command.moc"
