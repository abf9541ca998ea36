#include "stats/bootstrap.h"

#include "common/random.h"
#include "stats/density.h"
#include "stats/descriptive.h"
#include "stats/number.h"
#include "support/stats_fixture.h"

using namespace faceter;
using namespace faceter::testing;

class TestResampling : public QObject {
    Q_OBJECT
    static std::vector<double> means_of(const std::vector<double>& values, const Json& indices) {
        std::vector<double> means;
        for (const Json& row : indices) {
            std::vector<double> drawn;
            for (const Json& i : row) drawn.push_back(values[i.get<std::size_t>()]);
            means.push_back(mean(drawn));
        }
        return means;
    }

  private Q_SLOTS:
    void percentile_intervals_equal_numpy() {
        NEED_SHARED();
        for (const Json& c : stats_fixture()["bootstrap"]["cases"]) {
            const auto a = numbers(c["a"]), b = numbers(c["b"]);
            std::vector<double> difference;
            for (std::size_t i = 0; i < a.size(); ++i) difference.push_back(b[i] - a[i]);
            const std::pair<const char*, std::vector<double>> kinds[] = {{"mean_a_ci", means_of(a, c["indices"])},
                                                                         {"paired_difference_ci", means_of(difference, c["indices"])}};
            for (const auto& [key, estimates] : kinds)
                for (const auto& [level, expected] : c[key].items()) {
                    const auto interval = percentile_interval(estimates, std::stoi(level) / 100.0);
                    EXPECT_CLOSE(interval.low, number(expected[0]), key);
                    EXPECT_CLOSE(interval.high, number(expected[1]), key);
                }
        }
    }
    void densities_equal_scipy() {
        NEED_SHARED();
        for (const Json& c : stats_fixture()["kde"]["cases"]) {
            const auto x = numbers(c["x"]);
            const Json& bandwidth = c["bw_method"];
            const auto density = bandwidth.is_number()  ? GaussianDensity(x, bandwidth.get<double>())
                                 : bandwidth == "scott" ? GaussianDensity(x, Bandwidth::scott)
                                                        : GaussianDensity(x, Bandwidth::silverman);
            EXPECT_CLOSE(density.factor(), number(c["factor"]), "factor");
            EXPECT_CLOSE(density.kernel_standard_deviation(), number(c["standard_deviation"]), "sd");
            const auto found = density(numbers(c["grid"])), expected = numbers(c["density"]);
            for (std::size_t i = 0; i < found.size(); ++i) {
                if (expected[i] < 1e-300)
                    QVERIFY(found[i] < 1e-299);  // denormals carry fewer digits
                else
                    EXPECT_CLOSE(found[i], expected[i], c["name"].get<std::string>());
            }
        }
    }
    void a_density_integrates_to_one() {
        const GaussianDensity density(std::vector{0.1, 0.4, 0.45, 0.9, 2.0});
        const auto grid = density.grid(2001, 8);
        double area = 0;
        for (const double d : density(grid)) area += d * (grid[1] - grid[0]);
        EXPECT_CLOSE_TO(area, 1.0, 1e-9, "area");
        EXPECT_ERROR(GaussianDensity(std::vector{1.0, 1.0}), "values that differ");
        EXPECT_ERROR(GaussianDensity(std::vector{1.0}), "at least two");
        EXPECT_ERROR(GaussianDensity(std::vector{1.0, std::nan("")}), "finite");
    }
    void the_same_seed_gives_the_same_interval() {
        const std::vector a{0.3, 0.5, 0.1, 0.9, 0.7}, b{0.2, 0.6, 0.1, 0.5, 0.4};
        const auto first = paired_bootstrap(a, b, {.resamples = 500, .seed = 5}),
                   again = paired_bootstrap(a, b, {.resamples = 500, .seed = 5});
        QCOMPARE(first.to_json().dump(), again.to_json().dump());
        QVERIFY(paired_bootstrap(a, b, {.resamples = 500, .seed = 6}).std_error != first.std_error);
    }
    void the_bootstrap_agrees_with_the_normal_interval() {
        RandomStream random(3, "test");
        std::vector<double> values;
        for (int i = 0; i < 400; ++i) values.push_back(5 + random.normal());
        const auto r = bootstrap_mean(values, {.resamples = 4000});
        const auto normal = mean_interval(values);
        QVERIFY(std::abs(r.interval.low - normal.low) < 0.02 && std::abs(r.interval.high - normal.high) < 0.02);
        QVERIFY(std::abs(r.std_error - 0.05) < 0.01);
    }
    void a_clear_difference_has_a_small_p_and_none_a_large_one() {
        RandomStream random(4, "test");
        std::vector<double> a, b, same;
        for (int i = 0; i < 100; ++i) {
            a.push_back(random.normal());
            b.push_back(a.back() - 1 + 0.5 * random.normal());
            same.push_back(a.back() + (i % 2 ? 0.1 : -0.1));
        }
        QVERIFY(paired_bootstrap(a, b, {.resamples = 999}).p <= 0.0021);
        QVERIFY(paired_bootstrap(a, same, {.resamples = 999}).p > 0.5);
        QVERIFY(paired_randomisation(a, b, Alternative::greater, 999).p <= 0.0011);
        QVERIFY(paired_randomisation(a, b, Alternative::less, 999).p > 0.99);
        QVERIFY(paired_randomisation(a, same, Alternative::two_sided, 999).p > 0.5);
    }
    /// 50 copies of each of 4 pairs are no more evidence than the 4.
    void pairs_that_share_a_text_are_drawn_together() {
        const std::vector base_a{0.5, 0.1, 0.7, 0.4}, base_b{0.2, 0.15, 0.5, 0.35};
        std::vector<double> a, b;
        std::vector<std::uint32_t> groups;
        for (std::uint32_t i = 0; i < 200; ++i) {
            a.push_back(base_a[i % 4]);
            b.push_back(base_b[i % 4]);
            groups.push_back(i % 4);
        }
        const auto grouped = paired_bootstrap_by_group(a, b, groups, {.resamples = 2000}),
                   alone = paired_bootstrap(a, b, {.resamples = 2000});
        QVERIFY(grouped.std_error > 5 * alone.std_error);
        EXPECT_CLOSE(grouped.estimate, alone.estimate, "estimate");
        EXPECT_ERROR(paired_bootstrap_by_group(a, b, std::vector<std::uint32_t>{1}), "200 pairs");
    }
    /// 1 of the 8 patterns reaches the sum of three positive differences; 2 of 8 two-sided.
    void few_pairs_are_tested_over_all_sign_patterns() {
        const std::vector a{1.0, 2.0, 3.0}, b{0.0, 0.0, 0.0};
        const auto r = paired_randomisation(a, b, Alternative::greater);
        QVERIFY(r.exact);
        EXPECT_CLOSE(r.p, 0.125, "greater");
        EXPECT_CLOSE(paired_randomisation(a, b).p, 0.25, "two-sided");
        EXPECT_CLOSE(paired_randomisation(a, b, Alternative::less).p, 1.0, "less");
    }
    void nan_and_nothing_give_nan() {
        const std::vector with_nan{1.0, std::nan("")}, b{0.0, 1.0};
        QVERIFY(std::isnan(bootstrap_mean(with_nan, {.resamples = 10}).estimate));
        QVERIFY(std::isnan(paired_bootstrap(with_nan, b, {.resamples = 10}).p));
        QVERIFY(std::isnan(paired_randomisation(with_nan, b).p));
        QVERIFY(std::isnan(bootstrap_mean({}).estimate));
        QVERIFY(std::isnan(paired_bootstrap({}, {}).p));
    }
    /// NumPy, 400,000 resamples of each stratum: mean 5.722, standard error 0.5282, 95% percentiles [4.734, 6.788].
    void strata_are_drawn_within_themselves_and_count_once_each() {
        const std::vector<std::vector<double>> strata{{0.5, -1.0, 2.0, 1.5, 0.25, -0.5, 3.0, 1.0}, {10, 12, 9, 14, 8}};
        const auto r = stratified_bootstrap(strata, {.resamples = 40000});
        EXPECT_CLOSE(r.estimate, (0.84375 + 10.6) / 2, "estimate");
        QCOMPARE(r.n, std::size_t{13});
        QVERIFY2(std::abs(r.std_error - 0.5282) < 0.01, std::to_string(r.std_error).c_str());
        QVERIFY2(std::abs(r.interval.low - 4.734) < 0.03 && std::abs(r.interval.high - 6.788) < 0.03,
                 std::to_string(r.interval.low).c_str());
        EXPECT_CLOSE(r.p, 2.0 / 8192, "every resample is positive: no less than 13 signs have by chance");
        const std::vector<double> few{1, 2, 1.5, 1, 2}, none{0, 0, 0, 0, 0};
        EXPECT_CLOSE(paired_bootstrap(few, none, {.resamples = 2000}).p, 2.0 / 32, "five of one sign");
        QCOMPARE(stratified_bootstrap(strata, {.resamples = 100}).interval.low,
                 stratified_bootstrap(strata, {.resamples = 100}).interval.low);
    }
    void one_stratum_is_the_paired_bootstrap() {
        const std::vector values{0.5, -1.0, 2.0, 1.5, 0.25, -0.5, 3.0, 1.0}, zeros(8, 0.0);
        const auto one = stratified_bootstrap(std::vector<std::vector<double>>{values}, {.resamples = 20000});
        const auto paired = paired_bootstrap(values, zeros, {.resamples = 20000});
        QCOMPARE(one.estimate, paired.estimate);
        QVERIFY2(std::abs(one.interval.high - paired.interval.high) < 0.05, std::to_string(one.interval.high).c_str());
        QVERIFY2(std::abs(one.p - paired.p) < 0.02, std::to_string(one.p).c_str());
    }
    void empty_strata_and_a_stop_give_nan() {
        QVERIFY(std::isnan(stratified_bootstrap({}).p));
        QVERIFY(std::isnan(stratified_bootstrap(std::vector<std::vector<double>>{{1, 2}, {}}).p));
        std::stop_source stop;
        stop.request_stop();
        const std::vector values{1.0, 2.0, 3.0};
        QVERIFY(std::isnan(stratified_bootstrap(std::vector<std::vector<double>>{values}, {.stop = stop.get_token()}).p));
        QVERIFY(std::isnan(paired_bootstrap(values, std::vector{0.0, 0.0, 1.0}, {.stop = stop.get_token()}).p));
    }
    void description_gives_known_numbers() {
        const std::vector values{4.0, 1.0, 3.0, 2.0};
        const auto s = summarise(values);
        QCOMPARE(s.mean, 2.5);
        EXPECT_CLOSE(s.std, std::sqrt(5.0 / 3), "std");
        QCOMPARE(s.median, 2.5);
        QCOMPARE(s.q1, 1.75);
        QCOMPARE(quantile(values, 1.0), 4.0);
        // scipy.stats.t.interval(0.95, 3, 2.5, sqrt(5/12))
        EXPECT_CLOSE(s.interval.low, 0.4457397432394794, "low");
        QVERIFY(std::isinf(summarise(std::vector{1.0}).interval.high));
        QVERIFY(std::isnan(summarise(std::vector{1.0}).std));
        QVERIFY(std::isnan(mean({})) && std::isnan(median(std::vector{1.0, std::nan("")})) &&
                std::isnan(variance(std::vector{1.0, std::nan("")})));
        QCOMPARE(summarise({}).to_json()["mean"].is_null(), true);
    }
    void numbers_survive_json() {
        for (const double v : {0.1, -1e300, std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()})
            QCOMPARE(number_from_json(parse_json(number_to_json(v).dump(), "x"), "x"), v);
        QVERIFY(std::isnan(number_from_json(number_to_json(std::nan("")), "x")));
        EXPECT_ERROR(number_from_json("1.5", "file.json"), "file.json", "expected a number");
    }
};

FACETER_TEST(TestResampling)
#include "test_resampling.moc"
