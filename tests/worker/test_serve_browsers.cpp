#include <fmt/format.h>

#include "support/checkout.h"
#include "worker/embedding_server.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

constexpr const char* work = R"({"input": "a cat"})";

std::string asked_as(const std::string& host, const std::string& origin, const std::string& method, const std::string& body,
                     const std::string& more = "") {
    return fmt::format("{} /v1/embeddings HTTP/1.1\r\nHost: {}\r\n{}{}Content-Length: {}\r\n\r\n{}", method, host,
                       origin.empty() ? "" : "Origin: " + origin + "\r\n", more, body.size(), body);
}

HttpAnswer answer_to(const Server& server, const std::string& request) {
    HttpClient client(server.port);
    client.send(request);
    return client.read();
}

std::string header(const HttpAnswer& answer, const std::string& name) {
    const auto found = answer.headers.find(name);
    return found == answer.headers.end() ? "" : found->second;
}

HttpAnswer preflight_of(const Server& server, const std::string& host, const std::string& origin) {
    return answer_to(server, asked_as(host, origin, "OPTIONS", "",
                                      "Access-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: authorization\r\n"));
}

QProcessEnvironment environment_with(const QString& key) {
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.remove("FACETER_API_KEY");
    if (!key.isEmpty()) environment.insert("FACETER_API_KEY", key);
    return environment;
}

}  // namespace

/// Pages in a browser on the server's machine, as their requests come.
class TestServeBrowsers : public QObject {
    Q_OBJECT
    std::unique_ptr<Server> server_;

  private Q_SLOTS:
    void initTestCase() {
        NEED_SHARED();
        server_ = std::make_unique<Server>(QStringList{}, environment_with(""));
    }

