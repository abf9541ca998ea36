#include "compare/summary.h"

#include "support/sample_runs.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

/// start, EM and Mix of one seed, with scores `shift` points apart.
struct Compared {
    TemporaryDirectory folder;
    Comparison comparison;
    explicit Compared(double shift, bool examples = true, std::vector<std::size_t> runs = {0, 1, 3}, bool smoke = false, int num_sets = 3,
                      CompareTest test = CompareTest::bootstrap) {
        const Experiment experiment = parse_sample();
        for (const std::size_t i : runs) {
            const RunDirectory run = RunDirectory::create(folder.path(), experiment, experiment.runs()[i], smoke);
            write_attempt(run, 1, 20, "finished");
            write_results(run, i == 0 ? 0 : i < 3 ? shift : 2 * shift, num_sets);
            if (!examples)
                for (int set = 0; set < num_sets; ++set) {
                    const std::string name = fmt::format("set{}", set);
                    Json json = read_json(run.results() / (name + ".json"), 1 << 20);
                    json.erase("per_example");
                    run.write_result(name, json);
                }
        }
        Store store(folder.path());
        store.ingest_all();
        comparison = compare_runs(store, store.runs(), "");
        CompareChoice choice;
        choice.test = test;
        choice.resampling.bootstrap = 2000;
        view = view_comparison(comparison, read_examples(store, comparison), choice);
    }
    ComparisonView view;
    ComparisonSummary summary() const { return summarise(comparison, view); }
};

bool has(const std::string& text, const std::string& piece) { return text.find(piece) != std::string::npos; }

}  // namespace

class TestSummary : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void four_sentences_say_what_won_where_and_whether_that_is_chance() {
        const Compared compared(3);
        const auto [table, sentences, next] = compared.summary();
        QCOMPARE(sentences.size(), std::size_t{4});
        QCOMPARE(sentences[0],
                 std::string("Compared: EM and Mix with start, the model that they began from untrained, on 3 data sets, in 3 runs."));
        QVERIFY2(sentences[1].starts_with("Highest: Mix on set0, set1 and set2. On average over the data sets Mix ("),
                 sentences[1].c_str());
        QVERIFY2(has(sentences[2], "More than chance among these examples: EM on set0 (+") && has(sentences[2], "; Mix on set0 (+") &&
                     has(sentences[2], "one seed does not tell"),
                 sentences[2].c_str());
        QVERIFY2(has(sentences[3], "22.7 M parameters"), sentences[3].c_str());
        QVERIFY2(has(next, "--seeds 1,2,3") && has(next, "faceter examples EM-1 Mix-1"), next.c_str());
    }
    void of_several_start_models_none_is_called_that_of_all() {
        const TemporaryDirectory folder;
        const Experiment experiment = parse_sample(sample_experiment() + std::string("sweep: {max_length: [32, 64]}\n"));
        for (const ResolvedRun& one : experiment.runs()) {
            const RunDirectory run = RunDirectory::create(folder.path(), experiment, one, false);
            write_attempt(run, 1, 20, "finished");
            write_results(run, 1);
        }
        Store store(folder.path());
        store.ingest_all();
        const Comparison comparison = compare_runs(store, store.runs(), "");
        const auto sentences = summarise(comparison, view_comparison(comparison, {})).sentences;
        QVERIFY2(has(sentences[0], " with start ") && !has(sentences[0], "began from"), sentences[0].c_str());
    }
    void no_difference_is_called_none() {
        const auto sentences = Compared(0).summary().sentences;
        QVERIFY2(has(sentences[2], "No difference to start is more than chance"), sentences[2].c_str());
        QVERIFY2(has(sentences[1], "On average over the data sets start, EM and Mix ("), sentences[1].c_str());
    }
    void without_scores_of_examples_nothing_is_said_of_chance() {
        const auto sentences = Compared(3, false).summary().sentences;
        QVERIFY2(has(sentences[2], "cannot be said: ") && has(sentences[2], "examples"), sentences[2].c_str());
    }
    void what_is_more_than_chance_is_so_among_what_was_tested() {
        for (const CompareTestInfo& info : compare_tests()) {
            const auto sentences = Compared(3, true, {0, 1, 2, 3, 4}, false, 3, info.test).summary().sentences;
            const bool says = has(sentences[2], fmt::format("among these {}", observations_of(info.test)));
            QVERIFY2(says || has(sentences[2], "cannot be said: "), sentences[2].c_str());
            QVERIFY2(says || !has(sentences[2], "scores of its single examples"), sentences[2].c_str());
        }
    }
    void tests_over_data_sets_speak_of_the_average() {
        const auto sentences = Compared(3, true, {0, 1, 3}, false, 6, CompareTest::paired_sets).summary().sentences;
        QVERIFY2(has(sentences[2], "More than chance among these data sets: EM on average (+") && has(sentences[2], "over the groups"),
                 sentences[2].c_str());
    }
    void one_seed_is_why_tests_over_seeds_cannot_say() {
        const auto sentences = Compared(3, true, {0, 1, 3}, false, 3, CompareTest::paired_seeds).summary().sentences;
        QVERIFY2(has(sentences[2], "cannot be said: ") && has(sentences[2], "seeds"), sentences[2].c_str());
    }
    void several_seeds_are_one_row() {
        const Compared compared(3, true, {0, 1, 2, 3, 4});
        const ComparisonSummary summary = compared.summary();
        QCOMPARE(summary.table.rows.size(), std::size_t{3});
        QCOMPARE(summary.table.rows[1].cells[0].text, std::string("EM (2 seeds)"));
        QVERIFY(!has(summary.sentences[2], "one seed does not tell"));
        QVERIFY(!has(summary.next, "--seeds"));
    }
    void a_group_alone_is_compared_with_nothing() {
        const auto sentences = Compared(3, true, {1}).summary().sentences;
        QCOMPARE(sentences[0], std::string("Compared: EM, on 3 data sets, in 1 run."));
        QCOMPARE(sentences.size(), std::size_t{2});  // what it cost
    }
    void the_start_model_alone_is_compared_with_nothing() {
        const auto [table, sentences, next] = Compared(3, true, {0}).summary();
        QCOMPARE(sentences[0], std::string("Nothing to compare yet: start alone, on 3 data sets, in 1 run."));
        QVERIFY2(!next.empty() && !has(next, "--seeds"), next.c_str());
    }
    void many_data_sets_are_counted_and_not_listed() {
        const auto sentences = Compared(6, true, {0, 1}, false, 9).summary().sentences;
        QVERIFY2(has(sentences[1], "EM on 9 data sets"), sentences[1].c_str());
        QVERIFY2(has(sentences[2], " data sets (") && !has(sentences[2], "set3"), sentences[2].c_str());
    }
    void a_trial_says_that_its_scores_mean_nothing() {
        const auto [table, sentences, next] = Compared(3, true, {0, 1}, true).summary();
        QVERIFY(next.empty());
        QVERIFY2(has(sentences.back(), "the scores mean nothing"), sentences.back().c_str());
        QVERIFY2(!has(sentences.back(), "the same command"), sentences.back().c_str());  // run --staged has no --smoke
    }
};

FACETER_TEST(TestSummary)
#include "test_summary.moc"
