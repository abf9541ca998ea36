#include <map>

#include "eval/ranking_metrics.h"
#include "support/stats_fixture.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

/// One query of the fixture with its documents numbered.
struct Query {
    std::vector<std::string> ids;
    std::vector<ScoredDocument> ranking;
    std::vector<std::pair<std::uint32_t, int>> judgements;

    Query(const Json& run, const Json& qrels) {
        std::map<std::string, std::uint32_t> place;
        const auto number_of = [&](const std::string& id) {
            const auto [at, is_new] = place.try_emplace(id, static_cast<std::uint32_t>(ids.size()));
            if (is_new) ids.push_back(id);
            return at->second;
        };
        for (const auto& [id, score] : run.items()) ranking.push_back({number_of(id), static_cast<float>(score.get<double>())});
        for (const auto& [id, grade] : qrels.items()) judgements.emplace_back(number_of(id), grade.get<int>());
        sort_for_trec_eval(ranking, ids);
    }
};

double measure(const Query& q, const std::string& name) {
    const std::size_t cut = name.find_last_of('_');
    const bool has_cut = cut != std::string::npos && std::isdigit(static_cast<unsigned char>(name[cut + 1]));
    const std::size_t k = has_cut ? std::stoul(name.substr(cut + 1)) : 100000;
    if (name.starts_with("ndcg")) return ndcg_at(q.ranking, q.judgements, k);
    if (name.starts_with("map")) return average_precision_at(q.ranking, q.judgements, k);
    if (name.starts_with("recall")) return recall_at(q.ranking, q.judgements, k);
    if (name.starts_with("P_")) return precision_at(q.ranking, q.judgements, k);
    return reciprocal_rank_at(q.ranking, q.judgements, k);
}

}  // namespace

class TestMetricsRanking : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void every_measure_of_every_query_equals_trec_eval() {
        NEED_SHARED();
        const Json& fixture = stats_fixture()["retrieval"];
        int compared = 0;
        for (const auto& [id, expected] : fixture["pytrec_eval"].items()) {
            const Query q(fixture["run"][id], fixture["qrels"][id]);
            for (const auto& [name, value] : expected.items()) {
                EXPECT_CLOSE(measure(q, name), number(value), id + " " + name);
                ++compared;
            }
            EXPECT_CLOSE(ndcg_at(q.ranking, q.judgements, 10, Gain::exponential), number(fixture["ndcg10_exponential"][id]),
                         id + " exponential");
        }
        QVERIFY(compared > 500);
    }
    /// Relevant documents of grades 3 and 1 at ranks 2 and 3; one of grade 2 is not found.
    void measures_give_known_numbers() {
        const std::vector<ScoredDocument> ranking{{7, 0.9f}, {1, 0.8f}, {2, 0.7f}};
        const std::vector<std::pair<std::uint32_t, int>> judgements{{1, 3}, {2, 1}, {3, 2}, {7, 0}};
        const double ideal = 3 + 2 / std::log2(3.0) + 0.5;
        EXPECT_CLOSE(ndcg_at(ranking, judgements, 10), (3 / std::log2(3.0) + 0.5) / ideal, "ndcg");
        EXPECT_CLOSE(recall_at(ranking, judgements, 2), 1.0 / 3, "recall");
        EXPECT_CLOSE(precision_at(ranking, judgements, 10), 0.2, "precision");
        EXPECT_CLOSE(average_precision_at(ranking, judgements, 10), (0.5 + 2.0 / 3) / 3, "map");
        EXPECT_CLOSE(reciprocal_rank_at(ranking, judgements, 10), 0.5, "mrr");
        QCOMPARE(reciprocal_rank_at(ranking, judgements, 1), 0.0);
    }
    void a_query_without_a_relevant_document_scores_zero() {
        const std::vector<ScoredDocument> ranking{{0, 1.0f}};
        const std::vector<std::pair<std::uint32_t, int>> none{{0, 0}, {1, -1}};
        for (const auto judgements : {Judgements(none), Judgements()}) {
            const auto scores = ranking_scores(ranking, judgements, 10);
            QCOMPARE(scores.ndcg + scores.recall + scores.precision + scores.average_precision + scores.reciprocal_rank, 0.0);
        }
        const std::vector<std::pair<std::uint32_t, int>> one{{0, 1}};
        QCOMPARE(ranking_scores({}, one, 10).ndcg, 0.0);
        QCOMPARE(ranking_scores(ranking, one, 0).ndcg, 0.0);
    }
    void a_negative_grade_gains_nothing() {
        const std::vector<ScoredDocument> ranking{{0, 1.0f}, {1, 0.5f}};
        const std::vector<std::pair<std::uint32_t, int>> judgements{{0, -2}, {1, 1}};
        EXPECT_CLOSE(ndcg_at(ranking, judgements, 10), 1 / std::log2(3.0), "ndcg");
    }
    void a_score_that_is_no_number_is_an_error() {
        std::vector<ScoredDocument> hits{{0, std::nanf("")}};
        const std::vector<std::string> ids{"doc-a"};
        EXPECT_ERROR(sort_for_trec_eval(hits, ids), "doc-a", "not a number");
    }
};

FACETER_TEST(TestMetricsRanking)
#include "test_metrics_ranking.moc"
