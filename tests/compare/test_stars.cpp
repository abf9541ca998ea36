#include <cmath>

#include "compare/compare_view_table.h"
#include "compare/report.h"
#include "support/sample_runs.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

constexpr int num_sets = 8;

/// Means over three seeds on eight data sets, for which scipy.stats 1.17 was asked (ttest_rel and wilcoxon against EM, Holm and
/// Benjamini-Hochberg).
const std::map<std::string, std::array<double, num_sets>>& scores() {
    static const std::map<std::string, std::array<double, num_sets>> all{{"EM", {42.22, 51.21, 47.07, 56.69, 54.88, 58.62, 62.66, 62.68}},
                                                                         {"SEM", {41.9, 50.03, 46.27, 55.83, 54.05, 57.97, 61.98, 62.68}},
                                                                         {"IC", {42.9, 52.18, 48.74, 57.89, 55.31, 59.94, 63.84, 64.72}},
                                                                         {"MoTE", {43.89, 53.65, 50.99, 61.18, 56.67, 62.14, 64.88, 64.99}},
                                                                         {"TLR", {41.11, 50.78, 48.76, 57.96, 55.17, 58.28, 62.86, 62.72}}};
    return all;
}

struct Known {
    double p, holm, bh, wilcoxon, wilcoxon_holm, d_z;
    int stars, wilcoxon_stars;
};
const std::map<std::string, Known>& known() {
    static const std::map<std::string, Known> all{
        {"IC", {0.00032914027790524727, 0.0009874208337157418, 0.0006582805558104945, 0.0078125, 0.03125, 2.3037625917651745, 3, 1}},
        {"MoTE", {0.00012935473807307923, 0.0005174189522923169, 0.0005174189522923169, 0.0078125, 0.03125, 2.6768087416623954, 3, 1}},
        {"SEM", {0.0012318098949412393, 0.0024636197898824787, 0.0016424131932549857, 0.015625, 0.03125, -1.8439729281987034, 2, 1}},
        {"TLR", {0.5516913770609991, 0.5516913770609991, 0.5516913770609991, 0.7421875, 0.7421875, 0.22102829105890687, 0, 0}}};
    return all;
}

const char* five_variants = R"(name: five
seeds: [1, 2, 3]
tasks:
  retrieval: {}
variants:
  EM: {method: dense}
  SEM: {method: mixture}
  IC: {method: mixture, placement: every_other}
  MoTE: {method: mixture, placement: every}
  TLR: {method: dense}
training: {steps: 1}
evaluation: {baseline: false}
)";

bool near(double a, double b) { return std::abs(a - b) <= 1e-8 * std::max(1.0, std::abs(b)); }

}  // namespace

/// The table of five variants, from run directories to stars.
class TestStars : public QObject {
    Q_OBJECT
    TemporaryDirectory project_;
    std::unique_ptr<Store> store_;
    Comparison comparison_;

    ComparisonView view(CompareTest test, Correction correction = Correction::holm) const {
        CompareChoice choice;
        choice.test = test;
        choice.correction = correction;
        return view_comparison(comparison_, {}, choice);
    }
    std::size_t group(const std::string& name) const {
        for (std::size_t i = 0; i < comparison_.groups.size(); ++i)
            if (comparison_.groups[i].name == name) return i;
        return comparison_.groups.size();
    }

