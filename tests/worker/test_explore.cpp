#include <set>

#include "record/run_directory.h"
#include "support/checkout.h"
#include "support/explored_project.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

constexpr int patience_ms = 120000;

/// One question to a session of its own after another.
class Session {
  public:
    Session() { process_.start(QStringLiteral(FACETER_BINARY_DIR "/bin/faceter-worker"), {QStringLiteral("session")}); }
    ~Session() {
        process_.closeWriteChannel();
        process_.waitForFinished(patience_ms);
    }
    Json ask(const std::string& method, const Json& params) {
        const std::string line = Json{{"id", ++id_}, {"method", method}, {"params", params}}.dump() + "\n";
        process_.write(line.c_str(), static_cast<qint64>(line.size()));
        for (;;) {
            while (!process_.canReadLine())
                if (!process_.waitForReadyRead(patience_ms)) return nullptr;
            const Json answer = Json::parse(process_.readLine().toStdString());
            if (!answer.contains("progress")) return answer;
        }
    }

  private:
    QProcess process_;
    int id_ = 0;
};

}  // namespace

/// The methods of the session behind the page Explore and the examples that changed.
class TestExplore : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;
    std::string start_, trained_;

    Json column(const std::string& run, const std::string& task) const { return {{"model", run}, {"task", task}}; }

  private Q_SLOTS:
    void initTestCase() {
        NEED_SHARED();
        const std::string problem = make_explored_project(folder_.path());
        QVERIFY2(problem.empty(), problem.c_str());
        const Project project(folder_.path() / "project", false);
        start_ = project.find_run("start").folder().string();
        trained_ = project.find_run("IC").folder().string();
    }

    void a_corpus_comes_with_its_queries_and_labels() {
        Session session;
        const Json animals = session.ask("corpus", {{"run", trained_}, {"set", "animals"}});
        QVERIFY2(animals.contains("result"), animals.dump().c_str());
        QCOMPARE(animals["result"]["documents"].size(), std::size_t{30});
        QCOMPARE(animals["result"]["queries"].size(), std::size_t{6});
        const Json topics = session.ask("corpus", {{"run", trained_}, {"set", "topics"}});
        QCOMPARE(topics["result"]["labels"].size(), std::size_t{24});
        QCOMPARE(topics["result"]["label_names"].size(), std::size_t{2});
        const Json unknown = session.ask("corpus", {{"run", trained_}, {"set", "animal"}});
        QVERIFY(unknown["error"]["message"].get<std::string>().find("did you mean 'animals'") != std::string::npos);
    }

    void neighbours_are_told_for_each_run_and_task_with_their_rank_in_the_first() {
        Session session;
        const Json answer = session.ask(
            "neighbours", {{"run", trained_},
                           {"set", "animals"},
                           {"query", {{"query", 2}}},
                           {"count", 30},
                           {"columns", {column(start_, "retrieval"), column(trained_, "retrieval"), column(trained_, "classification")}}});
        QVERIFY2(answer.contains("result"), answer.dump().c_str());
        const Json& result = answer["result"];
        QCOMPARE(result["text"].get<std::string>(), std::string("what is a fish"));
        QCOMPARE(result["relevant"].get<std::vector<int>>(), (std::vector<int>{2, 8, 14, 20, 26}));
        QCOMPARE(result["columns"].size(), std::size_t{3});
        QCOMPARE(result["columns"][1]["instruction"].get<std::string>(), std::string("query: "));
        QCOMPARE(result["columns"][2]["instruction"].get<std::string>(), std::string("classification: "));
        for (const Json& column : result["columns"])
            QCOMPARE(column["kept_tokens"].get<std::size_t>(), column["num_tokens"].get<std::size_t>());
        std::map<int, int> rank_in_first;
        for (const Json& hit : result["columns"][0]["hits"]) rank_in_first[hit[0]] = static_cast<int>(rank_in_first.size()) + 1;
        QCOMPARE(rank_in_first.size(), std::size_t{30});
        for (const Json& column : result["columns"]) {
            double last = 2;
            for (const Json& hit : column["hits"]) {
                QVERIFY(hit[1].get<double>() <= last);
                last = hit[1];
                QCOMPARE(hit[2].get<int>(), rank_in_first[hit[0]]);
            }
            for (const Json& rank : column["ranks"])
                QCOMPARE(column["hits"][rank[1].get<std::size_t>() - 1][0].get<int>(), rank[0].get<int>());
        }
    }

    void neighbours_are_those_of_the_vectors_that_embed_gives() {
        Session session;
        const Json found = session.ask("neighbours", {{"run", trained_},
                                                      {"set", "animals"},
                                                      {"query", {{"text", "a typed text about a horse"}}},
                                                      {"count", 5},
                                                      {"all", true},
                                                      {"columns", {column(trained_, "retrieval")}}})["result"]["columns"][0];
        const Json query =
            session.ask("embed", {{"model", trained_}, {"task", "retrieval.query"}, {"texts", {"a typed text about a horse"}}});
        const Json texts = session.ask("corpus", {{"run", trained_}, {"set", "animals"}})["result"]["documents"];
        const Json documents = session.ask("embed", {{"model", trained_}, {"task", "retrieval.document"}, {"texts", texts}});
        const auto dot = [](const Json& a, const Json& b) {
            double sum = 0;
            for (std::size_t i = 0; i < a.size(); ++i) sum += a[i].get<double>() * b[i].get<double>();
            return sum;
        };
        for (std::size_t i = 0; i < 30; ++i) {
            const double expected = dot(query["result"]["vectors"][0], documents["result"]["vectors"][i]);
            QVERIFY(std::abs(found["similarities"][i].get<double>() - expected) < 1e-5);
        }
    }

    void a_document_is_none_of_its_own_neighbours() {
        Session session;
        const Json answer = session.ask("neighbours", {{"run", trained_},
                                                       {"set", "topics"},
                                                       {"query", {{"document", 3}}},
                                                       {"count", 23},
                                                       {"columns", {column(trained_, "classification")}}});
        std::set<int> found;
        int rank = 0;
        for (const Json& hit : answer["result"]["columns"][0]["hits"]) {
            found.insert(hit[0].get<int>());
            QCOMPARE(hit[2].get<int>(), ++rank);  // the text itself is not counted
        }
        QCOMPARE(found.size(), std::size_t{23});
        QVERIFY(!found.contains(3));
        QCOMPARE(answer["result"]["relevant"].size(), std::size_t{11});  // those of its label
    }

    void a_map_has_a_place_and_a_cluster_for_each_text() {
        Session session;
        const Json one =
            session.ask("map", {{"run", trained_}, {"set", "topics"}, {"column", column(trained_, "classification")}})["result"];
        QCOMPARE(one["x"].size(), std::size_t{24});
        QCOMPARE(one["y"].size(), std::size_t{24});
        QVERIFY(one["kept"].is_null());
        QCOMPARE(one["clusters"].size(), std::size_t{24});
        for (const Json& cluster : one["clusters"]) QVERIFY(cluster.get<int>() < 2);  // as many as labels
        const Json two = session.ask("map", {{"run", trained_},
                                             {"set", "topics"},
                                             {"column", column(trained_, "classification")},
                                             {"other", column(trained_, "classification")}});
        for (const Json& kept : two["result"]["kept"]) QCOMPARE(kept.get<double>(), 1.0);
    }

    void what_cannot_be_asked_is_refused_with_the_reason() {
        Session session;
        const Json query{{"query", 6}};
        Json params{{"run", trained_}, {"set", "animals"}, {"query", query}, {"columns", {column(trained_, "retrieval")}}};
        QVERIFY(session.ask("neighbours", params)["error"]["message"].get<std::string>().find("there is no query 6; the set has 6") !=
                std::string::npos);
        params["query"] = {{"text", "x"}};
        params["columns"][0]["task"] = "retrievel";
        QVERIFY(session.ask("neighbours", params)["error"]["message"].get<std::string>().find("did you mean 'retrieval'") !=
                std::string::npos);
        params["columns"] = 7;
        QVERIFY(session.ask("neighbours", params).contains("error"));
        QVERIFY(session.ask("corpus", {{"run", "/no/such/run"}, {"set", "x"}}).contains("error"));
        QVERIFY(session.ask("corpus", {{"run", trained_}, {"set", "animals"}}).contains("result"));  // it goes on
    }

    void the_examples_of_a_step_are_those_that_the_run_trained_on() {
        Session session;
        const Json answer = session.ask("batch_examples", {{"run", trained_}, {"step", 1}});
        QVERIFY2(answer.contains("result"), answer.dump().c_str());
        const Json batches = answer["result"]["batches"];
        QCOMPARE(batches.size(), std::size_t{1});
        QCOMPARE(batches[0]["task"].get<std::string>(), std::string("retrieval"));
        const Json examples = batches[0]["examples"];
        QCOMPARE(examples.size(), std::size_t{8});
        std::set<std::string> anchors;
        for (const Json& one : examples) {
            anchors.insert(one["anchor"].get<std::string>());
            QCOMPARE(one["set"].get<std::string>(), std::string("pairs"));
            QVERIFY(one["positive"].get<std::string>().starts_with("text ") && one["kept"].get<bool>());
        }
        QCOMPARE(anchors.size(), std::size_t{8});
        QCOMPARE(session.ask("batch_examples", {{"run", trained_}, {"step", 1}})["result"]["batches"], batches);
        QVERIFY(session.ask("batch_examples", {{"run", trained_}, {"step", 2}})["result"]["batches"] != batches);
        QVERIFY(session.ask("batch_examples", {{"run", trained_}, {"step", 0}}).contains("error"));
        QVERIFY(session.ask("batch_examples", {{"run", start_}, {"step", 1}}).contains("error"));
    }

    void the_order_that_a_run_would_meet_its_tasks_in_is_drawn_before_it_begins() {
        Session session;
        const Json order = session.ask("planned_order", {{"run", trained_}});
        QVERIFY2(order.contains("result"), order.dump().c_str());
        QCOMPARE(order["result"]["steps"].dump(), std::string("[[0]]"));
        QCOMPARE(order["result"]["tasks"][0].get<std::string>(), std::string("retrieval"));
        const Json sets = session.ask("planned_order", {{"run", trained_}, {"data_sets", true}});
        QVERIFY2(sets.contains("result") && sets["result"]["tasks"].size() == 1 && sets["result"]["tasks"][0] != "retrieval",
                 sets.dump().c_str());
        QVERIFY(session.ask("planned_order", {{"run", start_}}).contains("error"));
    }

    void of_a_text_that_the_model_does_not_read_whole_the_number_of_tokens_is_told() {
        Session session;
        std::string words;
        for (int i = 0; i < 100; ++i) words += "cat ";
        for (const auto& [text, whole] : {std::pair{words, false}, std::pair{std::string("cat"), true}}) {
            const Json seen = session.ask("token_experts", {{"model", trained_}, {"task", "retrieval.query"}, {"text", text}})["result"];
            QCOMPARE(seen["num_tokens"].get<std::size_t>() == seen["pieces"].size(), whole);
        }
    }

    void a_model_that_is_gone_costs_its_own_column() {
        const TemporaryDirectory folder;
        const fs::path gone = folder.path() / fs::path(trained_).filename();
        fs::copy(trained_, gone, fs::copy_options::recursive);
        for (const char* models : {"model", "checkpoints"}) fs::remove_all(gone / models);
        Session session;
        const Json asked = {{"run", trained_}, {"set", "animals"}, {"query", {{"text", "a cat"}}}};
        Json two = asked, one = asked;
        two["columns"] = Json::array({column(gone.string(), "retrieval"), column(trained_, "retrieval")});
        one["columns"] = Json::array({column(gone.string(), "retrieval")});
        const Json answer = session.ask("neighbours", two);
        QVERIFY2(answer.contains("result"), answer.dump().c_str());
        QVERIFY(answer["result"]["columns"][0].contains("error"));
        QCOMPARE(answer["result"]["columns"][1]["hits"][0][2].get<int>(), 1);
        QVERIFY(session.ask("neighbours", one).contains("error"));
    }

    void texts_of_scores_come_in_the_order_of_the_scores() {
        Session session;
        const Json animals = session.ask("example_texts", {{"run", trained_}, {"set", "animals"}})["result"];
        QCOMPARE(animals["problem"].get<std::string>(), std::string());
        QCOMPARE(animals["texts"][2][0].get<std::string>(), std::string("what is a fish"));
        QVERIFY(animals["texts"][2][1].get<std::string>().find("<b>fish</b>") != std::string::npos);
        QCOMPARE(session.ask("example_texts", {{"run", trained_}, {"set", "topics"}})["result"]["texts"].size(), std::size_t{24});
    }
};

FACETER_TEST(TestExplore)
#include "test_explore.moc"
