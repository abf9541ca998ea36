#include <cmath>

#include "eval/bitext_metrics.h"
#include "eval/multilabel.h"
#include "eval/pair_metrics.h"
#include "eval/retrieval_scores.h"
#include "support/stats_fixture.h"

using namespace faceter;
using namespace faceter::testing;

class TestMetricMeasures : public QObject {
    Q_OBJECT
    using Labels = std::vector<std::int32_t>;

  private Q_SLOTS:
    void similarities_are_larger_for_what_is_more_alike() {
        const std::vector<float> a{3, 4}, b{0, 5}, zero{0, 0};
        EXPECT_CLOSE(pair_similarity(PairMeasure::cosine, a, b), 0.8, "cosine");
        EXPECT_CLOSE(pair_similarity(PairMeasure::dot, a, b), 20.0, "dot");
        EXPECT_CLOSE(pair_similarity(PairMeasure::euclidean, a, b), -std::sqrt(10.0), "Euclid");
        EXPECT_CLOSE(pair_similarity(PairMeasure::manhattan, a, b), -4.0, "Manhattan");
        QCOMPARE(pair_similarity(PairMeasure::cosine, a, zero), 0.0);
    }
    /// Each pair is a text with itself: no measure may tell the positive ones from the others.
    void pairs_of_equal_texts_are_equally_alike() {
        constexpr std::uint32_t count = 200, dim = 24;
        std::vector<float> rows;
        std::vector<std::uint32_t> same;
        Labels labels;
        for (std::uint32_t i = 0; i < count; ++i) {
            for (std::uint32_t d = 0; d < dim; ++d) rows.push_back(std::sin(static_cast<float>(i * dim + d)));
            same.push_back(i);
            labels.push_back(static_cast<std::int32_t>(i % 4 == 0));
        }
        const RowPairs pairs{{rows.data(), count, dim}, same, same};
        for (const double cosine : pair_similarities(PairMeasure::cosine, pairs)) QVERIFY(cosine >= 1);
        const auto metrics = pair_classification_metrics(pairs, labels);
        for (const char* measure : {"cosine_ap", "euclidean_ap", "manhattan_ap"}) EXPECT_CLOSE(metrics.at(measure), 25.0, measure);
    }
    /// Rows that only length tells apart: dot and the distances separate the pairs, cosine cannot.
    void the_best_measure_of_pair_classification_is_the_maximum() {
        const std::vector<float> rows{1, 0, 2, 0, 10, 0};
        const std::vector<std::uint32_t> first{0, 0}, second{1, 2};
        const auto metrics = pair_classification_metrics({{rows.data(), 3, 2}, first, second}, Labels{1, 0});
        EXPECT_CLOSE(metrics.at("cosine_ap"), 50.0, "cosine");
        EXPECT_CLOSE(metrics.at("dot_ap"), 50.0, "dot");
        EXPECT_CLOSE(metrics.at("euclidean_ap"), 100.0, "Euclid");
        EXPECT_CLOSE(metrics.at("max_ap"), 100.0, "max");
        EXPECT_CLOSE(metrics.at("max_accuracy"), 100.0, "max");
        EXPECT_CLOSE(metrics.at("cosine_recall"), 100.0, "recall at the best F1");
    }
    void measures_at_every_cut_off_equal_those_asked_for_singly() {
        const std::vector<ScoredDocument> ranking{{7, 0.9f}, {1, 0.8f}, {2, 0.7f}, {5, 0.6f}};
        const std::vector<std::pair<std::uint32_t, int>> judgements{{1, 3}, {2, 1}, {3, 2}, {7, 0}};
        RetrievalScores scores;
        scores.add(ranking, judgements);
        scores.add({}, judgements);  // nothing found: zeros that count
        const auto metrics = scores.metrics();
        QCOMPARE(metrics.size(), 6 * retrieval_cutoffs.size());
        for (const std::size_t k : retrieval_cutoffs) {
            const auto name = [&](const char* stem) { return fmt::format("{}_at_{}", stem, k); };
            EXPECT_CLOSE(metrics.at(name("ndcg")), 50 * ndcg_at(ranking, judgements, k), name("ndcg"));
            EXPECT_CLOSE(metrics.at(name("ndcg_exponential")), 50 * ndcg_at(ranking, judgements, k, Gain::exponential), name("ndcg"));
            EXPECT_CLOSE(metrics.at(name("recall")), 50 * recall_at(ranking, judgements, k), name("recall"));
            EXPECT_CLOSE(metrics.at(name("map")), 50 * average_precision_at(ranking, judgements, k), name("map"));
            EXPECT_CLOSE(metrics.at(name("mrr")), 50 * reciprocal_rank_at(ranking, judgements, k), name("mrr"));
            EXPECT_CLOSE(metrics.at(name("precision")), 50 * precision_at(ranking, judgements, k), name("precision"));
        }
        QCOMPARE(scores.ndcg_at_10().size(), std::size_t{2});
    }
    void a_reranker_that_cannot_tell_candidates_apart_gains_nothing() {
        const auto flat = reranking_scores(std::vector{0.5, 0.5, 0.5}, Labels{1, 0, 0});
        EXPECT_CLOSE(flat.reciprocal_rank, 1.0 / 3, "rank behind its equals");
        EXPECT_CLOSE(flat.average_precision, 1.0 / 3, "average precision");
        EXPECT_CLOSE(reranking_scores(std::vector{0.1, 0.9, 0.5}, Labels{1, 0, 1}).reciprocal_rank, 0.5, "second");
        std::vector<double> many(12, 1.0);
        Labels relevant(12, 0);
        many[0] = 0;
        relevant[0] = 1;
        QCOMPARE(reranking_scores(many, relevant).reciprocal_rank, 0.0);  // not among the best 10
    }
    void neighbours_vote_label_by_label() {
        const std::vector<float> train{0, 1, 2, 10, 11};
        const std::vector<LabelSet> labels{{0}, {0, 1}, {1}, {2}, {2}};
        const std::vector<float> test{0.5f, 10.4f};
        const auto predicted = nearest_neighbour_labels({train.data(), 5, 1}, labels, {test.data(), 2, 1}, 3);
        QCOMPARE(predicted[0], (LabelSet{0, 1}));  // two of three have label 0, two have label 1
        QCOMPARE(predicted[1], (LabelSet{2}));
        EXPECT_ERROR(nearest_neighbour_labels({train.data(), 2, 1}, std::span(labels).first(2), {test.data(), 2, 1}, 5), "2 training texts",
                     "5 nearest");
    }
    /// scikit-learn gives the same: accuracy 1/3, macro F1 (1 + 0 + 0)/3, LRAP (1 + (1/1 + 2/3)/2 + 1/3)/3.
    void multilabel_measures_give_known_numbers() {
        const std::vector<LabelSet> truth{{0}, {0, 1}, {1}}, predicted{{0}, {0}, {2}};
        const auto scores = multilabel_scores(truth, predicted, 3);
        EXPECT_CLOSE(scores.accuracy, 1.0 / 3, "accuracy");
        EXPECT_CLOSE(scores.macro_f1, (1.0 + 0 + 0) / 3, "macro F1");
        EXPECT_CLOSE(scores.lrap, (1 + (1 + 2.0 / 3) / 2 + 1.0 / 3) / 3, "LRAP");
        QVERIFY(std::isnan(multilabel_scores({}, {}, 3).accuracy));
    }
    void draws_take_a_text_for_each_of_its_labels_until_all_have_enough() {
        std::vector<LabelSet> labels;
        for (int i = 0; i < 40; ++i) labels.push_back(i % 4 == 0 ? LabelSet{} : LabelSet{i % 2, 2});
        const auto draws = draw_multilabel_training(labels, 3, 10);
        QCOMPARE(draws.size(), std::size_t{10});
        for (const auto& draw : draws) {
            std::array<int, 3> taken{};
            for (const std::size_t i : draw) {
                QVERIFY(!labels[i].empty());
                for (const std::int32_t label : labels[i]) ++taken[static_cast<std::size_t>(label)];
            }
            QVERIFY(taken[0] >= 3 && taken[1] >= 3);
            QVERIFY(draw.size() <= 6);
        }
        QVERIFY(draws[0] != draws[1]);
    }
    /// Sentences 0 and 1 both find translation 0, sentence 2 finds its own: F1 = (2/3 + 0 + 1) / 3.
    void a_translation_found_twice_costs_precision() {
        const std::vector<std::uint32_t> nearest{0, 0, 2};
        const auto scores = bitext_scores(nearest);
        EXPECT_CLOSE(scores.f1, (2.0 / 3 + 1) / 3, "F1");
        EXPECT_CLOSE(scores.precision, (0.5 + 1) / 3, "precision");
        EXPECT_CLOSE(scores.recall, 2.0 / 3, "recall");
        QVERIFY(std::isnan(bitext_scores({}).f1));
    }
};

FACETER_TEST(TestMetricMeasures)
#include "test_metric_measures.moc"
