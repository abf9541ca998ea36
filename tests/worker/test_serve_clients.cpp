#include <fmt/format.h>
#include <sys/resource.h>

#include "support/test.h"
#include "worker/embedding_server.h"

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