    void a_server_without_a_key_answers_to_loopback_alone_data() {
        QTest::addColumn<QString>("host");
        QTest::addColumn<QString>("origin");
        QTest::addColumn<int>("status");
        for (const char* name : {"127.0.0.1", "127.0.0.1:8080", "127.1.2.3", "localhost", "LocalHost:9000", "localhost.", "app.localhost",
                                 "[::1]:8080", "[::ffff:127.0.0.1]"})
            QTest::addRow("to %s", name) << name << "" << 200;
        for (const char* name :
             {"evil.example", "evil.example:8080", "localhost.evil.example", "127.0.0.1.evil.example", "evillocalhost", "me@localhost",
              "localhost:80:80", "localhost:8x", "10.0.0.1", "0.0.0.0", "[::1", "[::2]", "[127.0.0.1]", "local/host", ":8080"})
            QTest::addRow("to %s", name) << name << "" << 403;
        for (const char* page : {"http://localhost:3000", "https://127.0.0.1", "http://[::1]:8080"})
            QTest::addRow("by %s", page) << "localhost" << page << 200;
        for (const char* page :
             {"https://evil.example", "http://localhost.evil.example", "null", "file://", "http://", "chrome-extension://localhost"})
            QTest::addRow("by %s", page) << "localhost" << page << 403;
        QTest::newRow("a name that leads here now") << "evil.example"
                                                    << "http://evil.example" << 403;
        QTest::newRow("a foreign name from here") << "evil.example"
                                                  << "http://localhost" << 403;
    }
    void a_server_without_a_key_answers_to_loopback_alone() {
        QFETCH(QString, host);
        QFETCH(QString, origin);
        QFETCH(int, status);
        const HttpAnswer answer = answer_to(*server_, asked_as(host.toStdString(), origin.toStdString(), "POST", work));
        QCOMPARE(answer.status, status);
        QCOMPARE(header(answer, "access-control-allow-origin"), status == 200 ? origin.toStdString() : "");
        if (status == 200) return;
        const std::string said = Json::parse(answer.body).at("error").at("message").get<std::string>();
        QVERIFY2(said.find("--allow-host") != std::string::npos, said.c_str());
    }
    void nothing_at_all_is_told_to_a_foreign_page() {
        for (const char* path : {"/info", "/v1/models", "/metrics", "/health", "/nothing"})
            QCOMPARE(answer_to(*server_, fmt::format("GET {} HTTP/1.1\r\nHost: evil.example\r\n\r\n", path)).status, 403);
    }
    void whom_a_request_is_for_is_said_once() {
        const auto ask = [&](const char* head) { return answer_to(*server_, std::string(head) + "\r\n\r\n").status; };
        QCOMPARE(ask("GET /info HTTP/1.1\r\nHost: localhost\r\nHost: evil.example"), 400);
        QCOMPARE(ask("GET /info HTTP/1.1"), 400);
        QCOMPARE(ask("GET /info HTTP/1.1\r\nHost:"), 400);
        QCOMPARE(ask("GET http:///info HTTP/1.1\r\nHost: localhost"), 400);
        QCOMPARE(ask("GET http://evil.example/info HTTP/1.1\r\nHost: localhost"), 403);  // a whole address goes before Host
        QCOMPARE(ask("GET http://localhost/info HTTP/1.1\r\nHost: evil.example"), 200);
        QCOMPARE(ask("GET /info HTTP/1.0"), 200);  // no browser speaks it
    }
    void a_page_from_here_is_told_what_it_may_send() {
        HttpClient client(server_->port);
        client.send(asked_as("localhost", "http://localhost:3000", "OPTIONS", "", "Access-Control-Request-Method: POST\r\n"));
        const HttpAnswer allowed = client.read();
        QCOMPARE(allowed.status, 204);
        QCOMPARE(header(allowed, "access-control-allow-origin"), std::string("http://localhost:3000"));
        QVERIFY(header(allowed, "access-control-allow-methods").find("POST") != std::string::npos);
        QVERIFY(header(allowed, "access-control-allow-headers").starts_with("Authorization"));
        QCOMPARE(header(allowed, "vary"), std::string("Origin"));
        QCOMPARE(header(allowed, "content-length"), std::string());
        client.send(asked_as("localhost", "http://localhost:3000", "POST", work));  // on the same connection
        QCOMPARE(client.read().status, 200);
        const HttpAnswer refused = preflight_of(*server_, "localhost", "https://evil.example");
        QCOMPARE(refused.status, 403);
        QCOMPARE(header(refused, "access-control-allow-origin"), std::string());
        QCOMPARE(answer_to(*server_, asked_as("localhost", "", "OPTIONS", "")).status, 405);
    }
    void a_page_from_here_can_read_what_http_itself_is_refused_for_data() {
        QTest::addColumn<QByteArray>("request");
        QTest::addColumn<int>("status");
        QTest::addColumn<int>("strangers_status");
        const QByteArray head = "POST /v1/embeddings HTTP/1.1\r\nHost: localhost\r\nOrigin: PAGE\r\n";
        QTest::newRow("a body that is too large") << head + "Content-Length: 99999999999\r\n\r\n" << 413 << 413;
        QTest::newRow("a header that is too large") << head + "X: " + QByteArray(100'000, 'x') + "\r\n\r\n" << 431 << 431;
        QTest::newRow("a header that is none") << head + "no header\r\n\r\n" << 400 << 400;
        QTest::newRow("a body of no known end") << head + "Transfer-Encoding: gzip\r\n\r\n" << 400 << 400;
        QTest::newRow("chunks that are none") << head + "Transfer-Encoding: chunked\r\n\r\nzz\r\n"
                                              << 400 << 403;  // known before the body is looked at
    }
    void a_page_from_here_can_read_what_http_itself_is_refused_for() {
        QFETCH(QByteArray, request);
        QFETCH(int, status);
        QFETCH(int, strangers_status);
        for (const QByteArray page : {"http://localhost:3000", "https://evil.example"}) {
            const HttpAnswer answer = answer_to(*server_, QByteArray(request).replace("PAGE", page).toStdString());
            const bool ours = page.contains("localhost");
            QCOMPARE(answer.status, ours ? status : strangers_status);
            QCOMPARE(header(answer, "access-control-allow-origin"), ours ? page.toStdString() : std::string());
            QCOMPARE(header(answer, "vary"), std::string(ours ? "Origin" : ""));
        }
    }
    void other_names_are_allowed_one_by_one() {
        const Server server({"--allow-host", "embed.example.org", "--allow-host", "[fd00::1]"}, environment_with(""));
        QCOMPARE(answer_to(server, asked_as("Embed.Example.org:443", "https://embed.example.org", "POST", work)).status, 200);
        QCOMPARE(answer_to(server, asked_as("[fd00::1]:80", "", "POST", work)).status, 200);
        QCOMPARE(answer_to(server, asked_as("localhost", "", "POST", work)).status, 200);
        QCOMPARE(answer_to(server, asked_as("example.org", "", "POST", work)).status, 403);
        QCOMPARE(preflight_of(server, "embed.example.org", "https://embed.example.org").status, 204);
    }
    void with_a_key_a_page_of_any_site_may_ask() {
        const Server server({}, environment_with("secret"));
        const std::string page = "https://app.example";
        QCOMPARE(preflight_of(server, "evil.example", page).status, 204);  // a browser sends no key with it
        const HttpAnswer without = answer_to(server, asked_as("evil.example", page, "POST", work));
        QCOMPARE(without.status, 401);
        QCOMPARE(header(without, "access-control-allow-origin"), page);  // so that the page can read why
        QCOMPARE(answer_to(server, asked_as("evil.example", page, "POST", work, "Authorization: Bearer secret\r\n")).status, 200);
    }
    void a_key_is_what_stands_in_its_line() {
        const Server server({}, environment_with("secret\n"));
        QCOMPARE(answer_to(server, asked_as("localhost", "", "POST", work, "Authorization: Bearer secret\r\n")).status, 200);
        QProcess broken;
        broken.setProcessEnvironment(environment_with("secret\nand more"));
        broken.start(FACETER_BINARY_DIR "/bin/faceter-worker", {"serve", "--port", "0", QString::fromStdString(tiny_model())});
        QVERIFY(broken.waitForFinished(patience_ms));
        QCOMPARE(broken.exitCode(), 2);
        QVERIFY(broken.readAllStandardError().contains("FACETER_API_KEY: an API key has no blanks"));
    }
    void names_bind_a_server_with_a_key_too() {
        const Server server({"--allow-host", "embed.example.org"}, environment_with("secret"));
        const char* key = "Authorization: Bearer secret\r\n";
        QCOMPARE(answer_to(server, asked_as("embed.example.org", "", "POST", work, key)).status, 200);
        QCOMPARE(answer_to(server, asked_as("evil.example", "", "POST", work, key)).status, 403);
        QCOMPARE(answer_to(server, asked_as("embed.example.org", "", "POST", work)).status, 401);
    }
    void what_is_no_name_of_a_host_is_refused_at_the_start_data() {
        QTest::addColumn<QString>("name");
        for (const char* name : {"*", "https://embed.example.org", "fd00::1", "[fd00::1", "a b"}) QTest::newRow(name) << name;
    }
    void what_is_no_name_of_a_host_is_refused_at_the_start() {
        QFETCH(QString, name);
        QProcess server;
        server.setProcessEnvironment(environment_with(""));
        server.start(FACETER_BINARY_DIR "/bin/faceter-worker",
                     {"serve", "--port", "0", "--allow-host", name, QString::fromStdString(tiny_model())});
        QVERIFY(server.waitForFinished(patience_ms));
        QCOMPARE(server.exitCode(), 2);
        QVERIFY(server.readAllStandardError().contains("no name of a host"));
    }
};

FACETER_TEST(TestServeBrowsers)
#include "test_serve_browsers.moc"
