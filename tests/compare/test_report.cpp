#include "compare/report.h"

#include <algorithm>
#include <cmath>

#include "figure/svg.h"
#include "support/sample_runs.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

constexpr const char* hostile = "<script>alert('x')</script> & \"q\"";

/// How often a piece stands in a text.
std::size_t count(const std::string& text, const std::string& piece) {
    std::size_t found = 0;
    for (std::size_t at = text.find(piece); at != std::string::npos; at = text.find(piece, at + piece.size())) ++found;
    return found;
}

/// Of all runs of a project that have scores.
Report report_on(const fs::path& folder) {
    Store store(folder);
    store.ingest_all();
    std::vector<RunRow> rows = store.runs();
    std::erase_if(rows, [](const RunRow& row) { return row.num_scores == 0; });
    Comparison comparison = compare_runs(store, rows, "");
    ComparisonView view = view_comparison(comparison, {});
    return gather_report(Project(folder, false), store, rows, std::move(comparison), std::move(view), hostile);
}

}  // namespace

class TestReport : public QObject {
    Q_OBJECT
    TemporaryDirectory project_;
    Report report_;

  private Q_SLOTS:
    void initTestCase() {
        for (const std::size_t index : {std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{4}}) {
            const RunDirectory run = sample_run(project_.path(), index);
            JournalWriter journal(run, run.begin_attempt(),
                                  {"", 0, {{"host", "node7"}, {"processor", hostile}, {"threads", 2}, {"memory_bytes", 8589934592ull}}, 0});
            journal.event("data", {{"use", "evaluation"},
                                   {"task", "retrieval"},
                                   {"name", "claims"},
                                   {"card",
                                    {{"source", "folder"},
                                     {"path", "/data/scifact"},
                                     {"files", {{"sha256", "aa"}}},
                                     {"fingerprint", fmt::format("drawn by seed {}", index)},
                                     {"counts", {{"documents", 5183}}},
                                     {"warnings", {"3 queries are empty"}}}}});
            for (int step = 1; step <= 5; ++step) journal.step({{"step", step}, {"total_steps", 5}, {"loss", 2.0 / step}});
            journal.event("warning", {{"message", std::string("careful ") + hostile}});
            journal.event("finished");
            write_results(run, static_cast<double>(index), 3);
            Figure figure;
            figure.name = "densities";
            figure.title = hostile;
            figure.series.push_back({.name = hostile, .x = {0, 1}, .y = {1, 2}});
            run.write_figure("densities", figure.to_json());
            run.append_user_event({{"note", hostile}});
        }
        sample_run(project_.path(), 1).write_figure("broken", {{"kind", "nonsense"}});
        report_ = report_on(project_.path());
    }
    void a_report_holds_scores_tests_figures_settings_machine_data_and_warnings() {
        const std::string html = report_to_html(report_);
        for (const char* heading :
             {"Answers", "Scores", "Tests", "Figures", "Analyses", "Runs", "Settings", "Machines", "Data", "All settings", "Warnings"})
            QVERIFY2(html.find(fmt::format("<h2>{}</h2>", heading)) != std::string::npos, heading);
        for (const char* piece :
             {"set1", "node7", "8.00 GiB", "documents 5183", "3 queries are empty", "variant.placement", "Paired t over data sets"})
            QVERIFY2(html.find(piece) != std::string::npos, piece);
        QCOMPARE(count(html, "src=\"data:image/svg+xml;base64,"), std::size_t{3 + 4});  // differences, scores, loss, one stored by each run
        QCOMPARE(report_.data.size(), std::size_t{1});                                  // the same files of four runs
        QCOMPARE(report_.data[0].name, std::string("claims"));
        QVERIFY(!report_.data[0].card.contains("fingerprint"));
    }
    void a_latency_that_was_measured_once_beside_other_work_is_left_out() {
        const std::string html = report_to_html(report_);
        QVERIFY(html.find("peak memory") != std::string::npos);
        QVERIFY(html.find("ms a text") == std::string::npos);
    }
    void answers_and_differences_with_intervals_come_first() {
        const std::string html = report_to_html(report_);
        QVERIFY(!report_.summary.sentences.empty());
        QVERIFY(html.find("faceter report") == std::string::npos);  // this is the page that it would advise
        QVERIFY(html.find("<h2>Answers</h2>") < html.find("<h2>Scores</h2>"));
        const Figure& differences = report_.figures.front();
        QCOMPARE(differences.name, std::string("differences"));
        for (std::size_t i = 0; i < differences.series[0].y.size(); ++i) {
            QVERIFY(differences.series[0].low[i] <= differences.series[0].y[i]);
            QVERIFY(differences.series[0].high[i] >= differences.series[0].y[i]);
        }
        QCOMPARE(differences.x.categories.size(), report_.comparison.groups.size() - 1);
    }
    void one_seed_has_no_whiskers_beside_groups_that_have() {
        TemporaryDirectory project;
        const Experiment experiment = parse_sample();
        for (const std::size_t index : {std::size_t{0}, std::size_t{1}, std::size_t{2}}) {  // start; EM of two seeds
            const RunDirectory run = RunDirectory::create(project.path(), experiment, experiment.runs()[index], false);
            write_attempt(run, 1, 20, "finished");
            write_results(run, static_cast<double>(index));
        }
        const Report report = report_on(project.path());
        const auto scores =
            std::find_if(report.figures.begin(), report.figures.end(), [](const Figure& one) { return one.name == "scores"; });
        QVERIFY(scores != report.figures.end());
        QCOMPARE(scores->series.size(), std::size_t{2});
        for (const Series& group : scores->series) QCOMPARE(std::isnan(group.low[0]) && std::isnan(group.high[0]), group.name == "start");
        const std::string svg = figure_to_svg(*scores);
        for (const char* value : {"nan", "inf"}) QCOMPARE(count(svg, value), std::size_t{0});
    }
    void curves_that_are_left_out_are_told() {
        TemporaryDirectory project;
        std::string text = sample_experiment();
        text.replace(text.find("[1, 2]"), 6, "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14]");
        const Experiment experiment = parse_sample(text);
        for (int i = 1; i <= 14; ++i) {  // EM's; start is the run before
            const RunDirectory run =
                RunDirectory::create(project.path(), experiment, experiment.runs()[static_cast<std::size_t>(i)], false);
            write_attempt(run, 1, 20, "finished");
            write_results(run, i);
        }
        const Report report = report_on(project.path());
        const auto loss = std::find_if(report.figures.begin(), report.figures.end(), [](const Figure& one) { return one.name == "loss"; });
        QVERIFY(loss != report.figures.end());
        QCOMPARE(loss->series.size(), std::size_t{12});
        QCOMPARE(loss->notes, std::vector<std::string>{"The first 12 runs of 14."});
    }
    void texts_from_outside_are_never_markup() {
        const std::string html = report_to_html(report_);
        QCOMPARE(count(html, "<script"), std::size_t{0});
        QVERIFY(html.find("&lt;script&gt;") != std::string::npos);
        QVERIFY(html.find("default-src 'none'") != std::string::npos);
        for (const char* outside : {"http://", "https://", "javascript:", "@import", "url("})
            QCOMPARE(count(html, outside), std::size_t{0});
    }
    void figures_in_the_page_are_whole_svg_documents() {
        const std::string html = report_to_html(report_);
        const std::string prefix = "src=\"data:image/svg+xml;base64,";
        const auto at = html.find(prefix) + prefix.size();
        const QByteArray svg = QByteArray::fromBase64(QByteArray::fromStdString(html.substr(at, html.find('"', at) - at)));
        QVERIFY(svg.contains("<svg") && svg.trimmed().endsWith("</svg>") && svg.contains("Difference to"));
    }
    void every_tag_that_opens_is_closed() {
        const std::string html = report_to_html(report_);
        for (const char* tag : {"table", "tr", "td", "th", "h2", "p", "ul", "li", "pre", "details", "div", "thead", "tbody", "style"})
            QCOMPARE(count(html, fmt::format("<{}>", tag)) + count(html, fmt::format("<{} ", tag)), count(html, fmt::format("</{}>", tag)));
    }
    void tables_of_a_report_go_to_other_formats() {
        const auto tables = report_tables(report_);
        QVERIFY(tables.size() >= 5);
        const std::string latex = latex_document(tables);
        QVERIFY(latex.find("\\toprule") != std::string::npos);
        for (const Table& table : tables) {
            table.validate();
            QVERIFY(!table_to_markdown(table).empty() && !table_to_csv(table).empty());
        }
    }
    void a_table_in_html_marks_best_spread_and_stars() {
        Table table;
        table.name = "t";
        table.add_column("run", ColumnKind::text);
        table.add_column("score", ColumnKind::number, 1, Better::higher).group = "<g>";
        table.add_row({Cell::of("a<b"), Cell::of(1.25, 0.5, 3).with_stars(2)});
        table.add_row({Cell::of("c"), Cell()}).rule_above = true;
        table.rows[0].cells[1].best = true;
        table.footnotes.push_back("x < y");
        const std::string html = table_to_html(table);
        for (const char* piece : {"a&lt;b", "<b>1.2</b> <small>± 0.5</small>", "<sup>**</sup>", "<tr class=\"rule\">",
                                  "<th colspan=\"1\" align=\"center\">&lt;g&gt;</th>", "x &lt; y"})
            QVERIFY2(html.find(piece) != std::string::npos, (std::string(piece) + " in " + html).c_str());
    }
};

FACETER_TEST(TestReport)
#include "test_report.moc"
