#include "stats/effect_size.h"
#include "stats/equivalence.h"
#include "stats/number.h"
#include "stats/paired.h"
#include "stats/welch.h"
#include "support/stats_fixture.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

}  // namespace

class TestTTests : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    /// scipy.stats.ttest_ind(a, b, equal_var=False).confidence_interval()
    void welchs_interval_equals_scipy() {
        const std::vector a{42.9, 42.2, 43.1}, b{41.2, 40.1, 42.0};
        const Interval interval = welch_interval(a, b);
        EXPECT_CLOSE(interval.low, -0.3510329845262219, "low");
        EXPECT_CLOSE(interval.high, 3.6176996511928734, "high");
        QVERIFY(std::isnan(welch_interval(a, std::vector{1.0}).low));
    }
    /// t, df and p at 1e-10 relative down to p = 1e-300. The one exception is the case "large_offset" (1e8 + noise): numpy's mean of such
    /// values carries an error of 1e-8, ours is corrected in a second pass; its t is compared at 1e-6.
    void welch_equals_scipy() {
        NEED_SHARED();
        for (const Json& c : stats_fixture()["welch_t"]["cases"]) {
            const auto name = c["name"].get<std::string>();
            const double tolerance = name == "large_offset" ? 1e-6 : 1e-10;
            for (const auto& [alternative, expected] : c["results"].items()) {
                const auto r = welch(numbers(c["a"]), numbers(c["b"]), parse_alternative(alternative));
                EXPECT_CLOSE_TO(r.t, number(expected["t"]), tolerance, name);
                EXPECT_CLOSE_TO(r.df, number(expected["df"]), tolerance, name);
                EXPECT_CLOSE_TO(r.p, number(expected["p"]), tolerance, name + " " + alternative);
                EXPECT_CLOSE_TO(r.p, number(expected["p_60_digits"]), tolerance, name + " " + alternative);
            }
        }
    }
    void an_offset_of_the_data_costs_no_digits() {
        NEED_SHARED();
        for (const Json& c : stats_fixture()["welch_t"]["cases"]) {
            if (c["name"] != "large_offset") continue;
            const auto r = welch(numbers(c["a"]), numbers(c["b"]));
            EXPECT_CLOSE(r.t, -3.2656795591987207, "t of exact sums");
            EXPECT_CLOSE(r.p, 0.001600152017436458, "p of exact sums");
        }
    }
    void paired_t_equals_scipy() {
        NEED_SHARED();
        for (const Json& c : stats_fixture()["paired_t"]["cases"])
            for (const auto& [alternative, expected] : c["results"].items()) {
                const auto name = c["name"].get<std::string>() + " " + alternative;
                const auto r = paired_t(numbers(c["a"]), numbers(c["b"]), parse_alternative(alternative));
                EXPECT_CLOSE(r.t, number(expected["t"]), name);
                EXPECT_CLOSE(r.df, number(expected["df"]), name);
                EXPECT_CLOSE(r.p, number(expected["p"]), name);
            }
    }
    /// t and p of scipy.stats.ttest_ind([1, 2, 4], [2, 5, 9, 11], equal_var=False): so that something is checked where ../shared is absent.
    void welch_gives_known_numbers() {
        const auto r = welch(std::vector{1.0, 2.0, 4.0}, std::vector{2.0, 5.0, 9.0, 11.0}, Alternative::less);
        EXPECT_CLOSE(r.t, -2.0075181505582105, "t");
        EXPECT_CLOSE(r.df, 4.036735440019278, "df");
        EXPECT_CLOSE(r.p, 0.05724169503898951, "p");
        QCOMPARE(r.n_b, std::size_t{4});
        EXPECT_CLOSE(r.mean_b, 6.75, "mean");
    }
    void exchanging_the_samples_exchanges_less_and_greater() {
        const std::vector a{0.2, 0.5, 0.9, 0.4}, b{0.8, 1.2, 0.7};
        EXPECT_CLOSE(welch(a, b, Alternative::less).p, welch(b, a, Alternative::greater).p, "one-sided");
        EXPECT_CLOSE(welch(a, b).p, welch(b, a).p, "two-sided");
    }
    void degenerate_samples_give_a_stated_nan() {
        const auto single = welch(std::vector{1.0}, std::vector{1.0, 2.0});
        QVERIFY(std::isnan(single.t) && std::isnan(single.p) && std::isnan(single.df) && !single.note.empty());
        const auto empty = welch({}, {});
        QVERIFY(std::isnan(empty.p) && !empty.note.empty());
        const auto nan = welch(std::vector{1.0, std::nan("")}, std::vector{1.0, 2.0});
        QVERIFY(std::isnan(nan.p));
        QVERIFY(nan.note.find("not a number") != std::string::npos);
        const auto huge = welch(std::vector{1e308, -1e308, 1e308}, std::vector{1.0, 2.0, 3.0});
        QVERIFY2(std::isnan(huge.p) && huge.note.find("so large") != std::string::npos, huge.note.c_str());
        const auto equal = welch(std::vector{2.0, 2.0}, std::vector{2.0, 2.0});
        QVERIFY(std::isnan(equal.t) && std::isnan(equal.p) && !equal.note.empty());
        const auto apart = welch(std::vector{2.0, 2.0}, std::vector{3.0, 3.0}, Alternative::less);
        QCOMPARE(apart.t, -inf);
        QCOMPARE(apart.p, 0.0);
        QCOMPARE(welch(std::vector{2.0, 2.0}, std::vector{3.0, 3.0}, Alternative::greater).p, 1.0);
    }
    void tiny_variances_do_not_underflow() {
        const auto r = welch(std::vector{1e-160, 2e-160, 3e-160}, std::vector{1e-160, 2e-160, 4e-160});
        QVERIFY(r.df > 2 && r.df < 4);
    }
    void paired_t_states_its_degenerate_cases() {
        QVERIFY(std::isnan(paired_t(std::vector{1.0}, std::vector{2.0}).p));
        QVERIFY(std::isnan(paired_t(std::vector{1.0, 2.0}, std::vector{1.0, 2.0}).p));
        const auto shifted = paired_t(std::vector{2.0, 3.0}, std::vector{1.0, 2.0}, Alternative::greater);
        QCOMPARE(shifted.t, inf);
        QCOMPARE(shifted.p, 0.0);
        EXPECT_ERROR(paired_t(std::vector{1.0, 2.0}, std::vector{1.0}), "2 and 1");
    }
    /// 0.1 - 0.2, 0.2 - 0.3 and 0.3 - 0.4 differ in their last digits; SciPy's p is 2.6e-32, of nothing but rounding.
    void differences_apart_by_rounding_are_equal() {
        const std::vector a{0.1, 0.2, 0.3}, b{0.2, 0.3, 0.4};
        const PairedTResult apart = paired_t(a, b);
        QCOMPARE(apart.t, -inf);
        QCOMPARE(apart.p, 0.0);
        QCOMPARE(apart.std_difference, 0.0);
        EXPECT_CLOSE(apart.mean_difference, -0.1, "mean");
        QCOMPARE(apart.note, std::string("all differences are equal: t is infinite"));
        QCOMPARE(paired_effect_size(a, b), -inf);
        QCOMPARE(paired_equivalence(a, b, 0.2).note, std::string("all differences are equal: t is infinite"));

        const std::vector sums{0.1 + 0.2, 0.3 + 0.6, 1.0}, same{0.3, 0.9, 1.0};
        QVERIFY(sums != same);
        QVERIFY(std::isnan(paired_t(sums, same).p));
        QCOMPARE(paired_t(sums, same).note, std::string("all differences are zero: there is nothing to test"));

        const PairedTResult close = paired_t(std::vector{1e-100, 2e-100, 3e-100}, std::vector{2e-100, 3e-100, 4e-100 * (1 + 1e-12)});
        QVERIFY(std::isfinite(close.t) && close.note.empty());  // small, but no rounding
        QVERIFY(std::isnan(paired_t(std::vector{0.0, not_a_number}, std::vector{0.0, 0.0}).mean_difference));
    }
    void results_as_json_hold_what_scripts_read() {
        const Json json = welch(std::vector{1.0, 2.0, 4.0}, std::vector{2.0, 5.0}).to_json();
        for (const char* key : {"t", "df", "p", "mean_a", "mean_b", "n_a", "n_b"}) QVERIFY2(json.at(key).is_number(), key);
        QVERIFY(welch({}, {}).to_json()["p"].is_null());
        QCOMPARE(welch(std::vector{2.0, 2.0}, std::vector{3.0, 3.0}).to_json()["t"].get<std::string>(), std::string("-inf"));
        EXPECT_ERROR(parse_alternative("lesser"), "lesser", "two-sided, less or greater");
    }
};

FACETER_TEST(TestTTests)
#include "test_t_tests.moc"
