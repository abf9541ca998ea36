#include <QJsonDocument>
#include <cstring>
#include <fstream>

#include "common/file.h"
#include "experiment/catalogue.h"
#include "experiment/experiment.h"
#include "support/checkout.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

constexpr int patience_ms = 120000;

/// The real program on pipes, asked as the workbench asks it.
class Session {
  public:
    Session() {
        process_.setProcessChannelMode(QProcess::SeparateChannels);
        process_.start(FACETER_BINARY_DIR "/bin/faceter-worker", {"session"});
    }
    ~Session() {
        process_.closeWriteChannel();
        process_.waitForFinished(patience_ms);
    }
    void send(const std::string& line) { process_.write(line.c_str(), static_cast<qint64>(line.size())); }
    void ask(const Json& message) { send(message.dump() + "\n"); }
    /// The next line; null after a long time or at the end.
    Json read() {
        while (!process_.canReadLine())
            if (!process_.waitForReadyRead(patience_ms)) return nullptr;
        return Json::parse(process_.readLine().toStdString());
    }
    /// The next answer, past the progress lines, which are counted.
    Json answer() {
        for (Json line = read();; line = read()) {
            if (line.is_null() || !line.contains("progress")) return line;
            ++num_progress;
        }
    }
    int finish() {
        process_.closeWriteChannel();
        return process_.waitForFinished(patience_ms) ? process_.exitCode() : -1;
    }
    QProcess& process() { return process_; }
    int num_progress = 0;

  private:
    QProcess process_;
};

}  // namespace

