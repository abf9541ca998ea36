#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>
#include <csignal>
#include <cstring>
#include <fstream>
#include <thread>

#include "common/file.h"
#include "data/child_process.h"
#include "eval/embedder.h"
#include "plugin/run_model.h"
#include "support/checkout.h"
#include "support/tensors.h"
#include "support/test.h"
#include "text/base64.h"
#include "worker/embedding_server.h"
#include "worker/served_run.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

at::Tensor rows_of(const Json& vectors) {
    std::vector<float> values;
    for (const Json& vector : vectors) {
        const auto row = vector.get<std::vector<float>>();
        values.insert(values.end(), row.begin(), row.end());
    }
    const auto count = static_cast<std::int64_t>(vectors.size());
    return at::tensor(values).view({count, static_cast<std::int64_t>(values.size()) / count});
}

at::Tensor rows_in(const HttpAnswer& answer) {
    Json vectors = Json::array();
    const Json body = Json::parse(answer.body);
    for (const Json& one : body.at("data")) vectors.push_back(one.at("embedding"));
    return rows_of(vectors);
}

/// Pairs that share 0 to 7 of 8 words, and documents with a query of some of their words; no pair is twice the same text, whose cosine is 1
/// but for the last bit.
void write_local_sets(const fs::path& sts, const fs::path& retrieval) {
    const std::vector<std::string> shared{"cat", "dog", "house", "river", "stone", "music", "paper", "engine", "winter", "garden", "light"};
    const std::vector<std::string> others{"apple",  "bread",  "cloud",   "desert", "feather", "glass",
                                          "island", "jacket", "kitchen", "ladder", "mirror"};
    const auto text = [&](std::size_t seed, std::size_t own, std::size_t count, const std::vector<std::string>& rest) {
        std::string all;
        for (std::size_t i = 0; i < count; ++i)
            all += (i < own ? shared : rest)[((i < own ? 1 : seed) * (3 * i + 1) + seed * (i >= own) + 7 * i) % shared.size()] + " ";
        return all;
    };
    make_directories(sts);
    make_directories(retrieval / "qrels");
    std::ofstream pairs(sts / "test.jsonl"), corpus(retrieval / "corpus.jsonl"), queries(retrieval / "queries.jsonl"),
        qrels(retrieval / "qrels/test.tsv");
    qrels << "query-id\tcorpus-id\tscore\n";
    for (std::size_t i = 0; i < 40; ++i) {
        const std::string first = std::to_string(i) + " " + text(2, 8, 8, others), second = text(i + 3, i % 8, 8, others);
        pairs << Json{{"sentence1", first}, {"sentence2", second}, {"score", static_cast<double>(i % 8)}}.dump() << "\n";
        const std::string document = text(5 * i + 2, 2, 12, shared);
        corpus << Json{{"_id", fmt::format("d{}", i)}, {"title", fmt::format("number {}", i)}, {"text", document}}.dump() << "\n";
        if (i % 3 > 0) continue;
        queries << Json{{"_id", fmt::format("q{}", i)}, {"text", document.substr(0, document.size() / 2)}}.dump() << "\n";
        qrels << fmt::format("q{}\td{}\t1\n", i, i);
    }
}

double score_of(const fs::path& folder) {
    const ChildResult scored = run_child({FACETER_BINARY_DIR "/bin/faceter-worker", "evaluate", "--model", minilm_folder().string(),
                                          "--data", folder.string(), "--threads", "1", "--json"},
                                         std::chrono::seconds(300), 1 << 24);
    if (scored.exit_code != 0) throw std::runtime_error(scored.last_lines);
    return Json::parse(scored.output).at("datasets").at(0).at("score").get<double>();
}

/// Many long texts: work for a while.
Json long_work(int texts) {
    std::string words;
    for (int i = 0; i < 120; ++i) words += " cat";
    Json input = Json::array();
    for (int i = 0; i < texts; ++i) input.push_back("text " + std::to_string(i) + words);
    return {{"input", input}};
}
constexpr int much = 12'000;

/// A request whose length is not told before.
std::string chunked(const Json& request) {
    const std::string body = request.dump();
    return fmt::format("POST /v1/embeddings HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{}\r\n0\r\n\r\n",
                       body.size(), body);
}
int ask_chunked(const Server& server, const Json& request) {
    HttpClient client(server.port);
    client.send(chunked(request));
    return client.read().status;
}

}  // namespace

/// The embedding server, on real sockets.
class TestServe : public QObject {
    Q_OBJECT
    std::unique_ptr<EmbeddingModel> model_;
    std::unique_ptr<Server> server_;

