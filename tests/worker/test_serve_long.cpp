#include <fmt/format.h>

#include <fstream>
#include <sstream>

#include "support/test.h"
#include "worker/embedding_server.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

std::string repeated(std::string_view words, std::size_t bytes) {
    std::string text;
    while (text.size() < bytes) text += words;
    text.resize(bytes);
    return text;
}

Json rows_of(const HttpAnswer& answer) {
    Json rows = Json::array();
    const Json body = Json::parse(answer.body);
    for (const Json& one : body.at("data")) rows.push_back(one.at("embedding"));
    return rows;
}
std::size_t tokens_of(const HttpAnswer& answer) { return Json::parse(answer.body).at("usage").at("prompt_tokens").get<std::size_t>(); }

/// Bytes that the system has for the server, of all its clients, and the server has not read.
std::size_t unread_bytes(int port) {
    std::ifstream table("/proc/net/tcp");
    const std::string local = fmt::format("0100007F:{:04X}", port);
    std::size_t unread = 0;
    for (std::string line; std::getline(table, line);) {
        std::istringstream words(line);
        std::string number, own, other, state, queues;
        words >> number >> own >> other >> state >> queues;
        if (own == local && state == "01") unread += std::stoul(queues.substr(queues.find(':') + 1), nullptr, 16);
    }
    return unread;
}

}  // namespace

/// Requests that take long to read must not hold up those of others.
class TestServeLong : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase() { NEED_SHARED(); }

    void long_texts_keep_nobody_waiting() {
        const Server server({}, QProcessEnvironment::systemEnvironment(), (shared_folder() / "fixtures/xlm_roberta").string());
        const std::string wanted = server.embeddings({{"input", "a cat"}}).body;
        HttpClient busy(server.port);
        busy.ask("POST", "/v1/embeddings", Json{{"input", std::vector<std::string>(15, repeated("the cat sat ", 1'000'000))}}.dump());
        QTRY_VERIFY_WITH_TIMEOUT(server.metric("faceter_waiting_texts") > 0, patience_ms);
        QCOMPARE(server.embeddings({{"input", "a cat"}}).body, wanted);
        QVERIFY(!busy.has_answer());
    }
    void long_requests_are_embedded_as_short_ones_are() {
        const Server server({"--max-tokens", "100000"});
        Json input = Json::array();
        for (int i = 0; i < 40; ++i) input.push_back(repeated(fmt::format("text {} of the cat ", i), 30'000 + i));
        const HttpAnswer all = server.embeddings({{"input", input}});
        QCOMPARE(all.status, 200);
        const Json rows = rows_of(all);
        QCOMPARE(rows.size(), input.size());
        std::size_t tokens = 0;
        for (std::size_t i = 0; i < input.size(); ++i) {
            const HttpAnswer one = server.embeddings({{"input", input[i]}});
            const Json own = rows_of(one).at(0);
            tokens += tokens_of(one);
            for (std::size_t d = 0; d < own.size(); ++d) QVERIFY(std::abs(own[d].get<double>() - rows[i][d].get<double>()) < 1e-6);
        }
        QCOMPARE(tokens_of(all), tokens);
        QCOMPARE(server.metric("faceter_waiting_texts"), 0.0);
        const HttpAnswer whole = server.ask("POST", "/embed", Json{{"inputs", input}}.dump());
        QCOMPARE(whole.status, 413);
        QVERIFY2(whole.body.find("text 1 has ") != std::string::npos, whole.body.c_str());
    }
    void a_long_request_of_too_many_tokens_is_not_read_to_its_end() {
        const Server server({"--max-tokens", "300", "--max-texts", "100000"});
        const Json input(std::vector<std::string>(300, repeated("the cat sat ", 10'000)));
        const HttpAnswer answer = server.embeddings({{"input", input}});
        QCOMPARE(answer.status, 413);
        QVERIFY2(answer.body.find(" tokens and more, 300 are taken") != std::string::npos, answer.body.c_str());
        QCOMPARE(server.metric("faceter_waiting_texts"), 0.0);
        QCOMPARE(server.embeddings({{"input", "a cat"}}).status, 200);
    }
    void a_text_beyond_the_bound_is_refused() {
        const Server server({"--max-text", "1000"});
        QCOMPARE(server.embeddings({{"input", repeated("a cat ", 1000)}}).status, 200);
        const HttpAnswer answer = server.embeddings({{"input", {"a cat", repeated("a cat ", 1001)}}});
        QCOMPARE(answer.status, 413);
        QVERIFY2(answer.body.find("text 2 has 1001 bytes; at most 1000 are taken of one (--max-text)") != std::string::npos,
                 answer.body.c_str());
        QCOMPARE(server.ask("POST", "/embed", Json{{"inputs", repeated("a cat ", 1001)}, {"truncate", true}}.dump()).status, 413);
    }
    void a_large_body_is_read_beside_what_others_ask() {
        const Server server;
        HttpClient busy(server.port);
        busy.ask("POST", "/v1/embeddings", "{\"input\": [" + repeated("12,", 15'000'000) + "99999999]}");
        QTRY_VERIFY_WITH_TIMEOUT(unread_bytes(server.port) == 0, patience_ms);
        QCOMPARE(server.ask("GET", "/health").status, 200);
        const HttpAnswer answer = busy.read();
        QCOMPARE(answer.status, 400);
        QVERIFY2(answer.body.find("99999999") != std::string::npos, answer.body.c_str());  // it was read to its end
    }
    void a_body_of_empty_values_takes_little_more_than_its_own_memory() {
        const Server server;
        server.embeddings({{"input", repeated("a cat ", 1'000'000)}});
        const double before = server.peak_mib();
        for (const char* value : {",[]", ",\"\"", ",{}"})
            QCOMPARE(server.ask("POST", "/v1/embeddings", "{\"input\": [[]" + repeated(value, 15'000'000) + "]}").status, 413);
        const double after = server.peak_mib();
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which keep what was freed
        QVERIFY2(after - before < 150, fmt::format("{} MiB, then {}", before, after).c_str());
#endif
    }
};

FACETER_TEST(TestServeLong)
#include "test_serve_long.moc"
