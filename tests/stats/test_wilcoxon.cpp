#include "stats/effect_size.h"
#include "stats/hodges_lehmann.h"
#include "stats/paired.h"
#include "support/stats_fixture.h"

using namespace faceter;
using namespace faceter::testing;

class TestWilcoxon : public QObject {
    Q_OBJECT
    static ZeroMethod zero_method(const std::string& name) {
        return name == "pratt" ? ZeroMethod::pratt : name == "zsplit" ? ZeroMethod::zsplit : ZeroMethod::wilcox;
    }
    /// p by trying all sign patterns of the differences other than zero.
    static double brute_force(const std::vector<double>& ranks, const std::vector<double>& differences, bool less) {
        double observed = 0;
        for (std::size_t i = 0; i < ranks.size(); ++i) observed += differences[i] > 0 ? ranks[i] : 0;
        std::size_t count = 0;
        for (std::size_t signs = 0; signs < std::size_t{1} << ranks.size(); ++signs) {
            double plus = 0;
            for (std::size_t i = 0; i < ranks.size(); ++i) plus += signs >> i & 1 ? ranks[i] : 0;
            count += less ? plus <= observed : plus >= observed;
        }
        return static_cast<double>(count) / static_cast<double>(std::size_t{1} << ranks.size());
    }

  private Q_SLOTS:
    void every_method_and_treatment_of_zeros_equals_scipy() {
        NEED_SHARED();
        for (const Json& c : stats_fixture()["wilcoxon"]["cases"])
            for (const Json& expected : c["results"]) {
                WilcoxonOptions options;
                options.alternative = parse_alternative(expected["alternative"].get<std::string>());
                const bool exact = expected["method"] == "exact";
                options.method = exact ? WilcoxonMethod::exact : WilcoxonMethod::approximate;
                options.zeros = zero_method(expected.value("zero_method", "wilcox"));
                options.continuity_correction = expected.value("correction", false);
                const auto r = wilcoxon(numbers(c["d"]), options);
                const std::string name = c["name"].get<std::string>() + " " + expected.dump();
                EXPECT_CLOSE(r.statistic, number(expected["W"]), name);
                EXPECT_CLOSE(r.p, number(expected["p"]), name);
                if (!exact) EXPECT_CLOSE(r.z, number(expected["z"]), name);
                QCOMPARE(r.exact, exact);
            }
    }
    void the_exact_test_is_right_under_ties() {
        const std::vector<double> differences{1, 1, -1, 2, -2, 2, 3};
        const std::vector<double> ranks{2, 2, 2, 5, 5, 5, 7};
        for (const bool less : {true, false}) {
            WilcoxonOptions options{.alternative = less ? Alternative::less : Alternative::greater, .method = WilcoxonMethod::exact};
            EXPECT_CLOSE(wilcoxon(differences, options).p, brute_force(ranks, differences, less), "ties");
        }
    }
    /// All differences are of 0.1, but that 0.9 - 0.8 and 0.8 - 0.7 are of 0.09999999999999998 and 0.10000000000000009.
    void differences_apart_by_rounding_have_one_rank() {
        const std::vector a{0.3, 0.8, 0.9, 0.6, 0.5, 0.7}, b{0.2, 0.7, 0.8, 0.5, 0.4, 0.8};
        const auto differences = paired_differences(a, b);
        const std::vector whole{1.0, 1.0, 1.0, 1.0, 1.0, -1.0};
        EXPECT_CLOSE(wilcoxon(differences).p, wilcoxon(whole).p, "p");
        EXPECT_CLOSE(wilcoxon(differences).p, 0.21875, "p");
        EXPECT_CLOSE(rank_biserial(differences), rank_biserial(whole), "rank-biserial");
        EXPECT_CLOSE(hodges_lehmann(differences).estimate, 0.1, "shift");
    }
    void what_rounding_leaves_of_equal_values_is_no_difference() {
        const auto differences = paired_differences(std::vector{0.1 + 0.2, 0.5, 0.75}, std::vector{0.3, 0.25, 0.5});
        QCOMPARE(differences[0], 0.0);
        QCOMPARE(wilcoxon(differences).n_nonzero, std::size_t{2});
        QCOMPARE(paired_differences(std::vector{1e-20, 3e-20}, std::vector{2e-20, 1e-20})[0], -1e-20);  // small, but measured
    }
    void the_automatic_method_is_exact_up_to_fifty() {
        std::vector<double> differences;
        for (int i = 1; i <= 50; ++i) differences.push_back(i % 3 ? i : -i);
        QVERIFY(wilcoxon(differences).exact);
        differences.push_back(0);
        QVERIFY(wilcoxon(differences).exact);
        differences.push_back(51);
        QVERIFY(!wilcoxon(differences).exact);
    }
    void a_test_of_nothing_says_so() {
        for (const std::vector<double>& d : {std::vector<double>{}, {0.0, 0.0}, {1.0, std::nan("")}}) {
            const auto r = wilcoxon(d);
            QVERIFY(std::isnan(r.p) && !r.note.empty());
            QVERIFY(r.to_json()["p"].is_null());
        }
        EXPECT_ERROR(wilcoxon(std::vector<double>(1001, 1.0), {.method = WilcoxonMethod::exact}), "1000", "approximation");
    }
    void exact_p_of_a_thousand_equal_signs_is_two_to_the_minus_thousand() {
        const auto r = wilcoxon(std::vector<double>(1000, 1.0), {.alternative = Alternative::greater, .method = WilcoxonMethod::exact});
        EXPECT_CLOSE(r.p, std::ldexp(1.0, -1000), "p");
    }
};

FACETER_TEST(TestWilcoxon)
#include "test_wilcoxon.moc"
