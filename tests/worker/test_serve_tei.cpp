#include <fmt/format.h>

#include "support/test.h"
#include "worker/embedding_server.h"

using namespace faceter;
using namespace faceter::testing;

/// What clients and dashboards that were made for text-embeddings-inference read beside its vectors.
class TestServeTei : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase() { NEED_SHARED(); }
    /// A client that was made of their description of /info demands each of these.
    void what_text_embeddings_inferences_clients_read_of_a_server_is_there() {
        const Server server({"--compute", "int8", "--batch-tokens", "512", "--max-waiting", "100"});
        const Json info = Json::parse(server.ask("GET", "/info").body);
        QCOMPARE(info.at("model_dtype").get<std::string>(), std::string("int8"));
        QCOMPARE(info.at("max_batch_tokens").get<int>(), 512);
        QCOMPARE(info.at("max_concurrent_requests").get<int>(), 100);
        QCOMPARE(info.at("tokenization_workers").get<int>(), 1);
        QCOMPARE(info.at("auto_truncate").get<bool>(), false);
        for (const char* name : {"model_id", "model_type", "max_input_length", "max_client_batch_size", "version"})
            QVERIFY2(info.contains(name), name);
    }
    /// InferenceClient("http://HOST:PORT") of huggingface_hub asks for no path.
    void texts_are_taken_at_the_root_too() {
        const Server server;
        const std::string asked = R"({"inputs": ["a cat", "the dog"], "normalize": true})";
        const HttpAnswer root = server.ask("POST", "/", asked), embed = server.ask("POST", "/embed", asked);
        QCOMPARE(root.status, 200);
        QCOMPARE(root.body, embed.body);
        QCOMPARE(server.ask("POST", "/", "{").status, 400);
        QVERIFY(server.metric(R"(faceter_requests_total{path="/embed",status="200"})") == 2.0);
        QCOMPARE(server.ask("GET", "/").status, 404);
    }
    void text_embeddings_inferences_dashboards_find_their_numbers() {
        const Server server;
        server.ask("POST", "/embed", R"({"inputs": "a cat"})");
        server.ask("POST", "/v1/embeddings", R"({"input": ["a cat", "the dog"]})");
        server.ask("POST", "/embed", R"({"inputs": []})");
        server.ask("GET", "/embed");  // nothing was asked for
        for (const auto& [name, value] : {std::pair(R"(te_request_count{method="single"})", 2.0),
                                          {R"(te_request_count{method="batch"})", 1.0},
                                          {R"(te_request_success{method="single"})", 1.0},
                                          {R"(te_request_success{method="batch"})", 1.0},
                                          {R"(te_request_failure{err="validation"})", 1.0},
                                          {"te_embed_count", 3.0},
                                          {"te_embed_success", 3.0},
                                          {R"(te_request_duration_bucket{le="1.5e-05"})", 0.0},
                                          {R"(te_request_duration_bucket{le="+Inf"})", 2.0},
                                          {"te_request_duration_count", 2.0},
                                          {"te_queue_size", 0.0}})
            QVERIFY2(server.metric(name) == value, name);
        QVERIFY(server.metric("te_request_duration_sum") > 0);
    }
};

FACETER_TEST(TestServeTei)
#include "test_serve_tei.moc"
