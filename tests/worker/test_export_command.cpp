#include <fmt/format.h>
#include <sys/stat.h>

#include <QStandardPaths>
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <regex>

#include "common/file.h"
#include "data/child_process.h"
#include "experiment/experiment.h"
#include "record/run_directory.h"
#include "support/checkout.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

ChildResult worker(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), FACETER_BINARY_DIR "/bin/faceter-worker");
    return run_child(arguments, std::chrono::seconds(200), 1 << 20);
}

}  // namespace

/// `faceter export` of runs of two steps on the tiny reference model: one dense, one with an adapter.
class TestExportCommand : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;
    std::string run_, adapters_;
    QByteArray peers_;

    std::string in(const std::string& name) const { return (folder_.path() / name).string(); }
    /// A Python that answers with `answer` in place of vectors.
    void fake_peers(const std::string& answer) const {
        std::ofstream(in("peers")) << "#!/bin/sh\nprintf '%s' '" << answer << "' > \"$4\"\n";
        fs::permissions(in("peers"), fs::perms::owner_all);
        qputenv("FACETER_PEERS", QByteArray::fromStdString(in("peers")));
    }
    /// A Python that knows what lies in `packages` and nothing else.
    void bare_peers(const std::string& packages = "") const {
        std::ofstream(in("bare")) << "#!/bin/sh\nPYTHONPATH='" << packages << "' exec python3 -S \"$@\"\n";
        fs::permissions(in("bare"), fs::perms::owner_all);
        qputenv("FACETER_PEERS", QByteArray::fromStdString(in("bare")));
    }
    /// A finished run of two steps of each variant.
    std::vector<RunDirectory> trained(const std::string& model, const std::string& variants) const {
        const Experiment experiment =
            Experiment::parse("name: exported\nmodel: " + model +
                                  "\nmax_length: 48\nthreads: 1\ntasks:\n  retrieval:\n    instructions: {query: \"search query: \", "
                                  "document: \"search document: "
                                  "\"}\n" +
                                  "    train: [{source: file, path: pairs.jsonl}]\nvariants: " + variants +
                                  "\ntraining: {batch_size: 8, steps: 2}\nevaluation: {baseline: false, datasets: []}\n",
                              folder_.path() / "e.yaml", Catalogue::load({FACETER_BINARY_DIR "/lib/faceter/plugins"}));
        std::vector<RunDirectory> runs;
        for (const ResolvedRun& one : experiment.runs()) {
            runs.push_back(RunDirectory::create(folder_.path() / "project", experiment, one, false));
            const ChildResult made = worker({"run", runs.back().folder().string()});
            if (made.exit_code != 0) throw std::runtime_error(made.last_lines);
        }
        return runs;
    }
    void targets() const {
        QTest::addColumn<QString>("to");
        QTest::addColumn<QString>("by");
        QTest::newRow("sentence-transformers") << "sentence-transformers"
                                               << "sentence-transformers";
        QTest::newRow("onnx") << "onnx"
                              << "onnxruntime";
        QTest::newRow("peft") << "peft"
                              << "peft";
        QTest::newRow("faceter") << "faceter"
                                 << "sentence-transformers";
    }
    ChildResult exported(const QString& to, const std::string& name) const {
        return worker({"export", to == "peft" ? adapters_ : run_, in(name), "--to", to.toStdString()});
    }
    /// Its last lines: verified by us, and by nobody else, for this reason.
    void require_unverified(const ChildResult& result, const QString& to, const QString& by, const std::string& why) const {
        QVERIFY2(result.exit_code == 0, result.last_lines.c_str());
        std::string lines = fmt::format(" by faceter\nnot verified by {}: {}\n", by.toStdString(), why);
        if (to == "onnx") lines += fmt::format("not verified by sentence-transformers: {}\n", why);
        QVERIFY2(result.output.ends_with(lines), result.output.c_str());
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
        for (const RunDirectory& run : trained((shared_folder() / "fixtures/bert").string(),
                                               "{IC: {method: instruction}, LoRA: {method: task_lora, instructions: true}}"))
            (run.info().method == "task_lora" ? adapters_ : run_) = run.folder().string();
    }
    void init() {
        qunsetenv("FACETER_PEERS");
        qunsetenv("FACETER_PEERS_MINUTES");
    }
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
    void what_was_written_and_proved_comes_as_json() {
        const ChildResult whole = worker({"export", run_, in("json"), "--json"});
        QVERIFY2(whole.exit_code == 0, whole.last_lines.c_str());
        const Json one = Json::parse(whole.output);
        QCOMPARE(one.at("folders"), Json({in("json")}));
        QCOMPARE(one.at("run").get<std::string>(), fs::path(run_).filename().string());
        QCOMPARE(one.at("to").get<std::string>(), std::string("sentence-transformers"));
        QCOMPARE(one.at("verified").at(0).at("by").get<std::string>(), std::string("faceter"));
        QVERIFY(one.at("verified").at(0).at("largest_difference").get<double>() < 1e-5);
        QCOMPARE(one.at("not_verified").at(0).at("by").get<std::string>(), std::string("sentence-transformers"));
        const RunDirectory mixture = trained((shared_folder() / "fixtures/bert").string(), "{MoTE: {method: mote}}").front();
        const ChildResult parts = worker({"export", mixture.folder().string(), in("parts"), "--json"});
        QVERIFY2(parts.exit_code == 0, parts.last_lines.c_str());
        QCOMPARE(Json::parse(parts.output).at("folders").size(), std::size_t{2});
        QVERIFY2(parts.last_lines.find("export  2/2 folders") != std::string::npos, parts.last_lines.c_str());
    }
    /// On a terminal alone: what takes long is said before it begins, and the line is gone in the end.
    void the_steps_of_one_folder_are_shown() {
        if (QStandardPaths::findExecutable("script").isEmpty()) QSKIP("no script(1), which gives a program a terminal");
        const ChildResult result = run_child({"script", "-qec",
                                              fmt::format("stty cols 200; '{}' export '{}' '{}' --to onnx --int8",
                                                          FACETER_BINARY_DIR "/bin/faceter-worker", run_, in("shown")),
                                              "/dev/null"},
                                             std::chrono::seconds(200), 1 << 20);
        QVERIFY2(result.exit_code == 0, result.output.c_str());
        std::size_t at = 0;
        for (const char* step : {"1/8 steps", "writing", "computing what it must embed", "running the graph and comparing",
                                 "comparing in onnxruntime", "running the graph in int8 and comparing", "in onnxruntime in int8",
                                 "7/8 steps", "comparing in sentence-transformers", "\r\033[K", "verified: largest"}) {
            at = result.output.find(step, at);
            QVERIFY2(at != std::string::npos, fmt::format("{} in {}", step, result.output).c_str());
        }
    }
    void an_onnx_export_has_both_forms_the_prompts_and_a_card() {
        const ChildResult result = worker({"export", run_, in("onnx"), "--to", "onnx", "--int8"});
        QVERIFY2(result.exit_code == 0, result.last_lines.c_str());
        QVERIFY2(result.output.find("over 24 texts by faceter\n") != std::string::npos, result.output.c_str());  // behind both instructions
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
    void without_another_python_it_says_how_to_name_one_data() { targets(); }
    void without_another_python_it_says_how_to_name_one() {
        QFETCH(QString, to);
        QFETCH(QString, by);
        const std::string name = "unset-" + to.toStdString();
        require_unverified(exported(to, name), to, by, "none found (name a Python with it by FACETER_PEERS)");
        const Json missed = read_json(in(name) + "/faceter_export.json").at("not_verified").at(0);
        QCOMPARE(missed.at("by").get<std::string>(), by.toStdString());
    }
    void a_python_that_is_not_there_is_named_data() { targets(); }
    void a_python_that_is_not_there_is_named() {
        QFETCH(QString, to);
        QFETCH(QString, by);
        qputenv("FACETER_PEERS", QByteArray::fromStdString(in("nowhere")));
        require_unverified(
            exported(to, "gone-" + to.toStdString()), to, by,
            fmt::format("{}: cannot start: No such file or directory (name a Python with it by FACETER_PEERS)", in("nowhere")));
    }
    void a_package_that_the_python_lacks_is_named_data() { targets(); }
    void a_package_that_the_python_lacks_is_named() {
        QFETCH(QString, to);
        QFETCH(QString, by);
        if (QStandardPaths::findExecutable("python3").isEmpty()) QSKIP("no python3");
        bare_peers();
        const auto lacks = [&](const char* package) {
            return fmt::format("{} has no {} (name a Python with it by FACETER_PEERS)\n", in("bare"), package);
        };
        const ChildResult result = exported(to, "bare-" + to.toStdString());
        QVERIFY2(result.exit_code == 0, result.last_lines.c_str());
        std::string lines = fmt::format(" by faceter\nnot verified by {}: {}", by.toStdString(),
                                        lacks(to == "onnx" ? "onnxruntime" : "sentence-transformers"));
        if (to == "onnx") lines += "not verified by sentence-transformers: " + lacks("sentence-transformers");
        QVERIFY2(result.output.ends_with(lines), result.output.c_str());
    }
    void what_sentence_transformers_needs_besides_is_named_where_it_lacks_alone() {
        if (QStandardPaths::findExecutable("python3").isEmpty()) QSKIP("no python3");
        make_directories(in("packages"));
        write_file_atomic(
            in("packages") + "/sentence_transformers.py",
            "__version__ = '9'\nclass SentenceTransformer:\n    def __init__(self, folder, backend='torch'):\n        pass\n");
        bare_peers(in("packages"));
        const auto last_line = [&](const char* by, const char* package) {
            return fmt::format("not verified by {}: {} has no {} (name a Python with it by FACETER_PEERS)\n", by, in("bare"), package);
        };
        const std::string onnx = exported("onnx", "no-optimum").output, peft = exported("peft", "no-peft").output;
        QVERIFY2(onnx.ends_with(last_line("sentence-transformers", "optimum.onnxruntime")), onnx.c_str());
        QVERIFY2(peft.ends_with(last_line("peft", "peft")), peft.c_str());
        write_file_atomic(in("packages") + "/sentence_transformers.py", "__version__ = '2.7.0'\nclass SentenceTransformer:\n    pass\n");
        const std::string old = exported("sentence-transformers", "old").output;
        QVERIFY2(old.find("has sentence-transformers 2.7.0, where 3.2 or later is needed (name") != std::string::npos, old.c_str());
    }
    void a_family_that_an_old_transformers_does_not_know_is_not_verified() {
        if (QStandardPaths::findExecutable("python3").isEmpty()) QSKIP("no python3");
        for (const std::string version : {"4.57.6", "5.2.0"}) {
            const std::string packages = in("transformers-" + version), info = packages + "/transformers-" + version + ".dist-info";
            make_directories(info);
            write_file_atomic(info + "/METADATA", "Metadata-Version: 2.1\nName: transformers\nVersion: " + version + "\n");
            write_file_atomic(packages + "/sentence_transformers.py",
                              "__version__ = '9'\nclass SentenceTransformer:\n    def __init__(self, folder, backend='torch', **others):\n"
                              "        raise ValueError('of type `x` but Transformers does not recognize this architecture')\n");
            bare_peers(packages);
            const ChildResult result = exported("sentence-transformers", "family-" + version);
            const bool old = version.front() == '4';
            QVERIFY2((result.exit_code == 0) == old, result.last_lines.c_str());
            const std::string said = result.output + result.last_lines;
            QVERIFY2(said.find(old ? "has transformers 4.57.6, which does not know this family yet (name" : "does not load the export") !=
                         std::string::npos,
                     said.c_str());
        }
    }
    void what_other_programs_verified_stands_in_the_last_lines_data() { targets(); }
    void what_other_programs_verified_stands_in_the_last_lines() {
        QFETCH(QString, to);
        QFETCH(QString, by);
        if (peers_.isEmpty()) QSKIP("no Python with the peers' packages (FACETER_PEERS)");
        qputenv("FACETER_PEERS", peers_);
        const ChildResult result = exported(to, "peers-" + to.toStdString());
        QVERIFY2(result.exit_code == 0, result.last_lines.c_str());
        if (result.output.find("not verified by " + by.toStdString() + ":") != std::string::npos) QSKIP(result.output.c_str());
        const std::regex line(
            "verified: largest difference \\d\\.\\de[-+]\\d\\d over \\d+ texts by faceter\n"
            "verified: largest difference \\d\\.\\de[-+]\\d\\d over \\d+ texts by " +
            by.toStdString() + " \\d[^\n]*\n");
        QVERIFY2(std::regex_search(result.output, line), result.output.c_str());
    }
    void one_that_differs_elsewhere_fails_and_leaves_nothing_data() { targets(); }
    void one_that_differs_elsewhere_fails_and_leaves_nothing() {
        QFETCH(QString, to);
        QFETCH(QString, by);
        Json vectors = Json::array();
        for (int part = 0; part < 2; ++part) vectors.push_back(std::vector<std::vector<float>>(12, std::vector<float>(48, 0.5f)));
        fake_peers(Json{{"version", "0.1"}, {"peft_version", "0.1"}, {"vectors", vectors}}.dump());
        const std::string name = "differs-" + to.toStdString();
        const ChildResult result = exported(to, name);
        QCOMPARE(result.exit_code, 5);
        const std::string said = to == "onnx" ? "onnxruntime gives" : "by " + by.toStdString() + " 0.1";
        QVERIFY2(result.last_lines.find(said) != std::string::npos, result.last_lines.c_str());
        QVERIFY(nothing_is_left(name));
        QVERIFY2(result.output.empty(), result.output.c_str());  // no folder is named that is not there
    }
    void a_program_that_is_no_python_fails_it_and_is_named() {
        qputenv("FACETER_PEERS", "true");
        const ChildResult result = worker({"export", run_, in("true")});
        QCOMPARE(result.exit_code, 5);
        QVERIFY2(result.last_lines.find("FACETER_PEERS names true, which gave no answer; it must be a Python") != std::string::npos,
                 result.last_lines.c_str());
        QVERIFY(nothing_is_left("true"));
    }
    void a_program_that_takes_too_long_has_not_verified_it_data() { targets(); }
    void a_program_that_takes_too_long_has_not_verified_it() {
        QFETCH(QString, to);
        QFETCH(QString, by);
        std::ofstream(in("slow")) << "#!/bin/sh\nexec tail -f /dev/null\n";
        fs::permissions(in("slow"), fs::perms::owner_all);
        qputenv("FACETER_PEERS", QByteArray::fromStdString(in("slow")));
        qputenv("FACETER_PEERS_MINUTES", "0.01");
        require_unverified(exported(to, "slow-" + to.toStdString()), to, by,
                           "it took longer than 0.01 minutes (FACETER_PEERS_MINUTES gives it more)");
        qputenv("FACETER_PEERS_MINUTES", "long");
        const ChildResult wrong = exported(to, "wrong-" + to.toStdString());
        QCOMPARE(wrong.exit_code, 2);
        QVERIFY2(wrong.last_lines.find("FACETER_PEERS_MINUTES is 'long'; minutes are expected, such as 30") != std::string::npos,
                 wrong.last_lines.c_str());
        QVERIFY(nothing_is_left("wrong-" + to.toStdString()));
    }
    void one_that_another_program_cannot_answer_for_fails_and_leaves_nothing() {
        fake_peers(R"({"version": "0.1", "vectors": []})");
        const ChildResult result = worker({"export", run_, in("unanswered")});
        QCOMPARE(result.exit_code, 5);
        QVERIFY(nothing_is_left("unanswered"));
    }
    void the_card_has_the_licence_of_a_start_model_that_is_known_by_name() {
        NEED_MINILM();
        const std::string run = trained("minilm", "{IC: {method: instruction}}").front().folder().string();
        const ChildResult result = worker({"export", run, in("licensed")});
        QVERIFY2(result.exit_code == 0, result.last_lines.c_str());
        const std::string card = read_file(in("licensed") + "/README.md");
        QVERIFY2(card.starts_with("---\nlicense: apache-2.0\n"), card.c_str());
    }
    void the_card_of_a_run_of_a_run_has_the_licence_of_the_first_start_model() {
        fs::copy(shared_folder() / "fixtures/bert", in("mit"), fs::copy_options::recursive);
        write_file_atomic(in("mit") + "/README.md", "---\nlicense: mit\n---\n");
        const std::string first = trained(in("mit"), "{IC: {method: instruction}}").front().folder().string();
        for (const std::string& start : {first, first + "/model"}) {
            const std::string second = trained(start, "{IC: {method: instruction}}").front().folder().string(),
                              out = in("of-" + fs::path(start).filename().string());
            const ChildResult result = worker({"export", second, out});
            QVERIFY2(result.exit_code == 0, result.last_lines.c_str());
            const std::string card = read_file(out + "/README.md");
            QVERIFY2(card.starts_with("---\nlicense: mit\n") && card.find("mit, as its README.md says.") != std::string::npos,
                     card.c_str());
            const ChildResult described = worker({"describe", "--json", "--model", second});
            QVERIFY2(described.output.find("\"licence\": \"mit\"") != std::string::npos, described.output.c_str());
        }
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
    /// As where it is killed between two of the files: what is there of two exports is no model.
    void an_export_over_another_that_ends_between_its_files_leaves_no_model() {
        QCOMPARE(worker({"export", run_, in("halved")}).exit_code, 0);
        const std::string in_the_way = in("halved") + "/tokenizer.json";
        fs::remove(in_the_way);
        make_directories(in_the_way + "/mine");
        QCOMPARE(worker({"export", run_, in("halved"), "--force"}).exit_code, 5);
        QVERIFY(!fs::exists(in("halved") + "/config.json"));
        fs::remove_all(in_the_way);
        QCOMPARE(worker({"export", run_, in("halved"), "--force"}).exit_code, 0);
        QCOMPARE(worker({"describe", "--model", in("halved")}).exit_code, 0);
    }
    /// A shell may stand there, it may be a link, or a disk of its own.
    void an_empty_folder_that_is_there_stays_the_same_folder() {
        make_directories(in("empty"));
        fs::create_directory_symlink(in("empty"), in("link"));
        struct stat before {
        }, after{};
        QCOMPARE(::stat(in("empty").c_str(), &before), 0);
        make_directories(in("empty") + "/.link.tmp-1");  // of a program that was killed
        const ChildResult result = worker({"export", run_, in("link")});
        QVERIFY2(result.exit_code == 0, result.last_lines.c_str());
        QVERIFY(fs::is_symlink(in("link")));
        QCOMPARE(::stat(in("empty").c_str(), &after), 0);
        QCOMPARE(after.st_ino, before.st_ino);
        QVERIFY(fs::exists(in("empty") + "/model.safetensors") && fs::exists(in("empty") + "/1_Pooling/config.json"));
        QCOMPARE(worker({"export", run_, in("link")}).exit_code, 2);  // now it is not empty
    }
    void what_is_left_of_another_model_is_not_read_with_an_export() {
        QCOMPARE(worker({"export", run_, in("mixed")}).exit_code, 0);
        const std::string record = in("mixed") + "/faceter_export.json", own = read_file(record);
        Json other = Json::parse(own);
        other["source"]["run"] = "another-run";
        write_file_atomic(record, other.dump());
        const ChildResult refused = worker({"export", run_, in("mixed"), "--to", "onnx", "--force"});
        QCOMPARE(refused.exit_code, 2);
        QVERIFY2(
            refused.last_lines.find("mixed: model.safetensors of another model there would be read with this one") != std::string::npos,
            refused.last_lines.c_str());
        QVERIFY(!fs::exists(in("mixed") + "/onnx"));
        QCOMPARE(worker({"export", run_, in("mixed"), "--force"}).exit_code, 0);                  // writes all of it anew
        QCOMPARE(worker({"export", run_, in("mixed"), "--to", "onnx", "--force"}).exit_code, 0);  // another form of the same model
        QVERIFY(fs::exists(in("mixed") + "/model.safetensors") && fs::exists(in("mixed") + "/onnx/model.onnx"));
    }
    void folders_of_routes_are_not_put_below_another_runs_model() {
        const RunDirectory mixture = trained((shared_folder() / "fixtures/bert").string(), "{MoTE: {method: mote}}").front();
        QCOMPARE(worker({"export", run_, in("below")}).exit_code, 0);
        const std::string weights = read_file(in("below") + "/model.safetensors");
        const ChildResult refused = worker({"export", mixture.folder().string(), in("below"), "--force"});
        QCOMPARE(refused.exit_code, 2);
        QVERIFY2(refused.last_lines.find("below: holds another model") != std::string::npos, refused.last_lines.c_str());
        QVERIFY(!fs::exists(in("below") + "/retrieval.query"));
        QCOMPARE(worker({"export", mixture.folder().string(), in("own"), "--to", "faceter"}).exit_code, 0);
        QCOMPARE(worker({"export", mixture.folder().string(), in("own"), "--force"}).exit_code, 0);  // the same run's, in another form
    }
    void a_runs_own_model_is_not_exported_over() {
        for (const std::string& place : {adapters_, adapters_ + "/model", adapters_ + "/model/"}) {
            const ChildResult refused = worker({"export", run_, place, "--force"});
            QCOMPARE(refused.exit_code, 2);
            QVERIFY2(refused.last_lines.find("is the place of a run and its own model") != std::string::npos, refused.last_lines.c_str());
        }
        QVERIFY(!fs::exists(adapters_ + "/model/faceter_export.json"));
    }
    void adapters_name_the_base_where_it_lies() {
        QCOMPARE(worker({"export", adapters_, in("adapters"), "--to", "peft"}).exit_code, 0);
        std::size_t adapters = 0;
        for (const fs::directory_entry& entry : fs::directory_iterator(in("adapters"))) {
            const fs::path config = entry.path() / "adapter_config.json";
            if (!fs::exists(config)) continue;
            QCOMPARE(read_json(config).at("base_model_name_or_path").get<std::string>(), in("adapters") + "/base");
            ++adapters;
        }
        QVERIFY(adapters > 0);
    }
    /// Of what still opens and embeds: a bit of the weights, another prompt, a file that is gone.
    void an_export_that_was_damaged_since_is_told_by_describe() {
        QCOMPARE(worker({"export", run_, in("whole")}).exit_code, 0);
        const ChildResult good = worker({"describe", "--model", in("whole"), "--json"});
        QVERIFY2(good.exit_code == 0 && Json::parse(good.output).at("as_exported") == true, good.last_lines.c_str());
        const auto damaged = [&](const std::string& file, const std::function<void(std::string&)>& damage) {
            const std::string copy = in("damaged") + "/" + file;
            fs::remove_all(in("damaged"));
            fs::copy(in("whole"), in("damaged"), fs::copy_options::recursive);
            std::string bytes = read_file(copy);
            damage(bytes);
            bytes.empty() ? void(fs::remove(copy)) : write_file_atomic(copy, bytes);
            return worker({"describe", "--model", in("damaged")});
        };
        const auto tells = [](const ChildResult& result, const std::string& file) {
            return result.exit_code == 4 && result.last_lines.find("was verified: " + file + " changed since") != std::string::npos;
        };
        const ChildResult flipped = damaged("model.safetensors", [](std::string& bytes) { bytes[bytes.size() - 4] ^= 1; });
        QVERIFY2(tells(flipped, "model.safetensors"), flipped.last_lines.c_str());
        const char* prompts = "config_sentence_transformers.json";
        const ChildResult prompt =
            damaged(prompts, [](std::string& bytes) { bytes.replace(bytes.find("search query: "), 14, "another query:"); });
        QVERIFY2(tells(prompt, prompts), prompt.last_lines.c_str());
        const ChildResult lost = damaged("sentence_bert_config.json", [](std::string& bytes) { bytes.clear(); });
        QVERIFY2(tells(lost, "sentence_bert_config.json (missing)"), lost.last_lines.c_str());
    }
    void the_record_of_one_task_names_it() {
        QCOMPARE(worker({"export", run_, in("one"), "--task", "retrieval.document"}).exit_code, 0);
        QCOMPARE(read_json(in("one") + "/faceter_export.json").at("source").at("task").get<std::string>(),
                 std::string("retrieval.document"));
    }
};

FACETER_TEST(TestExportCommand)
#include "test_export_command.moc"
