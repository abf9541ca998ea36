#include "stats/equivalence.h"
#include "stats/power.h"
#include "support/stats_fixture.h"

using namespace faceter;
using namespace faceter::testing;

class TestPower : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    /// statsmodels 0.14: TTestPower().power and TTestIndPower().power(ratio=1); its own noncentral t is good to about 1e-8.
    void power_equals_statsmodels() {
        struct Case {
            double effect;
            std::int64_t n;
            double alpha;
            Alternative alternative;
            double paired, welch;
        };
        const Case cases[] = {{0.5, 20, 0.05, Alternative::two_sided, 0.5645044184390203, 0.3379390289250411},
                              {0.3, 5, 0.05, Alternative::two_sided, 0.08226277422272678, 0.07045960293662656},
                              {1.2, 5, 0.01, Alternative::greater, 0.3121870392259638, 0.23045897010948535},
                              {-0.8, 12, 0.05, Alternative::less, 0.8289808640154289, 0.6002346522266928},
                              {0.8, 12, 0.05, Alternative::less, 1.0117284789936884e-05, 0.00019515691778047156},
                              {0.05, 3000, 0.05, Alternative::two_sided, 0.7816495145647636, 0.49056196704153004}};
        for (const Case& c : cases) {
            const std::string name = std::to_string(c.effect) + " " + std::to_string(c.n);
            EXPECT_CLOSE_TO(power_of({PowerDesign::paired_t, c.effect, c.alpha, c.alternative}, c.n), c.paired, 1e-7, name);
            EXPECT_CLOSE_TO(power_of({PowerDesign::welch, c.effect, c.alpha, c.alternative}, c.n), c.welch, 1e-7, name);
        }
    }

    /// statsmodels' solve_power gives the real number above which the next whole one lies.
    void the_smallest_sample_equals_statsmodels() {
        const auto paired = [](double effect, double power) { return sample_size_for({PowerDesign::paired_t, effect}, power); };
        const auto welch = [](double effect, double power) { return sample_size_for({PowerDesign::welch, effect}, power); };
        QCOMPARE(paired(0.5, 0.8), 34);
        QCOMPARE(paired(0.2, 0.9), 265);
        QCOMPARE(paired(1.5, 0.8), 6);
        QCOMPARE(paired(0.01, 0.8), 78491);
        QCOMPARE(welch(0.5, 0.8), 64);
        QCOMPARE(welch(0.2, 0.9), 527);
        QCOMPARE(welch(1.5, 0.8), 9);
        QCOMPARE(welch(0.01, 0.8), 156979);
    }

    /// Normal: (1.95996 + 0.84162)^2 / effect^2; between the last power of two and the most that is tried.
    void as_many_as_are_tried_are_found() {
        const auto n = static_cast<double>(sample_size_for({PowerDesign::paired_t, 1e-4}, 0.8));
        EXPECT_CLOSE_TO(n, 7.84888e8, 1e-5, "paired");
    }

    void the_smallest_sample_is_the_smallest() {
        for (const double effect : {0.07, 0.4, 1.1, -2.5, 40.0})
            for (const double power : {0.1, 0.5, 0.95})
                for (const PowerDesign design : {PowerDesign::paired_t, PowerDesign::welch}) {
                    const PowerPlan plan{design, effect};
                    const std::int64_t n = sample_size_for(plan, power);
                    QVERIFY(power_of(plan, n) >= power);
                    QVERIFY(n == 2 || power_of(plan, n - 1) < power);
                }
    }

    /// Beyond some 65,000 Boost's noncentral t has more terms than an int counts: it threw.
    void effects_that_nobody_misses_are_found() {
        for (const double effect : {1e5, 1e8, 1e200}) {
            QCOMPARE(power_of({PowerDesign::paired_t, effect}, 5), 1.0);
            QCOMPARE(power_of({PowerDesign::paired_t, -effect, 0.05, Alternative::greater}, 5), 0.0);
            QCOMPARE(sample_size_for({PowerDesign::welch, effect}, 0.8), 2);
        }
        // alpha so small that even these are missed now and then: both sides of the border agree
        const auto power = [](double noncentrality) {
            return power_of({PowerDesign::paired_t, noncentrality / std::sqrt(2.0), 1e-6, Alternative::greater}, 2);
        };
        EXPECT_CLOSE_TO(power(5.0001e4), power(4.9999e4), 1e-4, "at the border");
        QVERIFY(power(4.9999e4) > 0.1 && power(4.9999e4) < 0.9);
    }

    void a_power_is_never_below_nothing_nor_above_one() {
        for (const double effect : {1e4, -1e4, 300.0, -40.0})
            for (const Alternative alternative : {Alternative::less, Alternative::greater, Alternative::two_sided})
                for (const PowerDesign design : {PowerDesign::paired_t, PowerDesign::welch}) {
                    const double power = power_of({design, effect, 1e-12, alternative}, 2);
                    QVERIFY2(power >= 0 && power <= 1, std::to_string(power).c_str());
                }
    }
    void what_cannot_be_planned_is_refused() {
        EXPECT_ERROR(sample_size_for({PowerDesign::paired_t, 0}, 0.8), "no number of observations");
        EXPECT_ERROR(sample_size_for({PowerDesign::welch, 0.5, 0.05, Alternative::less}, 0.8), "less");
        EXPECT_ERROR(power_of({PowerDesign::welch, 0.5}, 1), "two observations");
        EXPECT_ERROR(power_of({PowerDesign::welch, 0.5, 1.5}, 4), "alpha");
        EXPECT_ERROR(sample_size_for({PowerDesign::welch, 1e-9}, 0.8), "too small");
        EXPECT_ERROR(equivalence(std::vector{1.0, 2.0}, std::vector{1.0, 2.0}, 0), "above 0");
    }

    /// statsmodels 0.14: ttost_ind(usevar="unequal") and ttost_paired.
    void equivalence_equals_statsmodels() {
        const std::vector a{42.9, 42.2, 43.1, 42.5, 43.3}, b{42.7, 42.5, 42.8, 42.6, 42.9};
        const EquivalenceResult groups = equivalence(a, b, 0.5);
        EXPECT_CLOSE(groups.p, 0.05910062231028507, "p");
        EXPECT_CLOSE(groups.p_lower, 0.018435212650265573, "p_lower");
        EXPECT_CLOSE(groups.df, 4.984615384615378, "df");
        const EquivalenceResult pairs = paired_equivalence(a, b, 0.5);
        EXPECT_CLOSE(pairs.p, 0.018685421173577826, "p");
        EXPECT_CLOSE(pairs.p_lower, 0.005008687526390235, "p_lower");
        EXPECT_CLOSE(pairs.df, 4.0, "df");
    }

    void the_interval_lies_within_the_margins_just_where_p_is_below_5_percent() {
        const std::vector a{42.9, 42.2, 43.1, 42.5, 43.3}, b{42.7, 42.5, 42.8, 42.6, 42.9};
        for (double margin = 0.05; margin < 2; margin += 0.05) {
            const EquivalenceResult r = equivalence(a, b, margin);
            QCOMPARE(r.p < 0.05, -margin < r.interval.low && r.interval.high < margin);
        }
    }

    void a_sample_that_says_nothing_gives_no_p() {
        const std::vector two{2.0, 2.0, 2.0}, ones{1.0, 1.0, 1.0};
        for (const auto& [a, b] : {std::pair(two, ones), std::pair(ones, two)}) {  // apart by the margin, without spread: 0 / 0
            QVERIFY(std::isnan(equivalence(a, b, 1).p) && std::isnan(paired_equivalence(a, b, 1).p));
            QCOMPARE(equivalence(a, b, 1).note, std::string("the samples are constant and apart by the margin"));
        }
        const EquivalenceResult one = equivalence(std::vector{1.0}, std::vector{1.0, 2.0}, 1);
        QVERIFY(std::isnan(one.p) && !one.note.empty());
        for (const auto test : {equivalence, paired_equivalence}) {
            const EquivalenceResult huge = test(std::vector{1e200, -1e200, 2e200}, std::vector{1e200, 3e200, 1e200}, 1);
            QVERIFY2(std::isnan(huge.p) && huge.note.find("so large") != std::string::npos, huge.note.c_str());
            const EquivalenceResult nan = test(std::vector{1.0, std::nan("")}, std::vector{1.0, 2.0}, 1);
            QVERIFY2(std::isnan(nan.p) && nan.note.find("not a number") != std::string::npos, nan.note.c_str());
        }
        const EquivalenceResult same = paired_equivalence(std::vector{1.0, 2.0, 3.0}, std::vector{1.0, 2.0, 3.0}, 1);
        QCOMPARE(same.note, std::string("all differences are equal: t is infinite"));  // neither sample is constant
        QVERIFY(same.p == 0 && !same.note.empty());
    }
};

FACETER_TEST(TestPower)
#include "test_power.moc"
