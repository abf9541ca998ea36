#include "compare/significance.h"

#include <cmath>

#include "compare/compared_groups.h"
#include "support/sample_runs.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

bool near(double a, double b, double tolerance = 1e-10) { return std::abs(a - b) <= tolerance * std::max(1.0, std::abs(b)); }

}  // namespace

/// The numbers are scipy.stats' (1.17): ttest_rel, ttest_ind(equal_var=False), permutation_test(permutation_type="samples").
class TestSignificance : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void the_paired_test_over_data_sets_equals_scipy() {
        const TestOutcome mean = test_on_mean(CompareTest::paired_sets, compared_groups(), {}, 1);
        QVERIFY(near(mean.p, 0.09852958935187864));
        QVERIFY(near(mean.interval.low, -0.3915541919894112) && near(mean.interval.high, 2.6748875253227355));
        QCOMPARE(mean.n, std::size_t{4});
        QVERIFY(!test_on_set(CompareTest::paired_sets, compared_groups(), {}, 1, "set0").has_p());
    }
    void the_paired_test_over_seeds_equals_scipy() {
        const double p[] = {0.030225695673593032, 0.11808289631180413, 0.932426262160055, 0.058486916475991774};
        for (int set = 0; set < 4; ++set)
            QVERIFY(near(test_on_set(CompareTest::paired_seeds, compared_groups(), {}, 1, "set" + std::to_string(set)).p, p[set]));
        const TestOutcome mean = test_on_mean(CompareTest::paired_seeds, compared_groups(), {}, 1);
        QVERIFY(near(mean.p, 0.008884392155356212));
        QVERIFY(near(mean.interval.low, 0.6755459542771519));
    }
    void seeds_are_paired_by_their_number_not_their_order() {
        Comparison shuffled = compared_groups();
        RunGroup& group = shuffled.groups[1];
        std::swap(group.runs[0], group.runs[2]);
        for (auto& [name, scores] : group.scores) std::swap(scores[0], scores[2]);
        QVERIFY(near(test_on_set(CompareTest::paired_seeds, shuffled, {}, 1, "set0").p, 0.030225695673593032));
        QVERIFY(near(test_on_mean(CompareTest::paired_seeds, shuffled, {}, 1).p, 0.008884392155356212));
    }
    /// It is the default baseline, and has one seed: no test over seeds could be had against it.
    void the_start_model_stands_beside_every_seed() {
        Comparison against_start = compared_groups();
        RunGroup& start = against_start.groups[0];
        start.method = "start";
        start.runs.resize(1);
        for (auto& [name, scores] : start.scores) scores.resize(1), start.scored_runs[name].resize(1);
        const TestOutcome set = test_on_set(CompareTest::paired_seeds, against_start, {}, 1, "set0");
        QCOMPARE(set.n, std::size_t{3});
        QVERIFY2(near(set.p, 0.030234850881696907), std::to_string(set.p).c_str());
        QCOMPARE(test_on_mean(CompareTest::wilcoxon_seeds, against_start, {}, 1).n, std::size_t{3});
        start.method = "dense";
        QVERIFY(!test_on_set(CompareTest::paired_seeds, against_start, {}, 1, "set0").has_p());
    }
    void welch_over_seeds_equals_scipy_with_holm_over_the_column() {
        const double p[] = {0.07856182371370304, 0.19745022091741563, 0.9273216888136222, 0.006703089535776287};
        const double adjusted[] = {0.23568547114110913, 0.39490044183483125, 0.9273216888136222, 0.026812358143105147};
        std::vector<TestOutcome> outcomes;
        for (int set = 0; set < 4; ++set)
            outcomes.push_back(test_on_set(CompareTest::welch_seeds, compared_groups(), {}, 1, "set" + std::to_string(set)));
        std::vector<TestOutcome*> family;
        for (TestOutcome& outcome : outcomes) family.push_back(&outcome);
        adjust_holm(family);
        for (std::size_t set = 0; set < 4; ++set) QVERIFY(near(outcomes[set].p, p[set]) && near(outcomes[set].p_adjusted, adjusted[set]));
        QCOMPARE(outcomes[3].stars(), 1);
        QCOMPARE(outcomes[0].stars(), 0);
        QVERIFY(near(test_on_mean(CompareTest::welch_seeds, compared_groups(), {}, 1).interval.high, 1.8675283529695659));
    }
    void the_randomisation_test_equals_scipys_exact_permutations() {
        const TestOutcome outcome = test_on_set(CompareTest::randomisation, compared_groups(), example_scores(), 1, "set2");
        QVERIFY2(near(outcome.p, 0.0859375), std::to_string(outcome.p).c_str());
        QVERIFY(near(outcome.difference, 1.9));
        QCOMPARE(outcome.n, std::size_t{10});
    }
    /// Five examples that are all better: each resample is, too, and the p was 1e-4.
    void the_bootstrap_of_few_examples_is_no_surer_than_their_signs() {
        ExampleScores few = example_scores();
        for (std::size_t g = 0; g < 2; ++g) few.groups[g]["set0"].values.assign(5, 50 + 2.0 * static_cast<double>(g));
        const TestOutcome outcome = test_on_set(CompareTest::bootstrap, compared_groups(), few, 1, "set0");
        QCOMPARE(outcome.p, 0.0625);
        QCOMPARE(outcome.difference, 2.0);
    }
    void the_bootstrap_over_examples_sees_the_mean_and_its_interval() {
        const TestOutcome set = test_on_set(CompareTest::bootstrap, compared_groups(), example_scores(), 1, "set2");
        QVERIFY(near(set.difference, 1.9));
        QVERIFY(set.interval.low < 0.3 && set.interval.high > 3.4);
        const TestOutcome mean = test_on_mean(CompareTest::bootstrap, compared_groups(), example_scores(), 1);
        QCOMPARE(mean.n, std::size_t{40});
        QVERIFY(mean.p < 0.01);
        QVERIFY(mean.interval.low > set.interval.low);
    }
    void too_few_observations_have_no_stars_but_a_reason() {
        Comparison one_seed = compared_groups();
        for (RunGroup& group : one_seed.groups) {
            group.runs.resize(1);
            for (auto& [name, scores] : group.scores) scores.resize(1), group.scored_runs[name].resize(1);
        }
        for (const CompareTest test : {CompareTest::paired_seeds, CompareTest::welch_seeds}) {
            const TestOutcome outcome = test_on_set(test, one_seed, {}, 1, "set0");
            QVERIFY(!outcome.has_p() && outcome.stars() == 0);
            QVERIFY2(outcome.reason.find("seeds") != std::string::npos, outcome.reason.c_str());
        }
        Comparison other_seeds = compared_groups();
        for (RunRow& run : other_seeds.groups[1].runs) run.info.seed += 10;
        QVERIFY(test_on_set(CompareTest::paired_seeds, other_seeds, {}, 1, "set0").reason.find("seeds in common: 0") != std::string::npos);
        QVERIFY(test_on_set(CompareTest::welch_seeds, other_seeds, {}, 1, "set0").has_p());
    }
    /// 76.1 - 74.1 and 80.2 - 78.2 differ in the last bits, and so would t and p be without bounds.
    void equal_differences_have_no_stars_but_a_reason() {
        Comparison equal = compared_groups();
        for (auto& [name, scores] : equal.groups[0].scores) scores = {74.1, 78.2, 70.3};
        for (auto& [name, scores] : equal.groups[1].scores) scores = {76.1, 80.2, 72.3};
        for (const CompareTest test : {CompareTest::paired_sets, CompareTest::paired_seeds}) {
            const TestOutcome outcome = test_on_mean(test, equal, {}, 1);
            QVERIFY(!outcome.has_p() && outcome.stars() == 0);
            QVERIFY2(outcome.reason.find("all differences are equal") != std::string::npos, outcome.reason.c_str());
        }
        const Table table = comparison_table(equal);
        QCOMPARE(table.rows[1].cells[5].stars, 0);
        QVERIFY(std::any_of(table.footnotes.begin(), table.footnotes.end(), [](const std::string& note) {
            return note.find("MoTE against EM: mean difference +2.00, no test: all differences are equal") != std::string::npos;
        }));
        for (auto& [name, scores] : equal.groups[0].scores) scores = {70, 70, 70};
        for (auto& [name, scores] : equal.groups[1].scores) scores = {72, 72, 72};
        QVERIFY(!test_on_set(CompareTest::welch_seeds, equal, {}, 1, "set0").has_p());
    }
    /// Without a difference a seed has no rank: six seeds of which two are equal have the p of four.
    void seeds_without_a_difference_do_not_make_wilcoxons_test_stronger() {
        Comparison six = compared_groups();
        for (RunGroup& group : six.groups) {
            const RunRow first = group.runs.front();
            group.runs.assign(6, first);
            for (std::size_t seed = 0; seed < 6; ++seed) group.runs[seed].info.seed = seed + 1;
            group.scores["set0"] = {70, 71, 72, 73, 74, 75};
            group.scored_runs["set0"] = {0, 1, 2, 3, 4, 5};
        }
        for (std::size_t seed = 0; seed < 4; ++seed) six.groups[1].scores["set0"][seed] += 1 + static_cast<double>(seed);
        const TestOutcome outcome = test_on_set(CompareTest::wilcoxon_seeds, six, {}, 1, "set0");
        QCOMPARE(outcome.n, std::size_t{6});
        QCOMPARE(outcome.p, 0.125);
        QVERIFY2(outcome.warning.starts_with("with 4 seeds the smallest p of this test is 0.125"), outcome.warning.c_str());
        QVERIFY2(outcome.warning.ends_with("(2 have no difference)"), outcome.warning.c_str());
    }
    void examples_that_cannot_be_paired_say_why() {
        QVERIFY(test_on_set(CompareTest::bootstrap, compared_groups(), example_scores("set1"), 1, "set1")
                    .reason.find("no mean over examples; choose another test") != std::string::npos);
        QVERIFY(test_on_mean(CompareTest::bootstrap, compared_groups(), example_scores("set1"), 1).reason.find("set1") !=
                std::string::npos);
        ExampleScores shorter = example_scores();
        shorter.groups[1]["set0"].values.pop_back();
        QVERIFY(test_on_set(CompareTest::randomisation, compared_groups(), shorter, 1, "set0").reason.find("10") != std::string::npos);
        QVERIFY(!test_on_set(CompareTest::bootstrap, compared_groups(), {}, 1, "set0").has_p());
        ExampleScores changed = example_scores();
        changed.groups[1]["set0"].fingerprint = "one";
        QVERIFY(test_on_set(CompareTest::bootstrap, compared_groups(), changed, 1, "set0").has_p());  // one side does not say
        changed.groups[0]["set0"].fingerprint = "other";
        QVERIFY(test_on_set(CompareTest::bootstrap, compared_groups(), changed, 1, "set0").reason.find("different data") !=
                std::string::npos);
    }
    void a_stopped_test_has_no_p() {
        std::stop_source stop;
        stop.request_stop();
        const ResamplingOptions options{.stop = stop.get_token()};
        QCOMPARE(test_on_mean(CompareTest::bootstrap, compared_groups(), example_scores(), 1, options).reason, std::string("stopped"));
        QCOMPARE(test_on_set(CompareTest::randomisation, compared_groups(), example_scores(), 1, "set0", options).reason,
                 std::string("stopped"));
    }
    void examples_are_read_from_the_store_as_means_over_seeds() {
        const TemporaryDirectory project;
        for (const std::size_t index : {std::size_t{1}, std::size_t{2}}) {
            const RunDirectory run = sample_run(project.path(), index);
            write_attempt(run, 1, 2, "finished");
            for (const char* name : {"kept", "none"})
                run.write_result(name, {{"name", name},
                                        {"task_type", "retrieval"},
                                        {"metric", "m"},
                                        {"score", 50},
                                        {"n", 2},
                                        {"settings", {{"data_fingerprint", "same"}}},
                                        {"per_example",
                                         std::string(name) == "kept" ? Json{40 + 10.0 * static_cast<double>(index), 60} : Json::array()}});
        }
        Store store(project.path());
        store.ingest_all();
        const Comparison comparison = compare_runs(store, store.runs(), "");
        const ExampleScores examples = read_examples(store, comparison);
        QCOMPARE(examples.groups.at(0).at("kept").values, (std::vector<double>{55, 60}));
        QCOMPARE(examples.groups.at(0).at("kept").fingerprint, std::string("same"));
        QVERIFY(examples.groups.at(0).at("none").values.empty() && !examples.groups.at(0).at("none").reason.empty());
    }
    void names_of_tests_read_back_and_unknown_ones_are_named() {
        for (const CompareTestInfo& info : compare_tests()) QCOMPARE(parse_compare_test(info.name), info.test);
        EXPECT_ERROR(parse_compare_test("bootstap"), "'bootstap'", "bootstrap");
    }
};

FACETER_TEST(TestSignificance)
#include "test_significance.moc"
