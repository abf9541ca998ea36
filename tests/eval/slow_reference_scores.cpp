#include <fmt/format.h>

#include <cmath>

#include "common/file.h"
#include "common/json.h"
#include "data/sources.h"
#include "eval/tasks.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

/// Points of 100. Sampled protocols follow rounding further than plain means do.
double tolerance_of(const std::string& task_type) {
    if (task_type == "retrieval") return 0.3;
    if (task_type == "classification") return 1.0;
    if (task_type == "clustering") return 2.5;
    return 0.005;
}

}  // namespace

/// all-MiniLM-L6-v2 on small sets of each task type, against sentence-transformers with SciPy, scikit-learn and pytrec_eval
/// (reference/minilm_scores.json of the shared folder).
class SlowReferenceScores : public QObject {
    Q_OBJECT
    std::unique_ptr<EmbeddingModel> model_;
    std::unique_ptr<CachedEmbedder> embedder_;
    Json expected_;

  private Q_SLOTS:
    void initTestCase() {
        NEED_SHARED();
        NEED_MINILM();
        model_ = EmbeddingModel::open(ModelFolder::open(minilm_folder()));
        embedder_ = std::make_unique<CachedEmbedder>(*model_);
        expected_ = read_json(shared_folder() / "reference/minilm_scores.json");
    }
    void a_score_equals_the_reference_data() {
        QTest::addColumn<QString>("name");
        for (const char* name : {"xquad_en", "nq_utd", "medline", "stsbenchmark", "sts13", "snips", "trec6", "cr", "subj", "arxiv_titles",
                                 "agnews8000_cluster", "wikiqa_reranking", "qqp_sample", "summeval"})
            QTest::newRow(name) << QString::fromUtf8(name);
    }
    void a_score_equals_the_reference() {
        QFETCH(QString, name);
        const auto set = load_evaluation_folder(shared_folder() / "data" / name.toStdString());
        const Json& expected = expected_.at(name.toStdString());
        const EvaluationResult result = evaluate_set(*embedder_, set, {});
        QCOMPARE(result.metric, expected.at("metric").get<std::string>());
        QCOMPARE(result.n, expected.at("n").get<std::size_t>());
        const double difference = result.score - expected.at("score").get<double>();
        QVERIFY2(std::abs(difference) < tolerance_of(result.task_type), fmt::format("{} off by {:.3f}", result.score, difference).c_str());
        if (result.task_type != "classification") return;
        const auto draws = expected.at("draws").get<std::vector<double>>();
        QCOMPARE(result.draws.size(), draws.size());
        for (std::size_t i = 0; i < draws.size(); ++i)
            QVERIFY2(std::abs(result.draws[i] - draws[i]) < 2, fmt::format("draw {}: {} for {}", i, result.draws[i], draws[i]).c_str());
    }
    /// pytrec_eval's figures for qrels {q1: {d2: 1, nope: 2}, q2: {d1: 1}, q3: {nope: 3}} and this ranking.
    void documents_that_the_corpus_lacks_count_as_missed() {
        const TemporaryDirectory folder;
        fs::create_directories(folder.path() / "qrels");
        write_file_atomic(folder.path() / "corpus.jsonl",
                          "{\"_id\": \"d1\", \"text\": \"how to bake bread\"}\n"
                          "{\"_id\": \"d2\", \"text\": \"the orbit of the moon\"}\n");
        write_file_atomic(folder.path() / "queries.jsonl",
                          "{\"_id\": \"q1\", \"text\": \"moon orbit\"}\n{\"_id\": \"q2\", \"text\": \"baking a loaf\"}\n"
                          "{\"_id\": \"q3\", \"text\": \"tax law\"}\n");
        write_file_atomic(folder.path() / "qrels/test.tsv", "q1\td2\t1\nq1\tnope\t2\nq2\td1\t1\nq3\tnope\t3\n");
        const EvaluationResult result = evaluate_set(*embedder_, load_evaluation_folder(folder.path()), {});
        const double expected[] = {38.009376671593426, 100, 0};
        QCOMPARE(result.per_example.size(), std::size_t{3});
        for (std::size_t q = 0; q < 3; ++q) QVERIFY(std::abs(result.per_example[q] - expected[q]) < 1e-9);
        QVERIFY(std::abs(result.metrics.at("recall_at_100") - 50) < 1e-9);
        QVERIFY(std::abs(result.metrics.at("map_at_100") - 50) < 1e-9);
    }
};

FACETER_TEST(SlowReferenceScores)
#include "slow_reference_scores.moc"