    at::Tensor expected(const std::vector<std::string>& texts) const {
        return embed_texts(*model_, std::vector<std::string_view>(texts.begin(), texts.end()), {});
    }
    void compare(const at::Tensor& found, const at::Tensor& wanted) const {
        QCOMPARE(found.sizes().vec(), wanted.sizes().vec());
        QVERIFY2(max_difference(found, wanted) < 1e-6, std::to_string(max_difference(found, wanted)).c_str());
    }

  private Q_SLOTS:
    void initTestCase() {
        NEED_SHARED();
        model_ = EmbeddingModel::open(ModelFolder::open(tiny_model()));
        server_ = std::make_unique<Server>(QStringList{"--max-body", "100000"});
    }

    void every_form_of_input_that_openai_takes_gives_the_vectors_of_embed() {
        const std::vector<std::string> texts{"a cat", "", "the dog runs", "Straße und Käse"};
        compare(rows_in(server_->embeddings({{"model", "bert"}, {"input", texts}})), expected(texts));
        compare(rows_in(server_->embeddings({{"input", "a cat"}})), expected({"a cat"}));
        std::vector<std::vector<std::int32_t>> ids(2);
        model_->tokenizer->encode("a cat", 0, ids[0]);
        model_->tokenizer->encode("the dog runs", 0, ids[1]);
        compare(rows_in(server_->embeddings({{"input", ids}})), expected({"a cat", "the dog runs"}));
        compare(rows_in(server_->embeddings({{"input", ids[0]}})), expected({"a cat"}));
    }
    void the_answer_is_openais() {
        const HttpAnswer answer = server_->embeddings({{"model", "bert"}, {"input", {"a cat", "a cat"}}});
        QCOMPARE(answer.status, 200);
        const Json json = Json::parse(answer.body);
        QCOMPARE(json.at("object").get<std::string>(), std::string("list"));
        for (const std::string& body : {answer.body, server_->embeddings({{"input", "a cat"}}).body})
            QCOMPARE(Json::parse(body).at("model").get<std::string>(), std::string("bert"));
        QVERIFY(json.at("data").at(1).at("index") == 1 && json.at("usage").at("prompt_tokens") == 8);
    }
    void base64_and_dimensions_are_as_openai_has_them() {
        const HttpAnswer answer = server_->embeddings({{"input", "a cat"}, {"encoding_format", "base64"}, {"dimensions", 16}});
        const auto bytes = decode_base64(Json::parse(answer.body).at("data").at(0).at("embedding").get<std::string>());
        QVERIFY(bytes && bytes->size() == 64);
        std::vector<float> values(16);
        std::memcpy(values.data(), bytes->data(), 64);
        at::Tensor wanted = expected({"a cat"}).narrow(1, 0, 16);
        if (model_->folder.normalize) wanted = normalize_rows(wanted);
        compare(at::tensor(values).view({1, 16}), wanted);
    }
    void text_embeddings_inferences_paths_are_served() {
        const HttpAnswer answer = server_->ask("POST", "/embed", R"({"inputs": ["a cat", "the dog runs"]})");
        compare(rows_of(Json::parse(answer.body)), expected({"a cat", "the dog runs"}));
        QCOMPARE(server_->ask("GET", "/health").status, 200);
        const Json info = Json::parse(server_->ask("GET", "/info").body);
        QCOMPARE(info.at("model_id").get<std::string>(), std::string("bert"));
        QCOMPARE(info.at("models").at(0).at("dim").get<std::int64_t>(), model_->dim());
        QCOMPARE(Json::parse(server_->ask("GET", "/v1/models").body).at("data").at(0).at("id").get<std::string>(), std::string("bert"));
        QVERIFY(server_->metric("faceter_texts_total") >= 2);
        std::string words;
        for (int i = 0; i < 100; ++i) words += "cat ";
        const HttpAnswer whole = server_->ask("POST", "/embed", Json{{"inputs", {"a cat", words}}}.dump());
        QCOMPARE(whole.status, 413);  // cut only where that is asked for
        QVERIFY2(whole.body.find("text 2 has 102 tokens") != std::string::npos, whole.body.c_str());
        QCOMPARE(server_->ask("POST", "/embed", Json{{"inputs", words}, {"truncate", true}}.dump()).status, 200);
        const Json left = {{"inputs", words}, {"truncate", true}, {"truncation_direction", "Left"}};
        QCOMPARE(server_->ask("POST", "/embed", left.dump()).status, 400);  // not another text's vector
        QCOMPARE(server_->ask("POST", "/embed", R"({"inputs": "a cat", "truncation_direction": "Left"})").status, 200);
    }
    void both_kinds_of_clients_get_the_same_vectors_to_the_bit() {
        Json texts = Json::array();
        for (int i = 0; i < 20; ++i) texts.push_back(fmt::format("the dog runs {} times over an old bridge", i));
        const Json one = Json::parse(server_->embeddings({{"input", texts}}).body).at("data"),
                   other = Json::parse(server_->ask("POST", "/embed", Json{{"inputs", texts}}.dump()).body);
        for (std::size_t i = 0; i < texts.size(); ++i) QCOMPARE(other.at(i), one.at(i).at("embedding"));
    }
    void text_embeddings_inferences_clients_may_ask_for_fewer_dimensions() {
        const Json request = {{"inputs", {"a cat"}}, {"dimensions", 16}, {"normalize", true}, {"prompt_name", nullptr}};
        compare(rows_of(Json::parse(server_->ask("POST", "/embed", request.dump()).body)),
                normalize_rows(expected({"a cat"}).narrow(1, 0, 16)));
        QCOMPARE(server_->ask("POST", "/embed", R"({"inputs": "a cat", "dimensions": 100000})").status, 400);
    }
    void a_prompt_is_chosen_by_the_models_name_or_by_itself() {
        const TemporaryDirectory folder;
        const fs::path model = folder.path() / "prompted";
        fs::copy(tiny_model(), model, fs::copy_options::recursive);
        fs::remove(model / "config_sentence_transformers.json");
        write_file_atomic(model / "config_sentence_transformers.json", Json{{"prompts", {{"query", "search query: "}}}}.dump());
        const Server server({}, QProcessEnvironment::systemEnvironment(), model.string());
        Route route;
        route.instruction = "search query: ";
        const std::string_view text = "a cat";
        const at::Tensor wanted = embed_texts(*model_, {&text, 1}, route);
        compare(rows_in(server.embeddings({{"model", "prompted:query"}, {"input", "a cat"}})), wanted);
        compare(rows_of(Json::parse(server.ask("POST", "/embed", R"({"inputs": ["a cat"], "prompt_name": "query"})").body)), wanted);
        compare(rows_in(server.embeddings({{"model", "prompted"}, {"input", "a cat"}})), expected({"a cat"}));
        const std::vector<std::int32_t> ids{1, 2};
        const HttpAnswer refused = server.embeddings({{"model", "prompted:query"}, {"input", ids}});  // not the vectors without it
        QCOMPARE(refused.status, 400);
        QVERIFY2(refused.body.find("search query: ") != std::string::npos, refused.body.c_str());
        QCOMPARE(server.embeddings({{"model", "prompted"}, {"input", ids}}).status, 200);
        QCOMPARE(Json::parse(server.ask("GET", "/v1/models").body).at("data").at(1).at("id").get<std::string>(),
                 std::string("prompted:query"));
    }
    void one_resident_mixture_serves_all_its_tasks() {
        const TemporaryDirectory folder;
        const RunDirectory run =
            served_run(folder.path(),
                       "tasks:\n  retrieval:\n    instructions: {query: \"search query: \", document: \"search document: \"}\n"
                       "    train: [{source: file, path: pairs.jsonl}]\nvariants: {MoTE: {method: mote}}\n");
        const auto model = open_run_model(run);
        const Server server({}, QProcessEnvironment::systemEnvironment(), run.folder().string());
        const std::vector<std::string_view> texts{"a cat", "the dog runs"};
        at::Tensor before;
        for (const Role role : {Role::query, Role::document}) {
            const std::string name = run.info().id + ":retrieval." + std::string(role_name(role));
            const at::Tensor found =
                rows_in(server.embeddings({{"model", name}, {"input", std::vector<std::string>(texts.begin(), texts.end())}}));
            compare(found, embed_texts(*model, texts, model->route("retrieval", role)));
            if (before.defined()) QVERIFY(max_difference(found, before) > 1e-4);
            before = found;
        }
    }
    void prefixes_are_had_of_a_run_that_was_trained_for_them_alone() {
        const TemporaryDirectory folder;
        const std::string text =
            "tasks:\n  retrieval:\n    train: [{source: file, path: pairs.jsonl}]\nvariants: {IC: {method: instruction}}\n";
        const auto environment = QProcessEnvironment::systemEnvironment();
        for (const bool trained : {true, false}) {
            make_directories(folder.path() / (trained ? "trained" : "whole"));
            const RunDirectory run = served_run(folder.path() / (trained ? "trained" : "whole"),
                                                text + (trained ? "objective: {method: infonce, matryoshka_dims: [32, 16]}\n" : ""));
            const Server server({}, environment, run.folder().string());
            const std::int64_t dim = model_->dim();
            QCOMPARE(server.embeddings({{"input", "a cat"}, {"dimensions", dim}}).status, 200);
            QCOMPARE(server.embeddings({{"input", "a cat"}, {"dimensions", dim + 1}}).status, 400);
            for (const int prefix : {16, 7}) {  // any, not those of the training alone
                const HttpAnswer answer = server.embeddings({{"input", "a cat"}, {"dimensions", prefix}});
                QCOMPARE(answer.status, trained ? 200 : 400);
                if (trained) compare(rows_in(answer).norm(2, -1).view({1, 1}), at::ones({1, 1}));
                if (!trained) QVERIFY(answer.body.find(fmt::format("so {} can be had", dim)) != std::string::npos);
                QCOMPARE(server.ask("POST", "/embed", Json{{"inputs", "a cat"}, {"dimensions", prefix}}.dump()).status, answer.status);
            }
            const Json info = Json::parse(server.ask("GET", "/info").body);
            QCOMPARE(info.at("models").at(0).at("matryoshka_dims").size(), std::size_t{trained ? 2u : 0u});
        }
    }
    void a_connection_serves_one_request_after_another() {
        HttpClient client(server_->port);
        for (int i = 0; i < 5; ++i) {
            const std::string text = "text number " + std::to_string(i);
            client.ask("POST", "/v1/embeddings", Json{{"input", text}}.dump());
            compare(rows_in(client.read()), expected({text}));
        }
    }
    void what_is_wrong_is_said_and_ends_nothing_data() {
        QTest::addColumn<QByteArray>("body");
        QTest::addColumn<int>("status");
        QTest::newRow("no JSON") << QByteArray("{not json") << 400;
        QTest::newRow("no object") << QByteArray("[1]") << 400;
        QTest::newRow("invalid UTF-8") << QByteArray("{\"input\": \"\xff\xfe\xc3\"}") << 400;
        QTest::newRow("deep nesting") << QByteArray(5000, '[') << 400;
        QTest::newRow("no input") << QByteArray("{}") << 400;
        QTest::newRow("empty list") << QByteArray("{\"input\": []}") << 400;
        QTest::newRow("a number") << QByteArray("{\"input\": 7}") << 400;
        QTest::newRow("mixed list") << QByteArray("{\"input\": [\"a\", [1, 2]]}") << 400;
        QTest::newRow("foreign token") << QByteArray("{\"input\": [1, 99999999]}") << 400;
        QTest::newRow("negative token") << QByteArray("{\"input\": [-1]}") << 400;
        QTest::newRow("dimensions") << QByteArray("{\"input\": \"a\", \"dimensions\": 100000}") << 400;
        QTest::newRow("half a dimension") << QByteArray("{\"input\": \"a\", \"dimensions\": 1.5}") << 400;
        QTest::newRow("format") << QByteArray("{\"input\": \"a\", \"encoding_format\": \"hex\"}") << 400;
        QTest::newRow("model") << QByteArray("{\"input\": \"a\", \"model\": \"other\"}") << 404;
        QTest::newRow("prompt") << QByteArray("{\"input\": \"a\", \"model\": \"bert:none\"}") << 404;
        QTest::newRow("too many texts") << "{\"input\": [" + QByteArray("\"a\",").repeated(2048) + "\"a\"]}" << 413;
        QTest::newRow("too large") << "{\"input\": \"" + QByteArray(200'000, 'a') + "\"}" << 413;
    }
    void what_is_wrong_is_said_and_ends_nothing() {
        QFETCH(QByteArray, body);
        QFETCH(int, status);
        const HttpAnswer answer = server_->ask("POST", "/v1/embeddings", body.toStdString());
        QCOMPARE(answer.status, status);
        QVERIFY(!Json::parse(answer.body).at("error").at("message").get<std::string>().empty());
        QCOMPARE(server_->embeddings({{"input", "a cat"}}).status, 200);
    }
    void a_text_with_a_token_that_the_model_has_no_embedding_for_is_answered_400() {
        const TemporaryDirectory folder;
        fs::copy(tiny_model(), folder.path() / "model", fs::copy_options::recursive);
        const fs::path file = folder.path() / "model/tokenizer_config.json";
        Json config = read_json(file);
        config["extra_special_tokens"] = {"[X1]"};
        write_file_atomic(file, config.dump());
        const Server server({}, QProcessEnvironment::systemEnvironment(), (folder.path() / "model").string());
        const HttpAnswer refused = server.embeddings({{"input", {"a cat", "a [X1]"}}});
        QCOMPARE(refused.status, 400);
        QVERIFY2(refused.body.find("has the token '[X1]' (id ") != std::string::npos, refused.body.c_str());
        compare(rows_in(server.embeddings({{"input", "a cat"}})), expected({"a cat"}));
    }
    void what_is_no_http_is_answered_400_or_closed() {
        HttpClient client(server_->port);
        client.send("this is no request\r\n\r\n");
        QCOMPARE(client.read().status, 400);
        HttpClient header(server_->port);
        header.send("GET /health HTTP/1.1\r\nX: " + std::string(100'000, 'x') + "\r\n\r\n");
        QCOMPARE(header.read().status, 431);
        QCOMPARE(server_->ask("GET", "/nothing").status, 404);
        const HttpAnswer wrong_method = server_->ask("GET", "/embed");
        QCOMPARE(wrong_method.status, 405);
        QCOMPARE(wrong_method.headers.at("allow"), std::string("POST"));
    }
    void head_is_answered_as_get_without_the_body() {
        HttpClient client(server_->port);
        client.ask("HEAD", "/health");
        client.ask("GET", "/v1/models");
        const HttpAnswer head = client.read(false);
        QCOMPARE(head.status, 200);
        QCOMPARE(head.headers.at("content-length"), std::string("2"));
        const HttpAnswer next = client.read();
        QCOMPARE(next.status, 200);
        QVERIFY(Json::parse(next.body).contains("data"));
    }
    void a_client_of_http_1_0_is_told_whether_its_connection_stays() {
        HttpClient client(server_->port);
        for (int i = 0; i < 2; ++i) {
            client.send("GET /health HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
            const HttpAnswer answer = client.read();
            QCOMPARE(answer.status, 200);
            QCOMPARE(answer.headers.at("connection"), std::string("keep-alive"));
        }
        client.send("GET /health HTTP/1.0\r\n\r\n");
        QCOMPARE(client.read().status, 200);
        QVERIFY(client.is_closed_by_server());
    }
    void a_client_of_http_1_0_is_not_told_to_go_on() {
        HttpClient client(server_->port);
        client.send("POST /embed HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 19\r\n\r\n{\"inputs\": \"a cat\"}");
        QCOMPARE(client.read().status, 200);
    }
    void a_body_whose_end_cannot_be_told_is_not_taken_for_the_next_request() {
        HttpClient client(server_->port);
        client.send(
            "POST /embed HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip\r\n\r\nGET /health HTTP/1.1\r\nHost: localhost\r\n\r\n");
        const HttpAnswer refused = client.read();
        QCOMPARE(refused.status, 400);
        QCOMPARE(refused.headers.at("connection"), std::string("close"));
        QCOMPARE(client.read().status, 0);
    }
    void chunked_bodies_and_whole_addresses_are_read() {
        HttpClient client(server_->port);
        client.send("POST http://localhost/v1/embeddings?x=1 HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n");
        client.send("a\r\n{\"input\": \r\n8\r\n\"a cat\"}\r\n0\r\n\r\n");
        compare(rows_in(client.read()), expected({"a cat"}));
        client.send("GET HTTP://localhost/health HTTP/1.1\r\nHost: localhost\r\n\r\n");
        QCOMPARE(client.read().status, 200);
    }
    void a_chunked_body_takes_the_room_that_it_may_need_while_it_is_read_alone() {
        const Server large(QStringList{"--max-body", "500000000"});
        QCOMPARE(ask_chunked(large, {{"input", "a cat"}}), 200);
        const Server server(QStringList{"--max-body", "200000000", "--max-texts", "100000"});
        HttpClient busy(server.port);
        busy.send(chunked(long_work(much)));
        QTRY_VERIFY_WITH_TIMEOUT(server.metric("faceter_waiting_texts") > 0, patience_ms);
        QCOMPARE(ask_chunked(server, {{"input", "a cat"}}), 200);
    }
    void a_log_that_cannot_be_written_ends_nothing() {
        const Server server({}, QProcessEnvironment::systemEnvironment(), tiny_model(), "/dev/full");
        QCOMPARE(server.embeddings({{"input", "a cat"}}).status, 200);
        QCOMPARE(server.ask("GET", "/health").status, 200);
        compare(rows_in(server.embeddings({{"input", "the dog runs"}})), expected({"the dog runs"}));
    }
    void a_long_request_to_one_model_keeps_no_other_waiting() {
        const TemporaryDirectory folder;
        fs::copy(tiny_model(), folder.path() / "other", fs::copy_options::recursive);
        const Server server(QStringList{"--max-texts", "100000", QString::fromStdString((folder.path() / "other").string())});
        HttpClient busy(server.port);
        Json work = long_work(much);
        work["model"] = "bert";
        busy.ask("POST", "/v1/embeddings", work.dump());
        QTRY_VERIFY_WITH_TIMEOUT(server.metric("faceter_waiting_texts") > 0, patience_ms);
        compare(rows_in(server.embeddings({{"model", "other"}, {"input", "a cat"}})), expected({"a cat"}));
        QVERIFY(server.metric("faceter_waiting_texts") > 0);  // the long one is under way still
        QCOMPARE(busy.read().status, 200);
    }
    void a_taken_port_is_said() {
        QProcess second;
        second.start(FACETER_BINARY_DIR "/bin/faceter-worker",
                     {"serve", QString::fromStdString(tiny_model()), "--port", QString::number(server_->port)});
        QVERIFY(second.waitForFinished(patience_ms));
        QCOMPARE(second.exitCode(), 2);
        QVERIFY(second.readAllStandardError().contains("choose another --port"));
    }
    void an_address_of_another_machine_is_said_to_be_that() {
        QProcess elsewhere;
        elsewhere.start(FACETER_BINARY_DIR "/bin/faceter-worker",
                        {"serve", QString::fromStdString(tiny_model()), "--host", "192.0.2.1", "--port", "0"});
        QVERIFY(elsewhere.waitForFinished(patience_ms));
        QCOMPARE(elsewhere.exitCode(), 2);
        QVERIFY(elsewhere.readAllStandardError().contains("--host 192.0.2.1: it is no address of this machine"));
    }
    void many_clients_at_once_get_each_its_own() {
        std::vector<std::thread> clients;
        std::vector<at::Tensor> found(16);
        const auto text = [](int c, int i) {
            return "client " + std::to_string(c) + " asks " + std::string(static_cast<std::size_t>(i), 'z');
        };
        for (int c = 0; c < 16; ++c)
            clients.emplace_back([&, c] {
                HttpClient client(server_->port);
                std::vector<at::Tensor> rows;
                for (int i = 0; i < 8; ++i) {
                    client.ask("POST", "/v1/embeddings", Json{{"input", text(c, i)}}.dump());
                    rows.push_back(rows_in(client.read()));
                }
                found[static_cast<std::size_t>(c)] = at::cat(rows);
            });
        for (std::thread& client : clients) client.join();
        for (int c = 0; c < 16; ++c) {
            std::vector<std::string> texts;
            for (int i = 0; i < 8; ++i) texts.push_back(text(c, i));
            compare(found[static_cast<std::size_t>(c)], expected(texts));
        }
    }
    void clients_that_are_slow_or_stop_half_way_cost_nobody_else() {
        const Server server(QStringList{"--read-timeout", "1"});
        HttpClient half_header(server.port), half_body(server.port), silent(server.port);
        half_header.send("POST /v1/embeddings HTTP/1.1\r\nHost: lo");
        half_body.send("POST /v1/embeddings HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{\"input\": ");
        QCOMPARE(server.embeddings({{"input", "a cat"}}).status, 200);
        for (HttpClient* late : {&half_header, &half_body}) {
            const HttpAnswer told = late->read();
            QCOMPARE(told.status, 408);
            QCOMPARE(told.headers.at("connection"), std::string("close"));
            QVERIFY2(told.body.find("in time") != std::string::npos, told.body.c_str());
            QVERIFY(late->is_closed_by_server());
        }
        QCOMPARE(server.metric(R"(faceter_requests_total{path="/v1/embeddings",status="408"})"), 2.0);  // its line was read
        silent.ask("GET", "/health");                                                                   // nothing was asked of it until now
        QCOMPARE(silent.read().status, 200);
    }
    void a_request_that_comes_byte_by_byte_has_no_longer_than_others() {
        const Server server(QStringList{"--read-timeout", "0.5"});
        HttpClient trickling(server.port);
        trickling.send("POST /v1/embeddings HTTP/1.1\r\nHost: localhost\r\nX: ");
        while (!trickling.has_answer()) {
            trickling.send("a");
            QCOMPARE(server.ask("GET", "/health").status, 200);
        }
        QCOMPARE(trickling.read().status, 408);
    }
    void what_http_itself_is_refused_for_is_counted_and_logged() {
        const Server server;
        HttpClient large(server.port), strange(server.port);
        large.send("POST /embed HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n");
        QCOMPARE(large.read().status, 413);
        strange.send("secret words\r\n\r\n");
        QCOMPARE(strange.read().status, 400);
        QCOMPARE(server.metric(R"(faceter_requests_total{path="/embed",status="413"})"), 1.0);
        QCOMPARE(server.metric(R"(faceter_requests_total{path="other",status="400"})"), 1.0);
        const std::string log = server.log();
        QVERIFY2(log.find(R"("status":413)") != std::string::npos, log.c_str());
        QVERIFY2(log.find("secret") == std::string::npos, log.c_str());
    }
    void a_pass_takes_as_many_tokens_as_it_is_told_to() {
        const Json texts = {"a cat", "a dog", "the river", "an old bridge"};
        const Server one(QStringList{"--batch-tokens", "1"}), all(QStringList{"--batch-tokens", "4096"});
        const Json apart = Json::parse(one.embeddings({{"input", texts}}).body),
                   together = Json::parse(all.embeddings({{"input", texts}}).body);
        QCOMPARE(one.metric("faceter_batches_total"), 4.0);
        QCOMPARE(all.metric("faceter_batches_total"), 1.0);
        for (std::size_t i = 0; i < texts.size(); ++i)
            QVERIFY(max_difference(at::tensor(apart["data"][i]["embedding"].get<std::vector<float>>()),
                                   at::tensor(together["data"][i]["embedding"].get<std::vector<float>>())) < 1e-6);
    }
    void a_compressed_body_is_named_as_what_it_is() {
        const HttpAnswer answer = server_->ask("POST", "/embed", "\x1f\x8b", "Content-Encoding: gzip\r\n");
        QCOMPARE(answer.status, 415);
        QVERIFY2(answer.body.find("Content-Encoding") != std::string::npos, answer.body.c_str());
        QCOMPARE(server_->ask("POST", "/embed", R"({"inputs": "a"})", "Content-Encoding: identity\r\n").status, 200);
    }
    void a_model_is_told_of_by_its_name() {
        const Json all = Json::parse(server_->ask("GET", "/v1/models").body).at("data");
        const std::string id = all.at(0).at("id").get<std::string>();
        QCOMPARE(Json::parse(server_->ask("GET", "/v1/models/" + id).body), all.at(0));
        QCOMPARE(Json::parse(server_->ask("GET", fmt::format("/v1/models/%{:02x}{}", id.at(0), id.substr(1))).body), all.at(0));
        QCOMPARE(server_->ask("GET", "/v1/models/" + id + "x").status, 404);
        QCOMPARE(server_->ask("GET", "/v1/models/" + id + "%").status, 404);
        QCOMPARE(server_->ask("GET", "/v1/models/" + id + "%zz").status, 404);
        QCOMPARE(server_->ask("POST", "/v1/models/" + id).status, 405);
    }
    void connections_that_are_opened_and_dropped_leave_nothing() {
        for (int i = 0; i < 10'000; ++i) {
            HttpClient client(server_->port);
            if (i % 3 == 0) client.send("POST /v1/emb");
        }
        QCOMPARE(server_->embeddings({{"input", "a cat"}}).status, 200);
    }
    void beyond_the_bound_of_the_queue_a_request_is_sent_away() {
        const Server server(QStringList{"--max-waiting", "4", "--max-texts", "100000"});
        HttpClient busy(server.port);
        busy.ask("POST", "/v1/embeddings", long_work(much).dump());
        QTRY_VERIFY_WITH_TIMEOUT(server.metric("faceter_waiting_texts") > 0, patience_ms);
        const HttpAnswer refused = server.embeddings({{"input", "a cat"}});
        QCOMPARE(refused.status, 429);
        QCOMPARE(refused.headers.at("retry-after"), std::string("1"));
        QCOMPARE(Json::parse(refused.body).at("error").at("type").get<std::string>(), std::string("rate_limit_error"));
        const HttpAnswer answer = busy.read();
        QVERIFY2(answer.status == 200, answer.body.c_str());
        QCOMPARE(server.embeddings({{"input", "a cat"}}).status, 200);
    }
    void a_client_that_hangs_up_is_not_worked_for() {
        const Server server(QStringList{"--max-texts", "100000"});
        {
            HttpClient gone(server.port);
            gone.ask("POST", "/v1/embeddings", long_work(much).dump());
            QTRY_VERIFY_WITH_TIMEOUT(server.metric("faceter_waiting_texts") > 0, patience_ms);
        }
        QTRY_COMPARE_WITH_TIMEOUT(server.metric("faceter_waiting_texts"), 0.0, patience_ms);
        QCOMPARE(server.metric("faceter_dropped_requests_total"), 1.0);
        QCOMPARE(server.metric("faceter_texts_total"), 0.0);
    }
    void the_end_answers_what_was_asked_before_data() {
        QTest::addColumn<int>("signal");
        QTest::newRow("SIGTERM") << SIGTERM;
        QTest::newRow("SIGHUP") << SIGHUP;
        QTest::newRow("Ctrl-C") << SIGINT;
    }
    void the_end_answers_what_was_asked_before() {
        QFETCH(int, signal);
        Server server(QStringList{"--max-texts", "100000"});
        HttpClient busy(server.port), idle(server.port);
        busy.ask("POST", "/v1/embeddings", long_work(much).dump());
        QTRY_VERIFY_WITH_TIMEOUT(server.metric("faceter_waiting_texts") > 0, patience_ms);
        server.terminate(signal);
        const HttpAnswer answer = busy.read();
        QVERIFY2(answer.status == 200, answer.body.c_str());
        QCOMPARE(Json::parse(answer.body).at("data").size(), std::size_t{much});
        QVERIFY(idle.is_closed_by_server());
        QCOMPARE(server.exit_code(), 0);
    }
    void an_address_that_others_can_reach_needs_a_key() {
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.remove("FACETER_API_KEY");
        QProcess open;
        open.setProcessEnvironment(environment);
        open.start(FACETER_BINARY_DIR "/bin/faceter-worker",
                   {"serve", QString::fromStdString(tiny_model()), "--host", "0.0.0.0", "--port", "0"});
        QVERIFY(open.waitForFinished(patience_ms));
        QCOMPARE(open.exitCode(), 2);
        QVERIFY(open.readAllStandardError().contains("FACETER_API_KEY"));
        environment.insert("FACETER_API_KEY", "secret");
        const Server server(QStringList{"--host", "0.0.0.0"}, environment);
        QCOMPARE(server.ask("GET", "/health").status, 200);
        const HttpAnswer without_key = server.embeddings({{"input", "a cat"}});
        QCOMPARE(without_key.status, 401);
        QCOMPARE(without_key.headers.at("www-authenticate"), std::string("Bearer"));
        QCOMPARE(server.ask("GET", "/metrics", "", "Authorization: Bearer secre\r\n").status, 401);
        for (const std::string scheme : {"Bearer", "bearer", "BEARER"})
            QCOMPARE(server.ask("POST", "/v1/embeddings", R"({"input": "a cat"})", "Authorization: " + scheme + " secret\r\n").status, 200);
        for (const std::string wrong : {"Bearersecret", "Basic secret", "Bearer", "secret"})
            QCOMPARE(server.ask("GET", "/metrics", "", "Authorization: " + wrong + "\r\n").status, 401);
    }
    void the_log_has_a_line_of_json_for_a_request_and_none_of_its_text() {
        Server server;
        QCOMPARE(server.embeddings({{"input", "a word that nobody else has"}}).status, 200);
        server.terminate();
        QCOMPARE(server.exit_code(), 0);
        const std::string log = server.log();
        const Json line = Json::parse(log.substr(0, log.find('\n')));
        QCOMPARE(line.at("status").get<int>(), 200);
        QCOMPARE(line.at("texts").get<int>(), 1);
        QVERIFY(line.at("tokens").get<int>() > 0);
        QVERIFY(log.find("nobody") == std::string::npos);
    }
    void mteb_as_a_client_gets_the_scores_of_evaluate() {
        NEED_MINILM();
        const char* python = std::getenv("FACETER_PEERS");
        if (!python) QSKIP("no Python with mteb (FACETER_PEERS)");
        const TemporaryDirectory folder;
        const fs::path sts = folder.path() / "sts", retrieval = folder.path() / "retrieval", out = folder.path() / "scores.json";
        write_local_sets(sts, retrieval);
        const Server server({}, QProcessEnvironment::systemEnvironment(), minilm_folder().string());
        const Json models = Json::parse(server.ask("GET", "/v1/models").body);
        const ChildResult client = run_child(
            {python, FACETER_SOURCE_DIR "/tests/worker/peer_mteb_client.py", fmt::format("http://127.0.0.1:{}", server.port),
             models.at("data").at(0).at("id").get<std::string>(), (sts / "test.jsonl").string(), retrieval.string(), out.string()},
            std::chrono::seconds(500), 1 << 20);
        if (client.exit_code == 3) QSKIP("the peers' Python has no mteb");
        QVERIFY2(client.exit_code == 0, client.last_lines.c_str());
        const Json theirs = read_json(out);
        for (const auto& [task, set] : {std::pair("LocalPairs", sts), std::pair("LocalRetrieval", retrieval)}) {
            const double own = score_of(set) / 100, mteb = theirs.at(task).get<double>();
            QVERIFY2(std::abs(own - mteb) < 1e-4, fmt::format("{}: {} here, {} by mteb", task, own, mteb).c_str());
            QVERIFY2(own > 0.05 && own < 0.999, fmt::format("{}: {} says nothing", task, own).c_str());
        }
    }
};

FACETER_TEST(TestServe)
#include "test_serve.moc"
