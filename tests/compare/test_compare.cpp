#include "compare/compare.h"

#include "common/error.h"
#include "compare/compare_columns.h"
#include "compare/compare_tests.h"
#include "compare/counted_run.h"
#include "compare/rank_intervals.h"
#include "figure/table_export.h"
#include "support/sample_runs.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

void add_run(const fs::path& project, std::size_t index, double shift, int num_sets = 3) {
    const RunDirectory run = sample_run(project, index);
    write_attempt(run, 1, 3, "finished");
    write_results(run, shift, num_sets);
}

Comparison compare_all(const fs::path& project, const std::string& baseline = "") {
    Store store(project);
    store.ingest_all();
    return compare_runs(store, store.runs(), baseline);
}

}  // namespace

class TestCompare : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void seeds_of_a_variant_are_one_row_with_their_spread() {
        const TemporaryDirectory project;
        add_run(project.path(), 1, 2);
        add_run(project.path(), 2, 4);
        add_run(project.path(), 0, 0);
        const Comparison comparison = compare_all(project.path());
        QCOMPARE(comparison.groups.size(), std::size_t{2});
        QCOMPARE(comparison.groups[0].name, std::string("start"));
        QCOMPARE(comparison.groups[1].name, std::string("EM"));
        QCOMPARE(comparison.groups[1].runs.size(), std::size_t{2});
        const Table table = comparison_table(comparison);
        table.validate();
        QCOMPARE(table.rows.size(), std::size_t{2});
        QCOMPARE(table.rows[1].cells[1].value, 43.0);
        QCOMPARE(table.rows[1].cells[1].n, std::int64_t{2});
    }
    /// It was left out as the repetition, and then said not to be among the runs.
    void a_baseline_that_repeats_a_run_counts_in_its_place() {
        const TemporaryDirectory project;
        add_run(project.path(), 0, 0);
        add_run(project.path(), 1, 2);
        const RunDirectory again = sample_run(project.path(), 1);
        write_attempt(again, 1, 3, "finished");
        write_results(again, 7);
        const Comparison comparison = compare_all(project.path(), again.info().id);
        QCOMPARE(comparison.groups.at(comparison.baseline.value()).scores.at("set0"), std::vector<double>{47.0});
        QCOMPARE(comparison.notes.size(), std::size_t{1});
        QVERIFY2(comparison.notes[0].ends_with(" with the same seed and is left out"), comparison.notes[0].c_str());
    }
    /// Two starts were a group of two seeds, which paired with two of the other side's; other rates made two rows of one model.
    void the_start_model_is_one_row_and_stands_beside_every_seed_whatever_trained_later() {
        const TemporaryDirectory project;
        const auto add = [&](const Experiment& experiment, std::size_t index, double shift) {
            const RunDirectory run = RunDirectory::create(project.path(), experiment, experiment.runs().at(index), false);
            write_attempt(run, 1, 3, "finished");
            write_results(run, shift);
        };
        const Experiment first = parse_sample(sample_experiment(), {{}, {1, 2}});
        const Experiment later = parse_sample(sample_experiment(), {{"training.checkpoint_every_steps=7"}, {3, 4}});
        for (std::size_t i = 0; i < 3; ++i) add(first, i, i == 0 ? 0 : 2 + static_cast<double>(i));
        for (std::size_t i = 0; i < 3; ++i) add(later, i, i == 0 ? 0 : 5 + static_cast<double>(i));
        add(parse_sample(sample_experiment(), {{"training.learning_rate=1.0e-3"}, {5}}), 0, 0);
        Store store(project.path());
        store.ingest_all();
        const Comparison comparison = compare_runs(store, store.runs(), "");
        QCOMPARE(comparison.groups.size(), std::size_t{2});
        QCOMPARE(comparison.groups[0].runs.size(), std::size_t{1});
        QCOMPARE(comparison.groups[1].runs.size(), std::size_t{4});
        QCOMPARE(comparison.notes.size(), std::size_t{2});
        QVERIFY2(comparison.notes[0].ends_with(" is left out: an untrained model is scored once"), comparison.notes[0].c_str());
    }
    void means_are_over_data_sets_and_over_task_types() {
        const TemporaryDirectory project;
        add_run(project.path(), 0, 0, 4);
        const RunDirectory more = sample_run(project.path(), 1);
        write_attempt(more, 1, 1, "finished");
        write_results(more, 0, 4);
        for (const fs::directory_entry& run : fs::directory_iterator(project.path() / "runs"))
            RunDirectory(run.path())
                .write_result("extra", {{"name", "extra"}, {"task_type", "retrieval"}, {"metric", "m"}, {"score", 100}, {"n", 1}});
        const Comparison comparison = compare_all(project.path());
        QCOMPARE(means_over_sets(comparison, comparison.groups[0]).at(0), (40.0 + 45 + 50 + 55 + 100) / 5);
        QCOMPARE(means_over_types(comparison, comparison.groups[0]).at(0), ((40.0 + 100) / 2 + 45 + 50 + 55) / 4);
    }
    void of_many_runs_that_repeat_a_seed_the_first_are_named_and_the_others_counted() {
        const TemporaryDirectory project;
        for (int i = 0; i < 44; ++i) add_run(project.path(), 1, i, 1);
        const Comparison comparison = compare_all(project.path());
        QCOMPARE(comparison.groups.at(0).runs.size(), std::size_t{1});
        QCOMPARE(comparison.notes.size(), std::size_t{41});
        QCOMPARE(comparison.notes.back(), std::string("3 more runs repeat another with the same seed and are left out"));
    }
    void values_of_series_are_columns_and_order_the_groups() {
        const TemporaryDirectory project;
        for (const std::size_t index : {std::size_t{1}, std::size_t{2}, std::size_t{3}}) {  // EM 1 and 2, Mix 1
            const RunDirectory run = sample_run(project.path(), index);
            write_attempt(run, 1, 4, "finished", index == 3 ? 1.0 : 2.0 + 0.4 * static_cast<double>(index));
            write_results(run, static_cast<double>(index));
        }
        Store store(project.path());
        store.ingest_all();
        Comparison comparison = compare_runs(store, store.runs(), "");
        QCOMPARE(comparison.groups[0].name, std::string("EM"));
        add_columns(store, {"loss:best", "loss:1", "lr:max"}, comparison);
        QCOMPARE(comparison.groups[0].numbers.at("loss:1"), (std::vector<double>{2.4, 2.8}));
        sort_groups(store, "loss:best", false, comparison);
        QCOMPARE(comparison.groups[0].name, std::string("Mix"));
        QCOMPARE(comparison.baseline.value(), std::size_t{1});  // EM still
        sort_groups(store, "loss:best", true, comparison);
        QCOMPARE(comparison.groups[0].name, std::string("EM"));
        sort_groups(store, "set0", true, comparison);
        QCOMPARE(comparison.groups[0].name, std::string("Mix"));
        const Table table = comparison_table(comparison);
        table.validate();
        const std::size_t last = table.columns.size() - 1;
        QCOMPARE(table.columns[last - 2].name, std::string("loss:best"));
        QVERIFY(table.rows[0].cells[last - 2].best && !table.rows[1].cells[last - 2].best);  // less is better
        QVERIFY(!table.rows[0].cells[last].best && !table.rows[1].cells[last].best);         // of a rate it is not
        QCOMPARE(table.rows[1].cells[last - 2].value, 0.65);
        QCOMPARE(table.rows[1].cells[last - 2].n, std::int64_t{2});
        QCOMPARE(comparison_json(comparison)["runs"][0]["columns"]["loss:1"]["mean"].get<double>(), 1.0);
        EXPECT_ERROR(add_columns(store, {"variant"}, comparison), "this is text");
        EXPECT_ERROR(add_columns(store, {"lss:last"}, comparison), "no run has a value");
    }
    void the_start_model_is_the_baseline_unless_another_is_named() {
        const TemporaryDirectory project;
        add_run(project.path(), 0, 0);
        add_run(project.path(), 1, 3);
        const Comparison comparison = compare_all(project.path());
        QCOMPARE(comparison.baseline.value(), std::size_t{0});
        const auto tests = tests_against_baseline(comparison);
        QCOMPARE(tests.size(), std::size_t{1});
        QCOMPARE(tests[0].result.n, std::size_t{3});
        QVERIFY(tests[0].result.mean_difference > 3);
        const std::string other = comparison.groups[1].runs[0].info.id;
        QCOMPARE(compare_all(project.path(), other).baseline.value(), std::size_t{1});
        EXPECT_ERROR(compare_all(project.path(), "nothing"), "baseline nothing");
    }
    void data_sets_that_some_rows_lack_leave_the_means() {
        const TemporaryDirectory project;
        add_run(project.path(), 0, 0, 2);
        add_run(project.path(), 1, 3, 3);
        const Comparison comparison = compare_all(project.path());
        QCOMPARE(common_sets(comparison).size(), std::size_t{2});
        const std::string text = export_table(comparison_table(comparison), TableFormat::text);
        QVERIFY(text.find("2 of 3 data sets") != std::string::npos);
    }
    void runs_without_results_and_repeated_seeds_are_notes() {
        const TemporaryDirectory project;
        add_run(project.path(), 1, 1);
        add_run(project.path(), 1, 1);
        sample_run(project.path(), 3);
        const Comparison comparison = compare_all(project.path());
        QCOMPARE(comparison.groups.size(), std::size_t{1});
        QCOMPARE(comparison.notes.size(), std::size_t{2});
    }
    /// Of a run that failed while it was scored and its rerun, the older one lacks two of three data sets.
    void a_run_that_is_done_counts_before_one_that_failed_with_the_same_seed() {
        const TemporaryDirectory project;
        add_run(project.path(), 0, 0);
        const RunDirectory failed = sample_run(project.path(), 1);
        write_attempt(failed, 1, 3, "failed");
        write_results(failed, 9, 1);
        add_run(project.path(), 1, 3);
        const Comparison comparison = compare_all(project.path());
        QCOMPARE(common_sets(comparison).size(), std::size_t{3});
        QCOMPARE(comparison.groups[1].scores.at("set0"), std::vector<double>{43.0});
        QCOMPARE(comparison.notes.size(), std::size_t{1});
        QVERIFY(comparison.notes[0].find("with the same seed and is left out") != std::string::npos);
    }
    void of_the_runs_of_a_seed_what_has_scores_and_is_done_counts() {
        const auto run = [](RunPhase phase, int num_scores) {
            RunRow row;
            row.state.phase = phase;
            row.num_scores = num_scores;
            return row;
        };
        const RunRow bare = run(RunPhase::done, 0), failed = run(RunPhase::failed, 2), running = run(RunPhase::running, 2),
                     done = run(RunPhase::done, 2), later = run(RunPhase::done, 3);
        QVERIFY((counting_first({&bare, &failed, &running, &done, &later}) ==
                 std::vector<const RunRow*>{&done, &later, &running, &failed, &bare}));
        QVERIFY(!counts_before(done, later) && !counts_before(later, done));
    }
    void a_run_that_goes_on_counts_before_one_that_failed_with_the_same_seed() {
        const TemporaryDirectory project;
        for (const char* ending : {"failed", ""}) {
            const RunDirectory run = sample_run(project.path(), 1);
            write_attempt(run, 1, 3, ending);
            write_results(run, *ending ? 9 : 3, 1);
        }
        const Comparison comparison = compare_all(project.path());
        QCOMPARE(comparison.groups.at(0).scores.at("set0"), std::vector<double>{43.0});
    }
    /// As of a correlation with constants, which is written as null.
    void a_score_that_is_not_a_number_is_none() {
        const TemporaryDirectory project;
        for (const std::size_t index : {std::size_t{0}, std::size_t{1}}) {
            const RunDirectory run = sample_run(project.path(), index);
            write_attempt(run, 1, 3, "finished");
            write_results(run, 3.0 * static_cast<double>(index));
            run.write_result("flat",
                             {{"name", "flat"}, {"task_type", "sts"}, {"metric", "m"}, {"score", index ? Json(50) : Json()}, {"n", 3}});
        }
        const Comparison comparison = compare_all(project.path());
        QCOMPARE(comparison.sets.size(), std::size_t{4});
        QCOMPARE(common_sets(comparison).size(), std::size_t{3});
        QCOMPARE(comparison.notes, std::vector<std::string>{"the score of flat is not a number in 1 run and counts as missing"});
        QCOMPARE(tests_against_baseline(comparison).at(0).result.n, std::size_t{3});
        const std::string text = export_table(comparison_table(comparison), TableFormat::text);
        QVERIFY2(text.find("nan") == std::string::npos, text.c_str());
        QCOMPARE(rank_intervals(comparison).sentence(comparison),
                 std::string("Ranks by the mean over 3 data sets (95 % of resamples): 1 EM [1-1]; 2 start [2-2]."));
    }
    void data_of_one_name_that_were_scored_otherwise_are_told() {
        const TemporaryDirectory project;
        for (const std::size_t index : {std::size_t{0}, std::size_t{1}, std::size_t{2}}) {
            const RunDirectory run = sample_run(project.path(), index);
            write_attempt(run, 1, 3, "finished");
            const bool sorted = index > 0;
            run.write_result("news", {{"name", "news"},
                                      {"task_type", sorted ? "clustering" : "classification"},
                                      {"metric", sorted ? "v_measure" : "accuracy"},
                                      {"score", 50},
                                      {"n", 3}});
        }
        const Comparison comparison = compare_all(project.path());
        QCOMPARE(comparison.notes.size(), std::size_t{1});
        QVERIFY2(comparison.notes[0].find("(accuracy, classification) than by") != std::string::npos, comparison.notes[0].c_str());
        QVERIFY2(comparison.notes[0].ends_with("(v_measure, clustering), which cannot be compared"), comparison.notes[0].c_str());
    }
    void runs_that_were_scored_on_different_data_are_told() {
        const TemporaryDirectory project;
        for (const std::size_t index : {std::size_t{0}, std::size_t{1}, std::size_t{2}}) {
            const RunDirectory run = sample_run(project.path(), index);
            write_attempt(run, 1, 3, "finished");
            for (const char* set : {"same", "changed"})
                run.write_result(set, {{"name", set},
                                       {"task_type", "sts"},
                                       {"metric", "m"},
                                       {"score", 50},
                                       {"n", 3},
                                       {"settings", {{"data_fingerprint", set == std::string("same") || index == 0 ? "aa" : "bb"}}}});
        }
        const Comparison comparison = compare_all(project.path());
        QCOMPARE(comparison.notes.size(), std::size_t{1});
        QVERIFY2(comparison.notes[0].find("were scored on different data of changed") != std::string::npos, comparison.notes[0].c_str());
    }
    void other_settings_under_the_same_name_are_another_row() {
        const TemporaryDirectory project;
        add_run(project.path(), 1, 1);
        const Experiment changed = parse_sample(sample_experiment(), {{"training.batch_size=64"}, {}, false});
        const RunDirectory run = RunDirectory::create(project.path(), changed, changed.runs()[1], false);
        write_attempt(run, 1, 1, "finished");
        write_results(run, 2);
        const Comparison comparison = compare_all(project.path());
        QCOMPARE(comparison.groups.size(), std::size_t{2});
        QVERIFY(comparison.groups[0].name != comparison.groups[1].name);
    }
    void every_format_takes_the_table() {
        const TemporaryDirectory project;
        add_run(project.path(), 0, 0);
        add_run(project.path(), 1, 3);
        const Comparison comparison = compare_all(project.path());
        for (const std::string_view name : table_format_names())
            QVERIFY(export_table(comparison_table(comparison), parse_table_format(name)).find("EM") != std::string::npos);
        const Json json = comparison_json(comparison);
        QCOMPARE(json["runs"].size(), std::size_t{2});
        QCOMPARE(json["tests"][0]["run"].get<std::string>(), std::string("EM"));
        QCOMPARE(json["runs"][1]["costs"]["total_parameters"].get<double>(), 22713216.0);
    }
};

FACETER_TEST(TestCompare)
#include "test_compare.moc"
