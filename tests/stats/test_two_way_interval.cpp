#include "common/random.h"
#include "stats/two_way_bootstrap.h"
#include "stats/two_way_interval.h"
#include "support/test.h"

using namespace faceter;

namespace {

using Matrix = std::vector<std::vector<double>>;

/// Seeds and sets at random around 0: x = row + column + cell.
Matrix table_of(std::size_t rows, std::size_t columns, double of_rows, double of_columns, RandomStream& random) {
    Matrix table(rows, std::vector<double>(columns));
    std::vector<double> column_effect;
    for (std::size_t c = 0; c < columns; ++c) column_effect.push_back(of_columns * random.normal());
    for (auto& row : table) {
        const double own = of_rows * random.normal();
        for (std::size_t c = 0; c < columns; ++c) row[c] = own + column_effect[c] + random.normal();
    }
    return table;
}

template <typename IntervalOf>
double coverage(std::size_t rows, std::size_t columns, double of_rows, double of_columns, const IntervalOf& interval_of) {
    RandomStream random(7, "coverage");
    constexpr int tables = 1000;
    int held = 0;
    for (int i = 0; i < tables; ++i) {
        const Interval interval = interval_of(table_of(rows, columns, of_rows, of_columns, random));
        held += interval.low <= 0 && interval.high >= 0;
    }
    return static_cast<double>(held) / tables;
}

Interval by_t(const Matrix& table) { return two_way_t_interval(table); }
Interval by_bootstrap(const Matrix& table) { return two_way_bootstrap(table, {.resamples = 400}).interval; }

}  // namespace

/// Few seeds and few data sets, both of which could have been others.
class TestTwoWayInterval : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void it_covers_the_mean_of_two_seeds_where_the_bootstrap_does_not() {
        QVERIFY(coverage(2, 6, 1.5, 0.3, by_bootstrap) < 0.75);
        for (const auto& [rows, columns, of_rows, of_columns] :
             {std::tuple(2, 6, 1.5, 0.3), std::tuple(2, 6, 0.0, 1.0), std::tuple(3, 4, 0.5, 0.5), std::tuple(5, 8, 1.0, 1.0),
              std::tuple(2, 2, 0.0, 0.0)}) {
            const double held = coverage(static_cast<std::size_t>(rows), static_cast<std::size_t>(columns), of_rows, of_columns, by_t);
            QVERIFY2(held > 0.88, qPrintable(QString("%1 x %2: %3").arg(rows).arg(columns).arg(held)));
        }
    }
    void with_one_row_or_column_it_is_students_interval() {
        const std::vector<double> values = {1, 4, 2, 9, 3};
        const Interval expected = mean_interval(values), row = two_way_t_interval(Matrix{values});
        Matrix standing;
        for (const double value : values) standing.push_back({value});
        const Interval column = two_way_t_interval(standing);
        for (const Interval& got : {row, column})
            QVERIFY(std::abs(got.low - expected.low) < 1e-12 && std::abs(got.high - expected.high) < 1e-12);
    }
    void what_is_no_table_is_refused() {
        EXPECT_ERROR(two_way_t_interval(Matrix{}), "two cells");
        EXPECT_ERROR(two_way_t_interval(Matrix{{1}}), "two cells");
        EXPECT_ERROR(two_way_t_interval(Matrix{{1, 2}, {1}}), "rows of one length");
    }
};

FACETER_TEST(TestTwoWayInterval)
#include "test_two_way_interval.moc"
