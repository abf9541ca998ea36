#include <algorithm>

#include "common/file.h"
#include "common/random.h"
#include "data/child_process.h"
#include "eval/bitext_metrics.h"
#include "eval/classification_metrics.h"
#include "eval/clustering_metrics.h"
#include "eval/multilabel.h"
#include "eval/pair_metrics.h"
#include "eval/retrieval_scores.h"
#include "support/checkout.h"
#include "support/stats_fixture.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

using Labels = std::vector<std::int32_t>;

/// Inputs with ties, drawn anew for each round; the same for us (ours) and the peers (cases).
struct Drawn {
    Json cases = Json::object(), ours = Json::object();
    RandomStream random{20251121, "tests.metric_peers"};

    std::string name(const char* kind, int round) const { return fmt::format("{}/{}", kind, round); }

    /// Scores of few levels, so that many documents tie; grades 0 to 3, some negative, some queries without a relevant document.
    void retrieval(int round) {
        RetrievalScores scores;
        Json run = Json::object(), qrels = Json::object();
        for (int q = 0; q < 12; ++q) {
            std::vector<std::string> ids;
            std::vector<ScoredDocument> ranking;
            std::vector<std::pair<std::uint32_t, int>> judged;
            const std::size_t found = 5 + random.below(300);
            const std::string query = fmt::format("q{}", q);
            for (std::uint32_t d = 0; d < found + 20; ++d) {
                ids.push_back(fmt::format("d{}", random.below(1000000) * 1000 + d));
                if (d < found) {
                    const float score = static_cast<float>(random.below(30)) / 7;
                    ranking.push_back({d, score});
                    run[query][ids.back()] = static_cast<double>(score);
                }
                if (random.below(6) > 0 && d > 0) continue;
                const int grade = q == 0 ? 0 : static_cast<int>(random.below(5)) - 1;
                judged.emplace_back(d, grade);
                qrels[query][ids.back()] = grade;
            }
            sort_for_trec_eval(ranking, ids);
            scores.add(ranking, judged);
        }
        cases[name("retrieval", round)] = {{"run", run}, {"qrels", qrels}};
        ours[name("retrieval", round)] = scores.metrics();
    }

    void reranking(int round) {
        Json queries = Json::array(), found = Json::array();
        for (int q = 0; q < 30; ++q) {
            std::vector<double> scores;
            Labels relevant;
            for (std::size_t i = 0, n = 2 + random.below(40); i < n; ++i) {
                scores.push_back(static_cast<double>(random.below(12)) / 8);
                relevant.push_back(i == 0 ? 1 : i == 1 ? 0 : random.below(4) == 0);
            }
            const auto one = reranking_scores(scores, relevant);
            queries.push_back({{"scores", scores}, {"relevant", relevant}});
            found.push_back({{"average_precision", one.average_precision}, {"reciprocal_rank", one.reciprocal_rank}});
        }
        cases[name("reranking", round)] = {{"queries", queries}};
        ours[name("reranking", round)] = found;
    }

    /// Small whole numbers: many pairs have the same similarity.
    struct Rows {
        std::vector<float> values;
        std::vector<std::uint32_t> first, second;
        Json json = Json::object();
        RowPairs pairs() const { return {{values.data(), 20, 4}, first, second}; }
    };
    Rows rows() {
        Rows rows;
        for (int i = 0; i < 20; ++i) {
            std::vector<float> row;
            for (int d = 0; d < 4; ++d) row.push_back(static_cast<float>(random.below(4)) + (d == 0 ? 1.0f : 0.0f));
            rows.json["rows"].push_back(row);
            rows.values.insert(rows.values.end(), row.begin(), row.end());
        }
        for (int i = 0; i < 120; ++i) {
            rows.first.push_back(static_cast<std::uint32_t>(random.below(20)));
            rows.second.push_back(static_cast<std::uint32_t>(random.below(20)));
        }
        rows.json["first"] = rows.first;
        rows.json["second"] = rows.second;
        for (const PairMeasure measure : all_pair_measures)
            rows.json["similarities"][std::string(pair_measure_name(measure))] = pair_similarities(measure, rows.pairs());
        return rows;
    }
    void pairs(int round) {
        Rows drawn = rows();
        Labels labels;
        for (std::size_t i = 0; i < drawn.first.size(); ++i) labels.push_back(i == 0 ? 1 : static_cast<std::int32_t>(random.below(2)));
        drawn.json["labels"] = labels;
        auto metrics = pair_classification_metrics(drawn.pairs(), labels);
        std::erase_if(metrics, [](const auto& entry) { return entry.first.ends_with("_precision") || entry.first.ends_with("_recall"); });
        metrics["difference_of_similarities"] = 0;
        cases[name("pairs", round)] = drawn.json;
        ours[name("pairs", round)] = metrics;
    }
    void sts(int round) {
        Rows drawn = rows();
        std::vector<double> scores;
        for (std::size_t i = 0; i < drawn.first.size(); ++i) scores.push_back(static_cast<double>(random.below(11)) / 2);
        drawn.json["scores"] = scores;
        cases[name("sts", round)] = drawn.json;
        ours[name("sts", round)] = sts_metrics(drawn.pairs(), scores);
        ours[name("sts", round)]["difference_of_similarities"] = 0;
    }

