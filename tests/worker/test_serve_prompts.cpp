#include <ATen/ATen.h>

#include <algorithm>

#include "common/file.h"
#include "eval/embedder.h"
#include "model/task_adapters.h"
#include "plugin/run_model.h"
#include "support/tensors.h"
#include "support/test.h"
#include "worker/embedding_server.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

const std::string_view sentence = "a cat sat on the mat";

at::Tensor vector_in(const HttpAnswer& answer) {
    const auto values = Json::parse(answer.body).at("data").at(0).at("embedding").get<std::vector<float>>();
    return at::tensor(values).unsqueeze(0);
}

std::vector<std::string> served_names(const Server& server) {
    std::vector<std::string> names;
    const Json list = Json::parse(server.ask("GET", "/v1/models").body);
    for (const Json& model : list.at("data")) names.push_back(model.at("id"));
    return names;
}

}  // namespace

/// The prompts and adapters of released models, by the names that clients of the embedding server use.
class TestServePrompts : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase() { NEED_SHARED(); }

    void a_task_of_a_release_passes_through_its_adapter_as_in_embed() {
        const fs::path folder = shared_folder() / "fixtures/jina_embeddings_v3";
        const auto model = open_folder_model(folder);
        const Server server({}, QProcessEnvironment::systemEnvironment(), folder.string());
        const at::Tensor plain = embed_texts(*model, {&sentence, 1}, {});
        for (const std::string task : {"retrieval.query", "retrieval.passage", "text-matching"}) {
            const Route route{model->folder.prompt(task), 0, Path::of_adapter(static_cast<int>(find_task_adapter(*model, task).value()))};
            const Route without{route.instruction, 0, Path{}};
            const at::Tensor wanted = embed_texts(*model, {&sentence, 1}, route);
            QVERIFY(max_difference(wanted, embed_texts(*model, {&sentence, 1}, without)) > 1e-4);
            const HttpAnswer answer = server.embeddings({{"model", "jina_embeddings_v3:" + task}, {"input", std::string(sentence)}});
            QCOMPARE(answer.status, 200);
            QVERIFY2(max_difference(vector_in(answer), wanted) < 1e-6, task.c_str());
            const std::string& adapter = model->encoders.front()->adapters()[static_cast<std::size_t>(route.path.adapter)].name;
            QVERIFY(adapter != task);  // "retrieval_query": the same by either name
            const HttpAnswer other = server.embeddings({{"model", "jina_embeddings_v3:" + adapter}, {"input", std::string(sentence)}});
            QVERIFY2(max_difference(vector_in(other), wanted) < 1e-6, adapter.c_str());
        }
        QVERIFY(max_difference(vector_in(server.embeddings({{"input", std::string(sentence)}})), plain) < 1e-6);
    }
    void an_adapter_without_a_prompt_is_served_and_listed_by_its_own_name() {
        const TemporaryDirectory folder;
        const fs::path model = folder.path() / "bare";
        fs::copy(shared_folder() / "fixtures/jina_embeddings_v3", model, fs::copy_options::recursive);
        fs::remove(model / "config_sentence_transformers.json");
        const auto opened = open_folder_model(model);
        const Route route{"", 0, Path::of_adapter(static_cast<int>(find_task_adapter(*opened, "text_matching").value()))};
        const Server server({}, QProcessEnvironment::systemEnvironment(), model.string());
        const HttpAnswer answer = server.embeddings({{"model", "bare:text_matching"}, {"input", std::string(sentence)}});
        QCOMPARE(answer.status, 200);
        QVERIFY(max_difference(vector_in(answer), embed_texts(*opened, {&sentence, 1}, route)) < 1e-6);
        const std::vector<std::string> wanted{"bare", "bare:retrieval_passage", "bare:retrieval_query", "bare:text_matching"};
        QVERIFY(served_names(server) == wanted);
    }
    void the_documents_of_a_folder_with_a_router_do_not_pass_it() {
        const TemporaryDirectory folder;
        const fs::path model = folder.path() / "gates",
                       plain = folder.path() / "plain";  // as of one task alone: without the tasks of its run
        fs::copy(FACETER_SOURCE_DIR "/tests/versions/0.1.0/exports/gates", model, fs::copy_options::recursive);
        fs::remove(model / "faceter.json");
        fs::remove(model / "config_sentence_transformers.json");
        write_file_atomic(model / "config_sentence_transformers.json",
                          Json{{"prompts", {{"default", "find "}}}, {"default_prompt_name", "default"}}.dump());
        fs::copy(model, plain, fs::copy_options::recursive);
        fs::remove(plain / "router.json");
        const at::Tensor wanted = embed_texts(*open_folder_model(plain), {&sentence, 1}, Route{"find ", 0, Path{}});
        const Server server({}, QProcessEnvironment::systemEnvironment(), model.string());
        for (const Json& asked : {Json{{"model", "gates:document"}}, Json{{"model", "gates"}, {"prompt_name", "document"}}}) {
            Json request = asked;
            request["input"] = std::string(sentence);
            const HttpAnswer answer = server.embeddings(request);
            QVERIFY2(answer.status == 200, answer.body.c_str());
            QVERIFY(max_difference(vector_in(answer), wanted) < 1e-6);
        }
        const std::vector<std::string> names = served_names(server);
        QVERIFY(std::find(names.begin(), names.end(), "gates:document") != names.end());
    }
    void names_of_models_and_prompts_may_hold_colons() {
        const TemporaryDirectory folder;
        const fs::path model = folder.path() / "v1:tiny";
        fs::copy(tiny_model(), model, fs::copy_options::recursive);
        fs::remove(model / "config_sentence_transformers.json");
        write_file_atomic(model / "config_sentence_transformers.json", Json{{"prompts", {{"s2p:query", "search query: "}}}}.dump());
        const auto opened = open_folder_model(model);
        const Server server({}, QProcessEnvironment::systemEnvironment(), model.string() + "/.");  // called as the folder is
        const Route route{"search query: ", 0, Path{}};
        const HttpAnswer answer = server.embeddings({{"model", "v1:tiny:s2p:query"}, {"input", std::string(sentence)}});
        QVERIFY2(answer.status == 200, answer.body.c_str());
        QVERIFY(max_difference(vector_in(answer), embed_texts(*opened, {&sentence, 1}, route)) < 1e-6);
        for (const std::string& name : served_names(server)) QCOMPARE(server.embeddings({{"model", name}, {"input", "a"}}).status, 200);
        QCOMPARE(server.embeddings({{"model", "v1:tiny:query"}, {"input", "a"}}).status, 404);
        QCOMPARE(server.embeddings({{"model", "v1"}, {"input", "a"}}).status, 404);
    }
    void two_prompts_in_one_request_are_refused() {
        const TemporaryDirectory folder;
        const fs::path model = folder.path() / "tiny";
        fs::copy(tiny_model(), model, fs::copy_options::recursive);
        fs::remove(model / "config_sentence_transformers.json");
        write_file_atomic(model / "config_sentence_transformers.json", Json{{"prompts", {{"query", "q: "}, {"document", "d: "}}}}.dump());
        const Server server({}, QProcessEnvironment::systemEnvironment(), model.string());
        const HttpAnswer both = server.embeddings({{"model", "tiny:query"}, {"prompt_name", "document"}, {"input", "a"}});
        QCOMPARE(both.status, 400);
        QVERIFY2(both.body.find("asks for prompt 'query' and prompt_name for 'document'") != std::string::npos, both.body.c_str());
        const Json again = {{"model", "tiny:query"}, {"prompt_name", "query"}, {"inputs", "a"}};
        QCOMPARE(server.ask("POST", "/embed", again.dump()).status, 200);
        QCOMPARE(server.embeddings({{"model", "tiny"}, {"prompt_name", "document"}, {"input", "a"}}).status, 200);
        const HttpAnswer unknown = server.embeddings({{"model", "tiny"}, {"prompt_name", "passage"}, {"input", "a"}});
        QCOMPARE(unknown.status, 400);  // the model is there
        QVERIFY2(
            unknown.body.find("no prompt 'passage' in tiny") != std::string::npos && unknown.body.find("not_found") == std::string::npos,
            unknown.body.c_str());
    }
    void of_several_models_one_must_be_named_and_one_that_is_not_there_is_not_found() {
        const TemporaryDirectory folder;
        fs::copy(tiny_model(), folder.path() / "other", fs::copy_options::recursive);
        const Server server({QString::fromStdString((folder.path() / "other").string())});
        const auto error_of = [](const HttpAnswer& answer) { return Json::parse(answer.body).at("error"); };
        for (const Json& model : {Json(), Json("")}) {
            const HttpAnswer unnamed = server.embeddings({{"model", model}, {"input", "a"}});
            QCOMPARE(unnamed.status, 400);
            const Json error = error_of(unnamed);
            QVERIFY2(error.at("message") == "the request names no model; served are bert, other", unnamed.body.c_str());
            QVERIFY(error.at("type") == "invalid_request_error" && error.at("param").is_null() && error.at("code").is_null());
        }
        QCOMPARE(server.ask("POST", "/embed", Json{{"inputs", "a"}}.dump()).status, 400);
        const HttpAnswer unknown = server.embeddings({{"model", "third"}, {"input", "a"}});
        QCOMPARE(unknown.status, 404);
        QVERIFY2(error_of(unknown).at("code") == "model_not_found", unknown.body.c_str());
        QVERIFY(error_of(server.ask("GET", "/v1/models/third")).at("code") == "model_not_found");
        QVERIFY(error_of(server.ask("GET", "/v1/nothing")).at("code").is_null());
        const HttpAnswer packed = server.ask("POST", "/v1/embeddings", "{}", "Content-Encoding: gzip\r\n");
        QCOMPARE(packed.status, 415);
        QVERIFY2(error_of(packed).at("param").is_null() && error_of(packed).at("code").is_null(), packed.body.c_str());
        QCOMPARE(server.embeddings({{"model", "other"}, {"input", "a"}}).status, 200);
    }
};

FACETER_TEST(TestServePrompts)
#include "test_serve_prompts.moc"
