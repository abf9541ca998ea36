#include "stats/two_way_bootstrap.h"
#include "support/test.h"

using namespace faceter;

/// Both seeds and data sets could have been others.
class TestTwoWayBootstrap : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void its_variance_is_that_of_the_pigeonhole_bootstrap() {
        // Rows and columns without interaction, x = a + b: the resampled mean has variance s_a^2 / R + s_b^2 / C (divisor n).
        const double a[] = {1, 3, 8, 4}, b[] = {0, 5, 1};
        std::vector<std::vector<double>> rows;
        for (const double row : a) {
            rows.emplace_back();
            for (const double column : b) rows.back().push_back(row + column);
        }
        const BootstrapResult result = two_way_bootstrap(rows, {.resamples = 40000});
        const double expected = std::sqrt(6.5 / 4 + 14.0 / 3 / 3);
        QCOMPARE(result.estimate, 6.0);
        QCOMPARE(result.n, std::size_t{12});
        QVERIFY2(std::abs(result.std_error / expected - 1) < 0.02, qPrintable(QString::number(result.std_error / expected)));
        QVERIFY(result.interval.low < 6 && result.interval.high > 6);
    }
    void with_one_column_it_is_the_bootstrap_over_rows() {
        const std::vector<double> values = {1, 4, 2, 9, 3};
        std::vector<std::vector<double>> rows;
        for (const double value : values) rows.push_back({value});
        const BootstrapResult two = two_way_bootstrap(rows, {.resamples = 40000}), one = bootstrap_mean(values, {.resamples = 40000});
        QVERIFY(std::abs(two.std_error / one.std_error - 1) < 0.02);
    }
    void the_same_seed_gives_the_same_interval() {
        const std::vector<std::vector<double>> rows = {{1, 2}, {3, 5}};
        QCOMPARE(two_way_bootstrap(rows).interval.low, two_way_bootstrap(rows).interval.low);
    }
    void what_is_no_table_is_refused() {
        EXPECT_ERROR(two_way_bootstrap(std::vector<std::vector<double>>{}), "needs rows and columns");
        EXPECT_ERROR(two_way_bootstrap(std::vector<std::vector<double>>{{1, 2}, {1}}), "rows of one length");
    }
};

FACETER_TEST(TestTwoWayBootstrap)
#include "test_two_way_bootstrap.moc"