    void labels(int round) {
        const std::uint64_t kinds = round % 2 == 0 ? 2 : 6;
        Labels truth, predicted;
        for (int i = 0; i < 60; ++i) {
            truth.push_back(static_cast<std::int32_t>(i < 2 ? i : random.below(kinds)));
            predicted.push_back(static_cast<std::int32_t>(random.below(kinds)));
        }
        Json found = {{"accuracy", accuracy(truth, predicted)},
                      {"macro_f1", macro_f1(truth, predicted)},
                      {"weighted_f1", weighted_f1(truth, predicted)},
                      {"v_measure", cluster_agreement(truth, predicted).v_measure}};
        if (kinds == 2) found["ap"] = average_precision(std::vector<double>(predicted.begin(), predicted.end()), truth);
        cases[name("labels", round)] = {{"truth", truth}, {"predicted", predicted}};
        ours[name("labels", round)] = found;
    }

    void multilabel(int round) {
        constexpr std::int32_t num_labels = 4;
        Json json = {{"num_labels", num_labels}};
        const auto part = [&](const char* side, std::size_t n, std::vector<float>& values, std::vector<LabelSet>& labels) {
            for (std::size_t i = 0; i < n; ++i) {
                std::vector<float> row{static_cast<float>(random.normal()), static_cast<float>(random.normal())};
                LabelSet own;
                for (std::int32_t label = 0; label < num_labels; ++label)
                    if (random.below(3) == 0) own.push_back(label);
                json[side].push_back(row);
                json[std::string(side) + "_labels"].push_back(own);
                values.insert(values.end(), row.begin(), row.end());
                labels.push_back(own);
            }
        };
        std::vector<float> train, test;
        std::vector<LabelSet> train_labels, test_labels;
        part("train", 40, train, train_labels);
        part("test", 80, test, test_labels);
        const auto predicted = nearest_neighbour_labels({train.data(), 40, 2}, train_labels, {test.data(), 80, 2}, 5);
        const auto scores = multilabel_scores(test_labels, predicted, num_labels);
        cases[name("multilabel", round)] = json;
        ours[name("multilabel", round)] = {{"accuracy", scores.accuracy}, {"macro_f1", scores.macro_f1}, {"lrap", scores.lrap}};
    }

    void bitext(int round) {
        std::vector<std::uint32_t> nearest;
        for (std::uint32_t i = 0; i < 50; ++i) nearest.push_back(random.below(2) ? i : static_cast<std::uint32_t>(random.below(50)));
        const auto scores = bitext_scores(nearest);
        cases[name("bitext", round)] = {{"nearest", nearest}};
        ours[name("bitext", round)] = {{"f1", scores.f1}, {"precision", scores.precision}, {"recall", scores.recall}};
    }
};

}  // namespace

/// Against the field's own libraries, on inputs drawn here: FACETER_PEERS names a Python with pytrec_eval, SciPy and scikit-learn.
class TestMetricPeers : public QObject {
    Q_OBJECT
    int compared_ = 0;

    void compare(const Json& ours, const Json& theirs, const std::string& where) {
        if (ours.is_number()) {
            EXPECT_CLOSE_TO(ours.get<double>(), theirs.get<double>(), 1e-9, where);
            ++compared_;
            return;
        }
        QVERIFY2(ours.size() == theirs.size(), (where + ": " + ours.dump() + theirs.dump()).c_str());
        for (const auto& [key, value] : ours.items()) {
            compare(value, ours.is_array() ? theirs.at(std::stoul(key)) : theirs.at(key), where + " " + key);
            if (QTest::currentTestFailed()) return;
        }
    }

  private Q_SLOTS:
    void every_measure_equals_the_libraries_on_random_inputs_with_ties() {
        const char* python = std::getenv("FACETER_PEERS");
        if (!python) QSKIP("no Python with pytrec_eval and scikit-learn (FACETER_PEERS)");
        Drawn drawn;
        for (int round = 0; round < 20; ++round) {
            drawn.retrieval(round);
            drawn.reranking(round);
            drawn.pairs(round);
            drawn.sts(round);
            drawn.labels(round);
            drawn.multilabel(round);
            drawn.bitext(round);
        }
        const TemporaryDirectory folder;
        const fs::path in = folder.path() / "cases.json", out = folder.path() / "results.json";
        write_file_atomic(in, drawn.cases.dump());
        const ChildResult peers = run_child({python, FACETER_SOURCE_DIR "/tests/eval/metric_peers.py", in.string(), out.string()},
                                            std::chrono::seconds(300), 1 << 20);
        QVERIFY2(peers.exit_code == 0, peers.last_lines.c_str());
        compare(drawn.ours, read_json(out), "");
        QVERIFY(compared_ > 1000);
        qInfo("%d measures compared", compared_);
    }
};

FACETER_TEST(TestMetricPeers)
#include "test_metric_peers.moc"