/// `faceter-worker session` on the tiny reference model.
class TestSession : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;

    std::string text(int steps) const {
        return "name: s\nmodel: " + (shared_folder() / "fixtures/bert").string() + "\nmax_length: 8\nthreads: 1\n" +
               "tasks:\n  retrieval:\n    instructions: {query: \"search query: \", document: \"search document: \"}\n"
               "    train: [{name: pairs, source: file, path: pairs.jsonl}]\n"
               "variants:\n  EM: {method: dense}\n  IC: {method: instruction}\n"
               "training: {batch_size: 8, steps: " +
               std::to_string(steps) + "}\nevaluation: {baseline: true, datasets: []}\n";
    }

    Json settings(const std::string& variant, int steps = 30) const {
        std::ofstream out(folder_.path() / "pairs.jsonl");
        for (int i = 0; i < 60; ++i)
            out << "{\"query\": \"question " << i << "\", \"document\": \"an answer to question number " << i
                << " that is longer than eight tokens\"}\n";
        out.close();
        const Experiment experiment =
            Experiment::parse(text(steps), folder_.path() / "s.yaml", Catalogue::load({FACETER_BINARY_DIR "/lib/faceter/plugins"}));
        for (const ResolvedRun& run : experiment.runs())
            if (run.variant == variant) return run.settings;
        return nullptr;
    }

  private Q_SLOTS:
    void a_malformed_line_is_answered_and_ends_nothing() {
        Session session;
        session.send("{not json\n");
        QCOMPARE(session.read().at("error").at("code").get<std::string>(), std::string("usage"));
        session.send("[1, 2]\n");
        QVERIFY(session.read().at("id").is_null());
        session.ask({{"id", 3}, {"method", "no_such_method"}});
        const Json unknown = session.read();
        QCOMPARE(unknown.at("id").get<int>(), 3);
        QVERIFY(unknown.at("error").at("message").get<std::string>().find("preview") != std::string::npos);
        session.ask({{"method", "embed"}});
        QVERIFY(session.read().at("error").at("message").get<std::string>().find("'id' is missing") != std::string::npos);
        session.ask({{"id", "four"}, {"method", "preview"}, {"params", {{"settings", 7}}}});
        const Json wrong = session.answer();
        QCOMPARE(wrong.at("id").get<std::string>(), std::string("four"));
        QVERIFY(wrong.contains("error"));
        QCOMPARE(session.finish(), 0);
    }

    void what_a_terminal_takes_for_a_command_is_escaped_in_its_lines() {
        Session session;
        const std::string id = "\xc2\x9b \x7f \u202e";
        session.ask({{"id", id}, {"method", "none"}});
        QVERIFY(session.process().waitForReadyRead(patience_ms));
        const std::string line = session.process().readLine().toStdString();
        for (const char* control : {"\xc2\x9b", "\x7f", "\u202e"}) QVERIFY2(line.find(control) == std::string::npos, line.c_str());
        QCOMPARE(Json::parse(line).at("id"), Json(id));
    }

    void the_end_of_the_input_ends_it_and_nothing_else_stands_on_its_output() {
        Session session;
        QVERIFY(session.process().waitForStarted());
        QCOMPARE(session.finish(), 0);
        QVERIFY(session.process().readAllStandardOutput().isEmpty());
    }

    void preview_shows_texts_as_the_model_of_a_variant_sees_them() {
        NEED_SHARED();
        Session session;
        session.ask({{"id", 1}, {"method", "preview"}, {"params", {{"settings", settings("IC")}, {"task", "retrieval"}, {"examples", 5}}}});
        const Json answer = session.answer();
        QVERIFY2(answer.contains("result"), answer.dump().c_str());
        const Json& set = answer.at("result").at("sets").at(0);
        QCOMPARE(set.at("size").get<int>(), 60);
        QCOMPARE(set.at("examples").size(), std::size_t{5});
        const Json& anchor = set.at("examples").at(0).at("texts").at(0);
        const Json& positive = set.at("examples").at(0).at("texts").at(1);
        QCOMPARE(anchor.at("instruction").get<std::string>(), std::string("search query: "));
        QCOMPARE(anchor.at("text").get<std::string>(), std::string("question 0"));
        QCOMPARE(positive.at("kept_tokens").get<int>(), 8);
        QVERIFY(positive.at("num_tokens").get<int>() > 8);
        QVERIFY(positive.at("cut").get<std::size_t>() < positive.at("text").get<std::string>().size());
        const Json& lengths = set.at("lengths").at(1);
        std::size_t counted = 0;
        for (const Json& bin : lengths.at("bins")) counted += bin.get<std::size_t>();
        QCOMPARE(counted, lengths.at("num_texts").get<std::size_t>());
        QCOMPARE(lengths.at("num_truncated").get<int>(), 60);

        session.ask({{"id", 2}, {"method", "preview"}, {"params", {{"settings", settings("EM")}}}});
        const Json dense = session.answer();
        QCOMPARE(dense.at("result").at("sets").at(0).at("examples").at(0).at("texts").at(0).at("instruction").get<std::string>(),
                 std::string());
    }

    void a_file_that_was_corrected_is_read_again() {
        NEED_SHARED();
        Session session;
        const Json asked = {{"method", "preview"}, {"params", {{"settings", settings("EM")}, {"examples", 1}}}};
        const auto first_query = [&](int id) {
            Json question = asked;
            question["id"] = id;
            session.ask(question);
            const Json answer = session.answer();
            return answer.at("result").at("sets").at(0).at("examples").at(0).at("texts").at(0).at("text").get<std::string>();
        };
        QCOMPARE(first_query(1), std::string("question 0"));
        std::ofstream(folder_.path() / "pairs.jsonl") << "{\"query\": \"a corrected question\", \"document\": \"an answer\"}\n";
        QCOMPARE(first_query(2), std::string("a corrected question"));
    }

    void a_data_set_is_shown_under_its_own_instructions_and_lengths() {
        NEED_SHARED();
        Session session;
        Json own = settings("IC");
        own["tasks"]["retrieval"]["train"][0]["instructions"] = {
            {"query", "my question: "}, {"document", "my answer: "}, {"negative", nullptr}};
        own["training"]["query_length"] = 5;
        const Json by_task = settings("IC");
        const auto preview = [&](int id, const Json& of) {
            session.ask({{"id", id}, {"method", "preview"}, {"params", {{"settings", of}, {"task", "retrieval"}, {"examples", 1}}}});
            return session.answer().at("result").at("sets").at(0);
        };
        const Json shown = preview(1, own), before = preview(2, by_task);
        const Json& texts = shown.at("examples").at(0).at("texts");
        QCOMPARE(texts.at(0).at("instruction").get<std::string>(), std::string("my question: "));
        QCOMPARE(texts.at(1).at("instruction").get<std::string>(), std::string("my answer: "));
        QCOMPARE(texts.at(0).at("kept_tokens").get<int>(), 5);
        QCOMPARE(shown.at("lengths").at(0).at("max_length").get<int>(), 5);
        QCOMPARE(shown.at("lengths").at(1).at("max_length").get<int>(), 8);
        session.ask({{"id", 3},
                     {"method", "data_lengths"},
                     {"params", {{"settings", own}, {"use", "training"}, {"task", "retrieval"}, {"index", 0}}}});
        QCOMPARE(session.answer().at("result").at("lengths"), shown.at("lengths"));
        QVERIFY(shown.at("lengths") != before.at("lengths"));
    }

    void a_corpus_of_instructions_is_shown_leaf_by_leaf_under_the_instructions_it_is_trained_with() {
        NEED_SHARED();
        const fs::path files = folder_.path() / "tasks";
        make_directories(files);
        for (int i = 10; i < 30; ++i) {
            Json instances = Json::array();
            for (int j = 0; j < 6; ++j)
                instances.push_back({{"input", fmt::format("sentence {} of {}", j, i)}, {"output", {fmt::format("answer {}", j / 2)}}});
            write_file_atomic(files / fmt::format("task{}.json", i),
                              Json{{"Definition", {fmt::format("Say what task {} asks.", i)}}, {"Instances", instances}}.dump());
        }
        Json own = settings("IC");
        own["tasks"]["retrieval"]["train"] = {{{"name", "ni"}, {"source", "natural_instructions"}, {"path", files.string()}}};
        Session session;
        session.ask({{"id", 1}, {"method", "preview"}, {"params", {{"settings", own}, {"task", "retrieval"}, {"examples", 1}}}});
        const Json answer = session.answer();
        QVERIFY2(answer.contains("result"), answer.dump().c_str());
        const Json& sets = answer.at("result").at("sets");
        QCOMPARE(sets.size(), std::size_t{12});
        for (std::size_t i = 0; i < sets.size(); ++i)
            QVERIFY(sets[i]
                        .at("examples")
                        .at(0)
                        .at("texts")
                        .at(0)
                        .at("instruction")
                        .get<std::string>()
                        .find(fmt::format("task {} asks", i + 10)) != std::string::npos);
        QVERIFY(sets.back().at("warnings").dump().find("8 more data sets") != std::string::npos);
    }

    void a_data_set_is_shown_by_its_card_examples_lengths_and_duplicates() {
        NEED_SHARED();
        Session session;
        int id = 0;
        const auto told = [&](const char* method, Json more = Json::object()) {
            Json params = {{"settings", settings("IC")}, {"use", "training"}, {"task", "retrieval"}, {"index", 0}};
            params.update(more);
            session.ask({{"id", ++id}, {"method", method}, {"params", params}});
            return session.answer();
        };
        const Json card = told("data_set").at("result");
        QCOMPARE(card.at("size").get<int>(), 60);
        QCOMPARE(card.at("sha256").get<std::string>().size(), std::size_t{64});
        const Json page = told("data_examples", {{"offset", 58}, {"count", 50}}).at("result");
        QCOMPARE(page.at("examples").size(), std::size_t{2});
        QCOMPARE(page.at("examples").at(0).at("texts").at(0).at("text").get<std::string>(), std::string("question 58"));
        const Json found = told("data_examples", {{"search", "QUESTION 1"}, {"offset", 10}}).at("result");
        QCOMPARE(found.at("found").get<int>(), 11);  // 1 and 10 to 19
        QCOMPARE(found.at("examples").at(0).at("number").get<int>(), 19);
        const Json lengths = told("data_lengths").at("result");
        QCOMPARE(lengths.at("max_length").get<int>(), 8);
        QCOMPARE(lengths.at("lengths").at(1).at("num_truncated").get<int>(), 60);
        QCOMPARE(told("data_duplicates").at("result").at("repeated").get<int>(), 0);
        QVERIFY(told("data_overlap").at("result").at("overlaps").empty());
        QVERIFY(told("data_set", {{"index", 1}}).at("error").at("message").get<std::string>().find("no such entry") != std::string::npos);
        QCOMPARE(told("data_set", {{"task", "other"}}).at("error").at("code").get<std::string>(), std::string("usage"));
        QVERIFY(told("data_examples", {{"offset", -1}}).contains("error"));
    }

    void lengths_of_a_retrieval_set_in_several_languages_keep_queries_and_documents_apart() {
        NEED_SHARED();
        for (const std::string language : {"de", "en"}) {
            const fs::path folder = folder_.path() / "languages" / language;
            fs::create_directories(folder / "qrels");
            std::ofstream(folder / "corpus.jsonl")
                << Json{{"_id", "d"}, {"text", "a document that is longer than its query in " + language}}.dump() << "\n";
            std::ofstream(folder / "queries.jsonl") << Json{{"_id", "q"}, {"text", language}}.dump() << "\n";
            std::ofstream(folder / "qrels/test.tsv") << "query-id\tcorpus-id\tscore\nq\td\t1\n";
        }
        Json all = settings("IC");
        all["evaluation"]["datasets"] = Json::array({{{"source", "folder"}, {"path", (folder_.path() / "languages").string()}}});
        Session session;
        session.ask({{"id", 1}, {"method", "data_lengths"}, {"params", {{"settings", all}, {"use", "evaluation"}, {"index", 0}}}});
        const Json answer = session.answer();
        QVERIFY2(answer.contains("result"), answer.dump().c_str());
        const Json& lengths = answer.at("result").at("lengths");
        QCOMPARE(lengths.size(), std::size_t{2});
        QCOMPARE(lengths.at(0).at("role").get<std::string>(), std::string("query"));
        QCOMPARE(lengths.at(1).at("role").get<std::string>(), std::string("document"));
        for (const Json& role : lengths) QCOMPARE(role.at("num_texts").get<int>(), 2);
        QVERIFY(lengths.at(1).at("mean").get<double>() > lengths.at(0).at("mean").get<double>());
    }

    void estimate_tries_real_steps_and_tells_what_a_run_takes() {
        NEED_SHARED();
        Session session;
        session.ask({{"id", 1}, {"method", "estimate"}, {"params", {{"settings", settings("EM")}, {"steps", 3}}}});
        const Json answer = session.answer();
        QVERIFY2(answer.contains("result"), answer.dump().c_str());
        const Json& result = answer.at("result");
        QVERIFY(session.num_progress >= 3);
        QVERIFY(result.at("total_parameters").get<std::int64_t>() > 1000);
        QVERIFY(result.at("memory_bytes").get<std::int64_t>() > (1 << 20));
        const Json& stage = result.at("stages").at(0);
        QCOMPARE(stage.at("steps").get<int>(), 30);
        QCOMPARE(stage.at("probed_steps").get<int>(), 3);
        QCOMPARE(stage.at("seconds").get<double>(), stage.at("seconds_per_step").get<double>() * 30);
        const Json& on_gpu = stage.at("on_gpu");  // of one that is not here
        QVERIFY2(on_gpu.is_object(), stage.dump().c_str());
        QVERIFY(on_gpu.at("bytes").get<std::int64_t>() > 3 * on_gpu.at("weights").get<std::int64_t>());
        QVERIFY(on_gpu.at("moments").get<std::int64_t>() > on_gpu.at("weights").get<std::int64_t>());
        QVERIFY(!on_gpu.contains("device_bytes"));
        session.ask({{"id", 2}, {"method", "estimate"}, {"params", {{"settings", settings("start")}}}});
        QVERIFY(session.answer().at("result").at("stages").empty());
    }

    void estimate_counts_segments_where_a_loss_reads_texts_in_these() {
        NEED_SHARED();
        Session session;
        Json masked = settings("EM");
        masked["objective"] = {{"method", "masked_language"}};
        session.ask({{"id", 1}, {"method", "estimate"}, {"params", {{"settings", masked}, {"steps", 1}}}});
        const Json answer = session.answer();
        QVERIFY2(answer.contains("result"), answer.dump().c_str());
        QVERIFY(answer.at("result").at("stages").at(0).at("examples").get<int>() >= 2 * 60);  // of 13 tokens, 8 at a time
    }

    void an_estimate_that_fails_leaves_the_threads_as_they_were() {
        NEED_SHARED();
        Session session;
        Json own = settings("start"), failing = settings("EM");
        own["threads"] = 0;
        const auto threads = [&](int id) {
            session.ask({{"id", id}, {"method", "estimate"}, {"params", {{"settings", own}}}});
            return session.answer().at("result").at("threads").get<int>();
        };
        const int before = threads(1);
        failing["threads"] = before + 1;
        failing["objective"] = {{"method", "none"}};
        session.ask({{"id", 2}, {"method", "estimate"}, {"params", {{"settings", failing}}}});
        QVERIFY(session.answer().contains("error"));
        QCOMPARE(threads(3), before);
    }

    void a_request_can_be_cancelled_while_it_runs_and_before() {
        NEED_SHARED();
        Session session;
        session.ask({{"id", 1}, {"method", "estimate"}, {"params", {{"settings", settings("EM", 100000)}, {"steps", 50}}}});
        session.ask({{"id", 2}, {"method", "embed"}, {"params", {{"model", "minilm"}, {"texts", {"x"}}}}});
        QVERIFY(session.read().contains("progress"));  // the first one runs
        session.ask({{"method", "cancel"}, {"params", {{"id", 2}}}});
        session.ask({{"method", "cancel"}, {"params", {{"id", 1}}}});
        const Json first = session.answer(), second = session.answer();
        QCOMPARE(first.at("id").get<int>(), 1);
        QCOMPARE(first.at("error").at("code").get<std::string>(), std::string("cancelled"));
        QCOMPARE(second.at("error").at("code").get<std::string>(), std::string("cancelled"));
        session.ask({{"method", "cancel"}, {"params", {{"id", "none"}}}});
        session.ask({{"id", 3},
                     {"method", "embed"},
                     {"params", {{"model", (shared_folder() / "fixtures/bert").string()}, {"texts", {"still here"}}}}});
        QVERIFY(session.answer().contains("result"));
    }

    void embed_gives_a_vector_a_text_in_input_order() {
        NEED_SHARED();
        Session session;
        const std::string model = (shared_folder() / "fixtures/bert").string();
        session.ask({{"id", 1}, {"method", "embed"}, {"params", {{"model", model}, {"texts", {"one text", "another", "one text"}}}}});
        session.ask({{"id", 2}, {"method", "embed"}, {"params", {{"model", model}, {"instruction", "query: "}, {"texts", {"one text"}}}}});
        session.ask({{"id", 3}, {"method", "embed"}, {"params", {{"model", "/no/such/folder"}, {"texts", {"x"}}}}});
        const Json plain = session.answer().at("result"), instructed = session.answer().at("result");
        QCOMPARE(plain.at("vectors").size(), std::size_t{3});
        QCOMPARE(plain.at("vectors").at(0).size(), plain.at("dim").get<std::size_t>());
        QVERIFY(plain.at("vectors").at(0) == plain.at("vectors").at(2));
        QVERIFY(plain.at("vectors").at(0) != plain.at("vectors").at(1));
        QVERIFY(plain.at("vectors").at(0) != instructed.at("vectors").at(0));
        QCOMPARE(session.answer().at("error").at("code").get<std::string>(), std::string("data"));
    }
    void texts_of_one_task_after_another_are_embedded_by_the_model_that_is_open() {
        NEED_SHARED();
        const fs::path model = folder_.path() / "prompted";
        fs::copy(shared_folder() / "fixtures/bert", model, fs::copy_options::recursive);
        write_file_atomic(model / "config_sentence_transformers.json",
                          "{\"prompts\": {\"query\": \"query: \", \"document\": \"passage: \"}}");
        Session session;
        const auto instruction = [&](int id, const char* key, const char* value) {
            session.ask({{"id", id}, {"method", "embed"}, {"params", {{"model", model.string()}, {key, value}, {"texts", {"a text"}}}}});
            const Json answer = session.answer();
            return answer.contains("result") ? answer["result"]["instruction"].get<std::string>() : answer.dump();
        };
        QCOMPARE(instruction(1, "task", "query"), std::string("query: "));
        fs::remove(model / "config.json");  // it could not be opened again
        QCOMPARE(instruction(2, "task", "document"), std::string("passage: "));
        QCOMPARE(instruction(3, "instruction", "of mine: "), std::string("of mine: "));
        QCOMPARE(instruction(4, "task", "query"), std::string("query: "));
        QVERIFY(instruction(5, "task", "none").find("no prompt or adapter named 'none'") != std::string::npos);
    }
    void embed_gives_the_same_numbers_in_base64() {
        NEED_SHARED();
        Session session;
        Json params = {{"model", (shared_folder() / "fixtures/bert").string()}, {"texts", {"one text", "another"}}, {"threads", 1}};
        session.ask({{"id", 1}, {"method", "embed"}, {"params", params}});
        params["encoding_format"] = "base64";
        session.ask({{"id", 2}, {"method", "embed"}, {"params", params}});
        params["texts"] = Json::array();
        session.ask({{"id", 3}, {"method", "embed"}, {"params", params}});
        params["encoding_format"] = "hex";
        session.ask({{"id", 4}, {"method", "embed"}, {"params", params}});
        const Json plain = session.answer().at("result"), packed = session.answer().at("result"), none = session.answer().at("result");
        const auto bytes = QByteArray::fromBase64(QByteArray::fromStdString(packed.at("vectors").get<std::string>()));
        std::vector<float> numbers(static_cast<std::size_t>(bytes.size()) / sizeof(float)), expected;
        std::memcpy(numbers.data(), bytes.constData(), static_cast<std::size_t>(bytes.size()));
        for (const Json& row : plain.at("vectors"))
            for (const Json& number : row) expected.push_back(number.get<float>());
        QVERIFY(!expected.empty() && numbers == expected);
        QCOMPARE(none.at("vectors").get<std::string>(), std::string());
        QVERIFY(session.answer().at("error").at("message").get<std::string>().find("float and base64 are known") != std::string::npos);
    }
    /// The example of `faceter-worker session --help`, in a folder that is no project.
    void embed_takes_the_start_model_by_its_name_without_a_project() {
        NEED_MINILM();
        Session session;
        session.ask({{"id", 1}, {"method", "embed"}, {"params", {{"model", "minilm"}, {"texts", {"a text"}}}}});
        const Json answer = session.answer();
        QVERIFY2(answer.contains("result"), answer.dump().c_str());
        QCOMPARE(answer.at("result").at("dim").get<int>(), 384);
    }
};

FACETER_TEST(TestSession)
#include "test_session.moc"
