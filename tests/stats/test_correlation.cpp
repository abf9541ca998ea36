#include "stats/correlation.h"
#include "stats/effect_size.h"
#include "stats/multiple_testing.h"
#include "support/stats_fixture.h"

using namespace faceter;
using namespace faceter::testing;

class TestCorrelation : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void pearson_and_spearman_equal_scipy() {
        NEED_SHARED();
        for (const Json& c : stats_fixture()["correlation"]["cases"]) {
            const auto name = c["name"].get<std::string>();
            const auto x = numbers(c["x"]), y = numbers(c["y"]);
            EXPECT_CLOSE(spearman(x, y).r, number(c["spearman"]), name);
            EXPECT_CLOSE(spearman(x, y).p, number(c["spearman_p"]), name);
            EXPECT_CLOSE(pearson(x, y).r, number(c["pearson"]), name);
            EXPECT_CLOSE(pearson(x, y).p, number(c["pearson_p"]), name);
            const auto ranks = average_ranks(x), expected = numbers(c["ranks_x"]);
            QCOMPARE(ranks, expected);
        }
    }
    void a_monotone_relation_has_a_spearman_of_one() {
        const std::vector x{1.0, 2.0, 3.0, 4.0}, y{1.0, 10.0, 1e6, 1e300};
        EXPECT_CLOSE(spearman(x, y).r, 1.0, "r");
        QCOMPARE(spearman(x, y).p, 0.0);
        QVERIFY(pearson(x, y).r < 0.9);
    }
    void an_order_that_is_the_same_or_the_opposite_has_no_rounding() {
        for (std::size_t n = 2; n < 40; ++n) {
            std::vector<double> up(n), down(n);
            for (std::size_t i = 0; i < n; ++i) up[i] = 0.1 * static_cast<double>(i), down[n - 1 - i] = up[i];
            QCOMPARE(spearman(up, up).r, 1.0);
            QCOMPARE(spearman(up, down).r, -1.0);
        }
    }
    void input_without_a_correlation_gives_nan() {
        const std::vector x{1.0, 2.0, 3.0}, constant{4.0, 4.0, 4.0}, with_nan{1.0, std::nan(""), 2.0};
        QVERIFY(std::isnan(pearson(x, constant).r) && std::isnan(spearman(constant, x).p));
        QVERIFY(std::isnan(pearson(x, with_nan).r) && std::isnan(spearman(with_nan, x).r));
        QVERIFY(std::isnan(pearson({}, {}).r));
        EXPECT_ERROR(pearson(x, std::vector{1.0}), "3 and 1");
    }
    void holm_equals_the_reference() {
        NEED_SHARED();
        for (const Json& c : stats_fixture()["holm"]["cases"]) {
            const auto adjusted = holm(numbers(c["p"])), expected = numbers(c["holm"]);
            for (std::size_t i = 0; i < adjusted.size(); ++i) EXPECT_CLOSE(adjusted[i], expected[i], "holm");
        }
    }
    /// scipy.stats.false_discovery_control([0.01, 0.04, 0.03, 0.5]).
    void benjamini_hochberg_gives_known_numbers() {
        const auto adjusted = benjamini_hochberg(std::vector{0.01, 0.04, 0.03, 0.5});
        const std::vector expected{0.04, 0.16 / 3, 0.16 / 3, 0.5};
        for (std::size_t i = 0; i < 4; ++i) EXPECT_CLOSE(adjusted[i], expected[i], "bh");
    }
    void a_missing_p_is_no_member_of_the_family() {
        const auto adjusted = holm(std::vector{0.01, std::nan(""), 0.02});
        EXPECT_CLOSE(adjusted[0], 0.02, "holm");
        QVERIFY(std::isnan(adjusted[1]));
        QVERIFY(std::isnan(benjamini_hochberg(std::vector{std::nan("")})[0]));
    }
    void stars_follow_the_three_levels() {
        QCOMPARE(significance_stars(0.05), 0);
        QCOMPARE(significance_stars(0.049), 1);
        QCOMPARE(significance_stars(0.009), 2);
        QCOMPARE(significance_stars(0.0), 3);
        QCOMPARE(significance_stars(std::nan("")), 0);
    }
    void effect_sizes_give_known_numbers() {
        const std::vector a{2.0, 4.0, 6.0}, b{1.0, 2.0, 3.0, 4.0};
        EXPECT_CLOSE(cohens_d(a, b), 1.5 / std::sqrt(13.0 / 5), "d");
        const double m = 5, correction = std::tgamma(m / 2) / (std::sqrt(m / 2) * std::tgamma((m - 1) / 2));
        EXPECT_CLOSE(hedges_g(a, b), cohens_d(a, b) * correction, "g");
        EXPECT_CLOSE(paired_effect_size(std::vector{3.0, 5.0, 4.0}, std::vector{1.0, 2.0, 3.0}), 2.0, "dz");
        EXPECT_CLOSE(rank_biserial(std::vector{1.0, -2.0, 3.0, 0.0}), 2.0 / 6, "rank-biserial");
        QVERIFY(std::isnan(cohens_d(std::vector{1.0}, std::vector{1.0})));
        QVERIFY(std::isnan(rank_biserial(std::vector{0.0})));
    }
};

FACETER_TEST(TestCorrelation)
#include "test_correlation.moc"
