#include "compare/compare_view_table.h"

#include <algorithm>
#include <cmath>

#include "compare/compared_groups.h"
#include "compare/settings_difference.h"
#include "figure/format.h"
#include "figure/table_export.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

const ComparedRow& row_of(const ComparisonView& view, ComparedRow::Kind kind, const std::string& name = "") {
    for (const ComparedRow& row : view.rows)
        if (row.kind == kind && (name.empty() || row.name == name)) return row;
    throw std::runtime_error("no such row: " + name);
}

CompareChoice with_test(CompareTest test) {
    CompareChoice choice;
    choice.test = test;
    return choice;
}

}  // namespace

class TestCompareView : public QObject {
    Q_OBJECT
    using Kind = ComparedRow::Kind;

  private Q_SLOTS:
    void rows_are_data_sets_by_task_then_means_then_costs() {
        const ComparisonView view = view_comparison(compared_groups(), {});
        std::vector<std::string> names;
        for (const ComparedRow& row : view.rows) names.push_back(row.task_type + "/" + row.name);
        QCOMPARE(names, (std::vector<std::string>{"retrieval/set0", "retrieval/set1", "classification/set2", "clustering/set3",
                                                  "retrieval/over 2 data sets", "/over 3 task types", "/over 4 data sets",
                                                  "/parameters"}));  // no latency: one architecture has as many as runs
        QCOMPARE(row_of(view, Kind::cost, "parameters").values[1].value, 23.7);
        QVERIFY(!row_of(view, Kind::cost, "parameters").values[1].best);
    }
    void a_column_is_a_row_whose_best_follows_its_direction() {
        Comparison comparison = compared_groups();
        Column loss;
        loss.name = "loss:best", loss.decimals = 4, loss.better = Better::lower;
        Column rate;
        rate.name = "lr:max", rate.decimals = 8;
        comparison.columns = {loss, rate};
        comparison.groups[0].numbers = {{"loss:best", {0.5, 0.4, NAN}}, {"lr:max", {1e-5, 1e-5, 1e-5}}};
        comparison.groups[1].numbers = {{"loss:best", {0.3, 0.1, 0.2}}, {"lr:max", {2e-5, 2e-5, 2e-5}}};
        const ComparisonView view = view_comparison(comparison, {});
        const ComparedRow& row = row_of(view, Kind::column, "loss:best");
        QVERIFY(std::abs(row.values[0].value - 0.45) < 1e-12 && row.values[0].seeds == 2);  // the run that has none is not a zero
        QVERIFY(row.values[1].best && !row.values[0].best);
        QVERIFY(std::abs(row.values[1].delta + 0.25) < 1e-12 && !row.values[1].outcome.has_p());
        QVERIFY(!row_of(view, Kind::column, "lr:max").values[1].best);
        CompareChoice choice;
        choice.value = SeedValue::best;
        QCOMPARE(row_of(view_comparison(comparison, {}, choice), Kind::column, "loss:best").values[1].value, 0.1);
        const Table table = comparison_by_set_table(comparison, view);
        table.validate();
        QCOMPARE(table.rows.back().cells[1].text, std::string("lr:max"));
        const Cell& rate_cell = table.rows.back().cells[3];
        QVERIFY(rate_cell.kind == Cell::Kind::number && std::abs(rate_cell.value - 1e-5) < 1e-18 && rate_cell.n == 3);
        QCOMPARE(format_value(table.columns[3], rate_cell), std::string("0.00001000"));
        QCOMPARE(format_value(table.columns[5], table.rows.back().cells[5]), std::string("+0.00001000"));
        const std::string csv = export_table(table, TableFormat::csv);  // a script reads numbers, their spread beside them
        QVERIFY2(csv.find("+-") == std::string::npos && csv.find("0.00001000") == std::string::npos, csv.c_str());
        QCOMPARE(Table::from_json(table.to_json(), "again").to_json().dump(), table.to_json().dump());
        QCOMPARE(view.gains[1].wins, view_comparison(compared_groups(), {}).gains[1].wins);  // a loss is no data set
    }
    void task_types_stand_in_the_papers_order() {
        Comparison comparison = compared_groups();
        std::reverse(comparison.sets.begin(), comparison.sets.end());
        comparison.sets[3].task_type = "of its own";
        const ComparisonView view = view_comparison(comparison, {});
        QCOMPARE(view.rows[0].name, std::string("set1"));
        QCOMPARE(view.rows[3].task_type, std::string("of its own"));
    }
    void values_and_deltas_are_of_the_seeds_that_are_asked_for() {
        CompareChoice choice;
        QVERIFY(std::abs(row_of(view_comparison(compared_groups(), {}, choice), Kind::data_set, "set0").values[1].delta -
                         (128.2 - 123.3) / 3) < 1e-12);
        choice.value = SeedValue::best;
        const ComparedValue best = row_of(view_comparison(compared_groups(), {}, choice), Kind::data_set, "set0").values[1];
        QCOMPARE(best.value, 43.1);
        QVERIFY(std::abs(best.delta - 1.1) < 1e-12 && std::isnan(best.spread));
        choice.value = SeedValue::last;
        QCOMPARE(row_of(view_comparison(compared_groups(), {}, choice), Kind::data_set, "set1").values[0].value, 56.1);
    }
    void means_over_data_sets_and_task_types_are_told_apart() {
        const ComparisonView view = view_comparison(compared_groups(), {});
        const double sets[] = {123.3 / 3, 166.2 / 3, 182.1 / 3, 217.3 / 3};
        QVERIFY(std::abs(row_of(view, Kind::mean_over_sets).values[0].value - (sets[0] + sets[1] + sets[2] + sets[3]) / 4) < 1e-10);
        QVERIFY(std::abs(row_of(view, Kind::mean_over_types).values[0].value - ((sets[0] + sets[1]) / 2 + sets[2] + sets[3]) / 3) < 1e-10);
        QVERIFY(row_of(view, Kind::mean_over_sets).values[1].best);
    }
    void wins_follow_the_test_where_there_is_one_else_the_tolerance() {
        const ComparisonView by_sets = view_comparison(compared_groups(), {});
        const GroupGain& gain = by_sets.gains[1];
        QCOMPARE(std::vector<int>({gain.wins, gain.ties, gain.losses}), std::vector<int>({3, 1, 0}));
        QVERIFY(by_sets.ties_rule.find("0.10 points") != std::string::npos);
        const ComparisonView welch = view_comparison(compared_groups(), {}, with_test(CompareTest::welch_seeds));
        QCOMPARE(std::vector<int>({welch.gains[1].wins, welch.gains[1].ties, welch.gains[1].losses}), std::vector<int>({1, 3, 0}));
        QVERIFY(welch.ties_rule.find("significant") != std::string::npos);
    }
    void stars_are_adjusted_over_the_column_and_the_test_is_named() {
        const ComparisonView view = view_comparison(compared_groups(), {}, with_test(CompareTest::welch_seeds));
        QVERIFY(std::abs(row_of(view, Kind::data_set, "set3").values[1].outcome.p_adjusted - 0.026812358143105147) < 1e-12);
        QVERIFY(std::abs(view.gains[1].outcome.p_adjusted - 0.013387736072443918) < 1e-12);
        QVERIFY(view.test_sentence.find("Welch's t over seeds") != std::string::npos &&
                view.test_sentence.find("Holm") != std::string::npos);
    }
    void reasons_for_missing_tests_are_listed_once() {
        const ComparisonView view = view_comparison(compared_groups(), example_scores("set1"), with_test(CompareTest::randomisation));
        QCOMPARE(view.reasons.size(), std::size_t{2});
        QVERIFY(view.reasons[0].find("mean over data sets: set1") == 0);
    }
    void the_best_of_a_data_set_is_marked_as_that_of_its_row() {
        const Comparison comparison = compared_groups();
        const std::string text = export_table(comparison_by_set_table(comparison, view_comparison(comparison, {})), TableFormat::text);
        QVERIFY2(text.find("best of the row") != std::string::npos && text.find("best of the column") == std::string::npos, text.c_str());
    }
    void a_missing_test_names_the_group_where_others_have_it() {
        Comparison comparison = compared_groups();
        comparison.groups.push_back(comparison.groups[1]);
        comparison.groups[2].name = "IC";
        comparison.groups[2].scores.erase("set2");
        comparison.groups[2].scored_runs.erase("set2");
        const ComparisonView view = view_comparison(comparison, {}, with_test(CompareTest::paired_seeds));
        QCOMPARE(view.reasons, std::vector<std::string>{"set2 of IC: not scored in both groups"});
    }
    void without_a_baseline_there_are_no_deltas() {
        Comparison alone = compared_groups();
        alone.baseline.reset();
        const ComparisonView view = view_comparison(alone, {});
        QVERIFY(std::isnan(view.rows[0].values[1].delta));
        QVERIFY(view.reasons.empty());
        comparison_by_set_table(alone, view).validate();
    }
    void a_set_that_one_group_lacks_has_no_value_there() {
        Comparison comparison = compared_groups();
        comparison.groups[1].scores.erase("set2");
        comparison.groups[1].scored_runs.erase("set2");
        const ComparisonView view = view_comparison(comparison, {}, with_test(CompareTest::paired_seeds));
        const ComparedRow& row = row_of(view, Kind::data_set, "set2");
        QVERIFY(std::isnan(row.values[1].value) && !row.values[0].best);
        QVERIFY(row.values[1].outcome.reason.find("not scored") != std::string::npos);
        QCOMPARE(row_of(view, Kind::mean_over_sets).name, std::string("over 3 data sets"));
    }
    void the_default_table_and_json_are_those_of_faceter_compare() {
        const Comparison comparison = compared_groups();
        const ComparisonView view = view_comparison(comparison, {});
        for (const std::string_view format : table_format_names())
            QCOMPARE(export_table(comparison_table(comparison, view), parse_table_format(format)),
                     export_table(comparison_table(comparison), parse_table_format(format)));
        QCOMPARE(comparison_json(comparison, view).dump(), comparison_json(comparison).dump());
    }
    void another_test_stars_the_cells_and_stands_in_the_footnotes() {
        const Comparison comparison = compared_groups();
        const ComparisonView view = view_comparison(comparison, {}, with_test(CompareTest::welch_seeds));
        const Table table = comparison_table(comparison, view);
        table.validate();
        QCOMPARE(table.rows[1].cells[4].stars, 1);
        QCOMPARE(table.rows[1].cells[1].stars, 0);
        const std::string text = export_table(table, TableFormat::md);
        QVERIFY(text.find("Welch") != std::string::npos && text.find("paired t-test") == std::string::npos);
        QVERIFY(std::abs(comparison_json(comparison, view)["test"]["data_sets"]["set3"]["MoTE"]["p_holm"].get<double>() -
                         0.026812358143105147) < 1e-12);
    }
    void published_figures_stand_at_their_data_set_task_and_mean() {
        PublishedTable paper;
        paper.paper = "p", paper.short_name = "Paper", paper.table = "Table 2", paper.section = "5", paper.gains_over = "EM",
        paper.models = {"EM", "MoTE"};
        paper.rows = {{"Set 0", "SET-0", "retrieval", "m", 0, {40, 1.5}},
                      {"Retrieval", "", "retrieval", "m", 15, {42.31, 5.21}},
                      {"Average", "", "", "m", 38, {49.78, 3.23}}};
        paper.slips = {{"MoTE", "Average", "printed wrong"}};
        const Comparison comparison = compared_groups();
        const Table table = comparison_by_set_table(comparison, view_comparison(comparison, {}), {{paper, 0}, {paper, 1}});
        table.validate();
        const std::size_t last = table.columns.size() - 1;
        QCOMPARE(table.columns[last].group, std::string("Paper, Table 2"));
        QVERIFY(table.columns[last].kind == ColumnKind::delta && table.columns[last - 1].kind == ColumnKind::number);
        QCOMPARE(table.rows[0].cells[last].value, 1.5);
        QVERIFY(table.rows[1].cells[last].kind == Cell::Kind::empty);
        QCOMPARE(table.rows[4].cells[last].value, 5.21);
        QCOMPARE(table.rows[6].cells[last].value, 3.23);
        QVERIFY(table.footnotes.back().find("Published: Paper, Table 2, section 5, gains over its EM") == 0);
        QVERIFY(table.footnotes[table.footnotes.size() - 2].find("printed wrong") != std::string::npos);
    }
    void published_means_say_once_over_how_many_data_sets_they_are() {
        PublishedTable paper;
        paper.short_name = "Paper", paper.table = "Table 2", paper.section = "5", paper.models = {"EM", "MoTE"};
        paper.rows = {{"Set 0", "SET-0", "retrieval", "m", 0, {40, 41}},
                      {"Retrieval", "", "retrieval", "m", 15, {42, 43}},
                      {"Average", "", "", "m", 0, {49, 50}}};  // does not say
        const Comparison comparison = compared_groups();
        const Table table = comparison_by_set_table(comparison, view_comparison(comparison, {}), {{paper, 0}, {paper, 1}});
        const auto is_of_means = [](const std::string& note) { return note.find("the row's mean is") != std::string::npos; };
        QCOMPARE(std::count_if(table.footnotes.begin(), table.footnotes.end(), is_of_means), std::ptrdiff_t{1});
        QCOMPARE(*std::find_if(table.footnotes.begin(), table.footnotes.end(), is_of_means),
                 std::string("Paper, Table 2, Retrieval: over 15 data sets; the row's mean is over 2 data sets."));
    }
    void settings_that_differ_are_named_by_dotted_keys() {
        const Json a = {{"seed", 1},
                        {"variant", {{"method", "dense"}}},
                        {"training", {{"batch_size", 32}, {"lr", 1e-5}}},
                        {"tasks", {{{"name", "x"}}}}};
        Json b = a;
        b["seed"] = 2, b["variant"] = {{"method", "mote"}, {"placement", "every_other"}}, b["tasks"][0]["name"] = "y";
        const SettingsDifference difference = settings_difference({a, b});
        QCOMPARE(difference.differing.size(), std::size_t{3});
        QCOMPARE(difference.differing[0].key, std::string("tasks[0].name"));
        QCOMPARE(difference.differing[2].key, std::string("variant.placement"));
        QCOMPARE(difference.differing[2].values, (std::vector<std::string>{"—", "every_other"}));
        QCOMPARE(difference.equal, std::size_t{2});
    }
    void what_one_lacks_and_another_has_as_nothing_is_alike() {
        const Json older = {{"training", {{"batch_size", 32}}}},
                   newer = {{"training", {{"batch_size", 32}, {"batch_tokens", nullptr}}}, {"stages", Json::array()}};
        QCOMPARE(settings_difference({older, newer}).differing.size(), std::size_t{0});
        const Json longer = {{"training", {{"batch_size", 32}, {"batch_tokens", 512}}}};
        QCOMPARE(settings_difference({older, newer, longer}).differing.size(), std::size_t{1});
    }
};

FACETER_TEST(TestCompareView)
#include "test_compare_view.moc"
