#include <fmt/format.h>
#include <sys/resource.h>

#include "support/test.h"
#include "text/tokenizer.h"
#include "worker/embedding_server.h"
#include "worker/served_run.h"

using namespace faceter;
using namespace faceter::testing;

/// How many clients the embedding server has room for, clients that end their side, and what some send around a request.
class TestServeClients : public QObject {
    Q_OBJECT
    std::unique_ptr<Server> server_;

  private Q_SLOTS:
    void initTestCase() {
        NEED_SHARED();
        server_ = std::make_unique<Server>();
    }
    void a_client_beyond_those_that_there_is_room_for_is_told_so() {
        const Server server(QStringList{"--max-connections", "2"});
        const HttpClient first(server.port);
        HttpClient second(server.port);
        second.ask("GET", "/health");
        QCOMPARE(second.read().status, 200);
        HttpClient beyond(server.port);
        beyond.ask("POST", "/v1/embeddings", R"({"input": "a cat"})");
        const HttpAnswer told = beyond.read();
        QCOMPARE(told.status, 503);
        QCOMPARE(told.headers.at("retry-after"), std::string("1"));
        QCOMPARE(told.headers.at("connection"), std::string("close"));
        QVERIFY2(told.body.find("as many clients as it takes") != std::string::npos, told.body.c_str());
        second.ask("GET", "/metrics");
        const std::string metrics = second.read().body;
        QVERIFY2(metrics.find(R"(faceter_requests_total{path="/v1/embeddings",status="503"} 1)") != std::string::npos, metrics.c_str());
    }
    void a_client_finds_room_when_another_has_gone() {
        const Server server(QStringList{"--max-connections", "1"});
        for (int i = 0; i < 3; ++i) {
            QTRY_COMPARE_WITH_TIMEOUT(server.open_connections(), std::size_t{0}, patience_ms);
            HttpClient only(server.port), beyond(server.port);
            only.ask("GET", "/health");
            QCOMPARE(only.read().status, 200);
            beyond.ask("GET", "/health");
            QCOMPARE(beyond.read().status, 503);
        }
    }
    void there_is_room_for_more_clients_than_a_shell_allows_files() {
        rlimit files{};
        QCOMPARE(::getrlimit(RLIMIT_NOFILE, &files), 0);
        if (files.rlim_max < 1024) QSKIP("the system allows too few files");
        const rlimit few{64, files.rlim_max};
        QCOMPARE(::setrlimit(RLIMIT_NOFILE, &few), 0);
        const auto server = std::make_unique<Server>();
        QCOMPARE(::setrlimit(RLIMIT_NOFILE, &files), 0);
        std::vector<std::unique_ptr<HttpClient>> clients;
        for (int i = 0; i < 100; ++i) clients.push_back(std::make_unique<HttpClient>(server->port));
        QTRY_COMPARE_WITH_TIMEOUT(server->open_connections(), clients.size(), patience_ms);
    }
    void a_client_that_has_ended_its_side_gets_its_answers_data() {
        QTest::addColumn<int>("requests");
        QTest::newRow("one request") << 1;
        QTest::newRow("several at once") << 3;
    }
    void a_client_that_has_ended_its_side_gets_its_answers() {
        QFETCH(int, requests);
        const std::string body = R"({"input": "a cat"})";
        HttpClient client(server_->port);
        for (int i = 0; i < requests; ++i)
            client.send(fmt::format("POST /v1/embeddings HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{}", body.size(), body));
        client.end_own_side();
        const std::string wanted = server_->embeddings({{"input", "a cat"}}).body;
        for (int i = 0; i < requests; ++i) {
            HttpAnswer answer = client.read();
            while (answer.status == 100) answer = client.read();
            QCOMPARE(answer.status, 200);
            QCOMPARE(answer.body, wanted);
        }
        QVERIFY(client.is_closed_by_server());
    }
    /// As some clients send behind a body (RFC 9112, section 2.2).
    void empty_lines_in_front_of_a_request_are_passed_over() {
        HttpClient client(server_->port);
        for (const char* lines : {"\r\n", "\r\n\r\n", ""}) {
            client.send(lines);
            client.ask("POST", "/embed", R"({"inputs": "a cat"})");
            client.send("\r\n");
            QCOMPARE(client.read().status, 200);
        }
        client.send("\r");
        client.send("\nGET /health HTTP/1.1\r\nHost: localhost\r\n\r\n");
        QCOMPARE(client.read().status, 200);
        client.send("\n\r\n\r\n");
        QCOMPARE(client.read().status, 400);
    }
    /// As the tokenizer cuts the same text.
    void token_ids_beyond_the_models_length_keep_the_token_that_ends_a_text() {
        const Server server(QStringList{"--max-length", "8"});
        const std::string text = "the dog runs and a cat sleeps on the mat by the river";
        std::vector<std::int32_t> ids;
        load_tokenizer(tiny_model())->encode(text, 0, ids);
        QVERIFY(ids.size() > 8);
        const auto vector_of = [&](const Json& input) {
            return Json::parse(server.embeddings({{"input", input}}).body).at("data").at(0).at("embedding");
        };
        QCOMPARE(vector_of(ids).dump(), vector_of(text).dump());
        ids.pop_back();  // without that token it is no whole text: its beginning counts
        const std::vector<std::int32_t> begin(ids.begin(), ids.begin() + 8);
        QCOMPARE(vector_of(ids).dump(), vector_of(begin).dump());
        QVERIFY(vector_of(ids) != vector_of(text));
    }
    void token_ids_are_cut_on_the_side_on_which_the_tokenizer_cuts() {
        const TemporaryDirectory folder;
        const fs::path model = folder.path() / "model";
        fs::copy(tiny_model(), model, fs::copy_options::recursive);
        Json config = Json::parse(read_file(model / "tokenizer_config.json"));
        config["truncation_side"] = "left";
        write_file_atomic(model / "tokenizer_config.json", config.dump());
        const Server server(QStringList{"--max-length", "8"}, QProcessEnvironment::systemEnvironment(), model.string());
        const std::string text = "the dog runs and a cat sleeps on the mat by the river";
        std::vector<std::int32_t> ids, cut;
        load_tokenizer(model)->encode(text, 0, ids);
        load_tokenizer(model)->encode(text, 8, cut);
        QVERIFY(ids.size() > 8);
        QCOMPARE(cut.front(), ids.front());
        QCOMPARE(cut.back(), ids.back());
        QCOMPARE(cut[cut.size() - 2], ids[ids.size() - 2]);
        const auto vector_of = [&](const Json& input) {
            return Json::parse(server.embeddings({{"input", input}}).body).at("data").at(0).at("embedding").dump();
        };
        QCOMPARE(vector_of(ids), vector_of(cut));
        QCOMPARE(vector_of(ids), vector_of(text));
        for (const auto& side : {std::pair<const char*, int>{"Left", 200}, {"Right", 400}, {"Middle", 400}}) {
            const Json asked = {{"inputs", text}, {"truncate", true}, {"truncation_direction", side.first}};
            const HttpAnswer answer = server.ask("POST", "/embed", asked.dump());
            QVERIFY2(answer.status == side.second, answer.body.c_str());
            if (side.second == 200) QCOMPARE(Json::parse(answer.body).at(0).dump(), vector_of(text));
        }
        ids.erase(ids.begin());  // no whole text: its end counts
        ids.pop_back();
        QCOMPARE(vector_of(ids), vector_of(std::vector<std::int32_t>(ids.end() - 8, ids.end())));
    }
    void passes_of_a_model_with_a_router_are_as_large_as_was_said_and_are_counted() {
        const TemporaryDirectory folder;
        std::string tasks = "tasks:\n";
        for (const char* task : {"nature", "music"})
            tasks += fmt::format("  {}: {{type: retrieval, train: [{{source: file, path: pairs.jsonl}}]}}\n", task);
        const RunDirectory run = served_run(
            folder.path(), tasks + "variants: {RR: {method: router_retriever, rank: 2, targets: [all-linear], library_examples: 8}}\n");
        const Server server(QStringList{"--batch-tokens", "16"}, QProcessEnvironment::systemEnvironment(), run.folder().string());
        Json texts = Json::array();
        for (int i = 0; i < 20; ++i) texts.push_back("a question of number " + std::to_string(i));
        const HttpAnswer answer = server.ask("POST", "/embed", Json{{"inputs", texts}, {"prompt_name", "nature.query"}}.dump());
        QVERIFY2(answer.status == 200, answer.body.c_str());
        QVERIFY(server.metric("faceter_batches_total") >= 10);
    }
    /// As "$KEY_FILE" of a shell that has none: a server without a key is not what was asked for.
    void an_empty_word_for_the_file_of_the_key_starts_no_server() {
        const ChildResult result =
            run_child({FACETER_BINARY_DIR "/bin/faceter-worker", "serve", tiny_model(), "--port", "0", "--api-key-file", ""},
                      std::chrono::seconds(20), 1 << 20);
        QCOMPARE(result.exit_code, 2);
        QVERIFY2(result.last_lines.find("--api-key-file: an empty word was given") != std::string::npos, result.last_lines.c_str());
    }
    void a_model_with_a_colon_and_no_prompt_behind_it_is_not_served_without_one() {
        const HttpAnswer answer = server_->embeddings({{"model", "bert:"}, {"input", "a cat"}});
        QCOMPARE(answer.status, 404);
        QVERIFY2(answer.body.find("no prompt behind the ':' of 'bert:'") != std::string::npos, answer.body.c_str());
        QCOMPARE(server_->embeddings({{"model", "bert"}, {"input", "a cat"}}).status, 200);
    }
    void a_transfer_coding_that_is_not_undone_is_refused() {
        HttpClient client(server_->port);
        client.send("POST /embed HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip, chunked\r\n\r\n2\r\n\x1f\x8b\r\n0\r\n\r\n");
        const HttpAnswer coded = client.read();
        QCOMPARE(coded.status, 501);
        QVERIFY2(coded.body.find("Transfer-Encoding") != std::string::npos, coded.body.c_str());
    }
};

FACETER_TEST(TestServeClients)
#include "test_serve_clients.moc"
