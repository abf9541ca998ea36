#include "eval/classification_metrics.h"
#include "eval/clustering_metrics.h"
#include "support/stats_fixture.h"

using namespace faceter;
using namespace faceter::testing;

class TestMetricsLabels : public QObject {
    Q_OBJECT
    using Labels = std::vector<std::int32_t>;

  private Q_SLOTS:
    void average_precision_equals_scikit_learn() {
        NEED_SHARED();
        for (const Json& c : stats_fixture()["average_precision"]["cases"])
            EXPECT_CLOSE(average_precision(numbers(c["score"]), c["y"].get<Labels>()), number(c["ap"]), c["name"].get<std::string>());
    }
    void cluster_agreement_equals_scikit_learn() {
        NEED_SHARED();
        for (const Json& c : stats_fixture()["v_measure"]["cases"]) {
            const auto name = c["name"].get<std::string>();
            const auto r = cluster_agreement(c["truth"].get<Labels>(), c["predicted"].get<Labels>());
            EXPECT_CLOSE(r.homogeneity, number(c["homogeneity"]), name);
            EXPECT_CLOSE(r.completeness, number(c["completeness"]), name);
            EXPECT_CLOSE(r.v_measure, number(c["v_measure"]), name);
        }
    }
    void names_of_clusters_do_not_matter() {
        const Labels truth{0, 0, 1, 1, 2, 2}, predicted{5, 5, -3, -3, 9, 9};
        EXPECT_CLOSE(cluster_agreement(truth, predicted).v_measure, 1.0, "perfect");
        EXPECT_ERROR(cluster_agreement(truth, Labels{1}), "6 and 1");
        for (std::size_t n = 4; n < 60; ++n) {
            Labels same;
            for (std::size_t i = 0; i < n; ++i) same.push_back(static_cast<std::int32_t>(i % 3));
            QVERIFY(cluster_agreement(same, same).v_measure <= 1);  // of 17 it was 1.0000000000000002
        }
    }
    /// sklearn: f1_score([0, 1, 2, 2], [0, 2, 2, 3], average="macro") = (1 + 0 + 0.5 + 0) / 4.
    void macro_f1_counts_labels_that_occur_on_either_side() {
        EXPECT_CLOSE(macro_f1(Labels{0, 1, 2, 2}, Labels{0, 2, 2, 3}), 0.375, "macro F1");
        EXPECT_CLOSE(accuracy(Labels{0, 1, 2, 2}, Labels{0, 2, 2, 3}), 0.5, "accuracy");
        QVERIFY(std::isnan(accuracy(Labels{}, Labels{})) && std::isnan(macro_f1(Labels{}, Labels{})));
        EXPECT_ERROR(accuracy(Labels{1}, Labels{}), "1 and 0");
    }
    void thresholds_lie_between_scores() {
        const std::vector scores{0.9, 0.8, 0.7, 0.3};
        const auto accuracy_at = best_accuracy(scores, Labels{1, 1, 0, 0});
        QCOMPARE(accuracy_at.value, 1.0);
        EXPECT_CLOSE(accuracy_at.threshold, 0.75, "threshold");
        const auto f1 = best_f1(scores, Labels{1, 0, 1, 0});
        EXPECT_CLOSE(f1.value, 0.8, "F1");
        EXPECT_CLOSE(f1.threshold, 0.5, "threshold");
    }
    void equal_scores_are_never_told_apart() {
        const std::vector scores{0.5, 0.5, 0.5};
        EXPECT_CLOSE(average_precision(scores, Labels{1, 0, 0}), 1.0 / 3, "AP");
        EXPECT_CLOSE(best_f1(scores, Labels{1, 0, 0}).value, 0.5, "F1");
        const auto none = best_accuracy(scores, Labels{1, 0, 0});
        EXPECT_CLOSE(none.value, 2.0 / 3, "all negative");
        QVERIFY(std::isinf(none.threshold));
    }
    void measures_without_a_meaning_say_so() {
        QVERIFY(std::isnan(average_precision(std::vector{std::nan("")}, Labels{1})));
        QCOMPARE(average_precision(std::vector{0.5}, Labels{0}), 0.0);
        for (std::size_t n = 1; n < 200; ++n) {  // no 100.00000000000004 %
            std::vector<double> scores;
            for (std::size_t i = 0; i < n; ++i) scores.push_back(1.0 / static_cast<double>(i + 1));
            QVERIFY(average_precision(scores, Labels(n, 1)) == 1);
        }
        QCOMPARE(best_f1(std::vector{0.5}, Labels{0}).value, 0.0);
        QVERIFY(std::isnan(best_accuracy({}, {}).value));
    }
};

FACETER_TEST(TestMetricsLabels)
#include "test_metrics_labels.moc"