  private Q_SLOTS:
    void initTestCase() {
        const Experiment experiment = parse_sample(five_variants);
        QCOMPARE(experiment.runs().size(), std::size_t{15});
        for (const ResolvedRun& resolved : experiment.runs()) {
            const RunDirectory run = RunDirectory::create(project_.path(), experiment, resolved, false);
            write_attempt(run, 1, 3, "finished");
            const double shift = 0.25 * (static_cast<double>(resolved.seed) - 2);  // of seeds 1, 2, 3: the mean is the known number
            for (int set = 0; set < num_sets; ++set)
                run.write_result(fmt::format("set{}", set),
                                 {{"name", fmt::format("set{}", set)},
                                  {"task_type", set % 2 ? "retrieval" : "classification"},
                                  {"metric", "m"},
                                  {"score", scores().at(resolved.variant)[static_cast<std::size_t>(set)] + shift},
                                  {"n", 10},
                                  {"metrics", Json::object()},
                                  {"per_example", Json::array()},
                                  {"settings", Json::object()}});
        }
        store_ = std::make_unique<Store>(project_.path());
        store_->ingest_all();
        std::string baseline;
        for (const RunRow& row : store_->runs())
            if (row.info.variant == "EM") baseline = row.info.id;
        comparison_ = compare_runs(*store_, store_->runs(), baseline);
        QCOMPARE(comparison_.groups.size(), std::size_t{5});
        for (const RunGroup& one : comparison_.groups) QCOMPARE(one.runs.size(), std::size_t{3});
    }
    void stars_of_the_paired_test_are_those_of_the_known_p() {
        const ComparisonView shown = view(CompareTest::paired_sets);
        const Table table = comparison_table(comparison_, shown);
        for (const auto& [name, expected] : known()) {
            const TestOutcome& outcome = shown.gains[group(name)].outcome;
            QVERIFY2(near(outcome.p, expected.p), name.c_str());
            QVERIFY2(near(outcome.p_adjusted, expected.holm), name.c_str());
            QVERIFY2(near(outcome.effect, expected.d_z), name.c_str());
            QCOMPARE(outcome.n, std::size_t{num_sets});
            QCOMPARE(outcome.stars(), expected.stars);
            const Cell& mean = table.rows[group(name)].cells[1 + num_sets];
            QCOMPARE(mean.stars, expected.stars);
            QCOMPARE(mean.n, std::int64_t{3});
            QVERIFY(near(mean.spread, 0.25));
        }
        QCOMPARE(table.rows[group("EM")].cells[1 + num_sets].stars, 0);
        QVERIFY(table_to_latex(table).find("\\rlap{$^{***}$}") != std::string::npos);
    }
    void benjamini_hochberg_adjusts_less() {
        for (const auto& [name, expected] : known())
            QVERIFY2(
                near(view(CompareTest::paired_sets, Correction::benjamini_hochberg).gains[group(name)].outcome.p_adjusted, expected.bh),
                name.c_str());
        QVERIFY(view(CompareTest::paired_sets, Correction::benjamini_hochberg).test_sentence.find("Benjamini-Hochberg") !=
                std::string::npos);
        const Json json = comparison_json(comparison_, view(CompareTest::paired_sets, Correction::benjamini_hochberg));
        QVERIFY(near(json.at("test").at("means").at("SEM").at("p_bh").get<double>(), known().at("SEM").bh));
    }
    void wilcoxons_exact_test_gives_its_own_stars() {
        const ComparisonView shown = view(CompareTest::wilcoxon_sets);
        for (const auto& [name, expected] : known()) {
            const TestOutcome& outcome = shown.gains[group(name)].outcome;
            QVERIFY2(near(outcome.p, expected.wilcoxon) && near(outcome.p_adjusted, expected.wilcoxon_holm), name.c_str());
            QCOMPARE(outcome.stars(), expected.wilcoxon_stars);
            QCOMPARE(outcome.method, std::string("exact"));
            QVERIFY(outcome.warning.empty());
        }
    }
    void each_test_names_its_assumption_and_n() {
        for (const CompareTest test :
             {CompareTest::wilcoxon_sets, CompareTest::welch_sets, CompareTest::paired_seeds, CompareTest::welch_seeds}) {
            const Table table = comparison_table(comparison_, view(test));
            std::string notes;
            for (const std::string& note : table.footnotes) notes += note + "\n";
            QVERIFY2(notes.find(std::string(compare_test_info(test).assumption)) != std::string::npos, notes.c_str());
            if (test != CompareTest::paired_seeds)  // seeds differ alike in all groups here: no spread, no test
                QVERIFY2(notes.find(fmt::format("n = {} {}", observations_of(test) == "seeds" ? 3 : num_sets, observations_of(test))) !=
                             std::string::npos,
                         notes.c_str());
        }
    }
    void too_small_an_n_is_warned_of() {
        QVERIFY(small_sample_warning(CompareTest::wilcoxon_sets, 5).find("0.0625") != std::string::npos);
        QVERIFY(small_sample_warning(CompareTest::wilcoxon_sets, 6).empty());
        QVERIFY(small_sample_warning(CompareTest::randomisation, 5).find("no star") != std::string::npos);
        QVERIFY(small_sample_warning(CompareTest::paired_sets, 3).find("3 data sets are few") != std::string::npos);
        QVERIFY(small_sample_warning(CompareTest::welch_seeds, 3).find("3 seeds are few") != std::string::npos);
        QVERIFY(small_sample_warning(CompareTest::bootstrap, 10).find("too narrow") != std::string::npos);
        QVERIFY(small_sample_warning(CompareTest::bootstrap, 300).empty());
        const TestOutcome outcome = view(CompareTest::welch_seeds).gains[group("MoTE")].outcome;
        QVERIFY(outcome.has_p() && !outcome.warning.empty());
        QVERIFY(describe_outcome(CompareTest::welch_seeds, outcome).find("3 seeds are few") != std::string::npos);
    }
    void the_reports_table_of_tests_holds_the_same_numbers() {
        const Table table = significance_table(comparison_, view(CompareTest::paired_sets));
        for (const Row& row : table.rows) {
            const Known& expected = known().at(row.cells[0].text);
            QVERIFY(near(row.cells[4].value, expected.p) && near(row.cells[5].value, expected.holm) &&
                    near(row.cells[6].value, expected.d_z));
            QCOMPARE(row.cells[1].stars, expected.stars);
        }
        QCOMPARE(table.rows.size(), std::size_t{4});
    }
};

FACETER_TEST(TestStars)
#include "test_stars.moc"
