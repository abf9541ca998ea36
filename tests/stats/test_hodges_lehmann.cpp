#include <cmath>

#include "stats/hodges_lehmann.h"
#include "support/test.h"

using namespace faceter;

namespace {

bool near(double a, double b) { return std::abs(a - b) < 1e-9; }

}  // namespace

class TestHodgesLehmann : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    /// Hollander and Wolfe's depression data (R: wilcox.test(x - y, conf.int = TRUE)): pseudo-median 0.46, interval [0.01, 0.786].
    void the_estimate_and_its_interval_equal_r() {
        const std::vector<double> x{1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30},
            y{0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29};
        std::vector<double> d;
        for (std::size_t i = 0; i < x.size(); ++i) d.push_back(x[i] - y[i]);
        const auto result = hodges_lehmann(d);
        QVERIFY2(near(result.estimate, 0.46), std::to_string(result.estimate).c_str());
        QVERIFY2(near(result.interval.low, 0.01) && near(result.interval.high, 0.786),
                 (std::to_string(result.interval.low) + " " + std::to_string(result.interval.high)).c_str());
    }
    void few_differences_give_their_whole_range() {
        const std::vector<double> d{1, 2, 4};
        const auto result = hodges_lehmann(d);
        QCOMPARE(result.interval.low, 1.0);
        QCOMPARE(result.interval.high, 4.0);
        QCOMPARE(result.estimate, 2.25);  // of 1, 1.5, 2, 2.5, 3, 4
    }
    void many_differences_take_the_normal_quantile() {
        std::vector<double> d;
        for (int i = 0; i < 101; ++i) d.push_back(i - 40.0);
        const auto result = hodges_lehmann(d);
        QVERIFY(near(result.estimate, 10));
        QVERIFY(result.interval.low > 3 && result.interval.low < 6 && near(result.interval.low + result.interval.high, 20));
    }
    void what_has_no_shift_is_not_a_number() {
        QVERIFY(std::isnan(hodges_lehmann({}).estimate));
        const std::vector<double> with_nan{1, std::nan("")};
        QVERIFY(std::isnan(hodges_lehmann(with_nan).interval.low));
    }
};

FACETER_TEST(TestHodgesLehmann)
#include "test_hodges_lehmann.moc"
