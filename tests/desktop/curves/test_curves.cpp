#include <QCheckBox>
#include <QComboBox>
#include <QMenu>
#include <QSlider>
#include <QToolButton>
#include <QTranslator>
#include <cmath>

#include "common/hash.h"
#include "common/strings.h"
#include "curves/curve_data.h"
#include "desktop/support/alternating_tasks.h"
#include "desktop/support/sample_project.h"
#include "desktop/support/save_dialog.h"
#include "figure/figure_view.h"
#include "figure/plot_style.h"
#include "pages/curves/curve_panel.h"
#include "pages/curves/curves_page.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::desktop;
using namespace faceter::testing;

namespace {

/// A language whose every text is the source's in capitals.
class Loud : public QTranslator {
  public:
    QString translate(const char*, const char* source, const char*, int) const override { return QString::fromUtf8(source).toUpper(); }
    bool isEmpty() const override { return false; }
};

}  // namespace

class TestCurves : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;
    Workspace workspace_;

    CurveRequest request(const std::string& series) const {
        CurveRequest request;
        request.series = {series};
        const RunsSnapshotPtr hold = workspace_.runs();
        for (const RunGroupRef& group : workspace_.groups()) {
            CurveGroup curve{group.label.toStdString(), group.colour, {}, {}};
            for (const RunRow* run : group.runs) curve.runs.push_back(run->info.id);
            request.groups.push_back(curve);
        }
        return request;
    }

    static const Series& named(const Figure& figure, const std::string& beginning) {
        for (const Series& series : figure.series)
            if (series.name.rfind(beginning, 0) == 0) return series;
        throw std::runtime_error("no series " + beginning);
    }

    /// Gives the journal's lines other times: from `begin`, a step every `pace` seconds.
    static void put_at(const RunDirectory& run, double begin, double pace) {
        const std::string written = read_file(run.attempt_journal(1));
        std::string moved;
        for (const std::string_view line : split(written, '\n')) {
            if (line.empty()) continue;
            Json event = Json::parse(line);
            event.erase("crc");
            event["t"] = begin + pace * (json_or<int>(event, "step", 1, "event") - 1);
            std::string body = event.dump();
            body.pop_back();
            moved += body + fmt::format(",\"crc\":\"{:08x}\"}}\n", crc32c(body));
        }
        write_file_atomic(run.attempt_journal(1), moved);
    }

    static FigureView* panel(CurvesPage& page, const char* series) {
        auto* found = page.findChild<CurvePanel*>(QStringLiteral("curve:") + QLatin1String(series));
        return found ? found->view() : nullptr;
    }

  private Q_SLOTS:
    void what_a_person_reads_is_translated() {
        Loud loud;
        QVERIFY(QCoreApplication::installTranslator(&loud));
        const auto [label, unit] = seriesLabel("tokens_per_s");
        const std::string task = seriesLabel("loss/sts").first;
        Store store(folder_.path());
        CurveRequest asked = request("loss");
        asked.x = SeriesX::examples;
        const std::string x = readCurve(store, asked).figure.x.label;
        const QString none = exactNumber(NAN);
        QCoreApplication::removeTranslator(&loud);
        QCOMPARE(label + "|" + unit + "|" + task + "|" + x, std::string("THROUGHPUT|TOKENS/S|LOSS, sts|EXAMPLES SEEN"));
        QCOMPARE(none, QStringLiteral("NO VALUE"));
        QCOMPARE(seriesLabel("lr").first, std::string("learning rate"));
    }
    void what_adds_up_over_the_batches_of_a_step_is_labelled_so() {
        for (const char* name : {"masked_negatives", "dropped_assignments", "tokens", "pairs"})
            QCOMPARE(seriesLabel(name).second, std::string("a step"));
    }
    void initTestCase() {
        make_sample_project(folder_.path());
        QVERIFY(open_and_wait(workspace_, folder_.path()));
        QTRY_COMPARE(workspace_.groups().size(), std::size_t(3));
    }

    void a_band_over_seeds_is_the_mean_and_one_standard_deviation() {
        Store store(folder_.path());
        const CurveRequest asked = request("loss");
        const CurveResult result = readCurve(store, asked);
        const Series& em = named(result.figure, "EM (n = 2)");
        const auto first = store.series(asked.groups[1].runs[0], "loss"), second = store.series(asked.groups[1].runs[1], "loss");
        QCOMPARE(em.x.size(), first.size());
        for (std::size_t i = 0; i < first.size(); i += 17) {
            const double mean = (first[i].value + second[i].value) / 2,
                         deviation = std::abs(first[i].value - second[i].value) / std::sqrt(2.0);
            QCOMPARE(em.x[i], static_cast<double>(first[i].step));
            QVERIFY(std::abs(em.y[i] - mean) < 1e-12);
            QVERIFY(std::abs(em.high[i] - em.low[i] - 2 * deviation) < 1e-7);
        }
        QCOMPARE(em.colour, asked.groups[1].colour);
    }

    void where_a_seed_has_ended_the_mean_is_that_of_the_others() {
        const TemporaryDirectory project;
        const Experiment experiment = parse_sample();
        CurveRequest asked;
        asked.series = {"loss"};
        asked.groups.push_back({"EM", 2, {}, {}});
        for (const auto& [last, level] : {std::pair(100, 3.0), {40, 1.0}}) {
            const RunDirectory run = RunDirectory::create(project.path(), experiment, experiment.runs()[1], false);
            write_attempt(run, 1, last, "stopped", level);
            asked.groups.front().runs.push_back(run.info().id);
        }
        Store store(project.path());
        store.ingest_all();
        const CurveResult result = readCurve(store, asked);
        const Series& em = named(result.figure, "EM (n = 2)");
        QCOMPARE(em.x.size(), std::size_t{100});
        QVERIFY(std::abs(em.y[9] - 0.2) < 1e-12);  // (3 + 1) / 2 / 10
        QVERIFY(std::abs(em.high[9] - em.y[9] - std::sqrt(2.0) / 10) < 1e-9);
        QVERIFY(std::abs(em.y[79] - 3.0 / 80) < 1e-12);  // one seed alone: no spread
        QCOMPARE(em.high[79], em.y[79]);
    }

    void a_seed_that_was_run_twice_counts_once_in_the_band() {
        const TemporaryDirectory project;
        const Experiment experiment = parse_sample();
        CurveRequest asked;
        asked.series = {"loss"};
        asked.groups.push_back({"EM", 2, {}, {}});
        for (const auto& [seed, level] : {std::pair(1, 3.0), {1, 7.0}, {2, 1.0}}) {
            const RunDirectory run = RunDirectory::create(project.path(), experiment, experiment.runs()[1], false);
            write_attempt(run, 1, 100, "finished", level);
            asked.groups.front().runs.push_back(run.info().id);
            asked.groups.front().seeds.push_back(static_cast<std::uint64_t>(seed));
        }
        Store store(project.path());
        store.ingest_all();
        const CurveResult result = readCurve(store, asked);
        const Series& em = named(result.figure, "EM (n = 2)");
        QVERIFY(std::abs(em.y[9] - 0.2) < 1e-12);  // (3 + 1) / 2 / 10
        asked.overSeeds = false;                   // each run has its own line
        QCOMPARE(readCurve(store, asked).figure.series.size(), std::size_t{3});
    }

    /// Of seed 1 the run that counts ended at half of the steps: its other run must not take its place where the panel shows the rest.
    void which_run_of_a_seed_counts_does_not_follow_the_zoom() {
        const TemporaryDirectory project;
        const Experiment experiment = parse_sample();
        CurveRequest asked;
        asked.series = {"loss"};
        asked.groups.push_back({"EM", 2, {}, {}});
        const std::vector<int> seeds = {1, 1, 2}, last = {50, 100, 100};
        for (std::size_t i = 0; i < seeds.size(); ++i) {
            const RunDirectory run = RunDirectory::create(project.path(), experiment, experiment.runs()[1], false);
            write_attempt(run, 1, last[i], "finished", i == 2 ? 1.0 : 7.0);
            asked.groups.front().runs.push_back(run.info().id);
            asked.groups.front().seeds.push_back(static_cast<std::uint64_t>(seeds[i]));
        }
        Store store(project.path());
        store.ingest_all();
        asked.from = 80, asked.to = 100;
        const Figure figure = readCurve(store, asked).figure;
        QCOMPARE(figure.series.size(), std::size_t{1});
        const Series& em = figure.series.front();
        QCOMPARE(em.name, std::string("EM"));
        for (std::size_t i = 0; i < em.x.size(); ++i) QVERIFY(std::abs(em.x[i] * em.y[i] - 1) < 1e-9);  // seed 2 alone
    }

    void over_tokens_every_column_has_the_mean_of_all_seeds() {
        const TemporaryDirectory project;
        const Experiment experiment = parse_sample();
        CurveRequest asked;
        asked.series = {"loss"};
        asked.x = SeriesX::tokens;
        asked.groups.push_back({"EM", 2, {}, {}});
        for (const auto& [tokens, level] : {std::pair(1000, 1.0), {1037, 3.0}}) {  // seeds whose batches hold different numbers of tokens
            const RunDirectory run = RunDirectory::create(project.path(), experiment, experiment.runs()[1], false);
            JournalWriter journal(run, run.begin_attempt(), {"", 0, Json::object(), 0});
            for (int step = 1; step <= 100; ++step)
                journal.step({{"step", step}, {"total_steps", 100}, {"tokens", tokens}, {"loss", level}});
            journal.event("finished", {{"step", 100}});
            asked.groups.front().runs.push_back(run.info().id);
        }
        Store store(project.path());
        store.ingest_all();
        const Series em = named(readCurve(store, asked).figure, "EM (n = 2)");
        QVERIFY(em.x.size() > 100);
        for (std::size_t i = 0; i < em.x.size(); ++i) {
            if (em.x[i] < 1200 || em.x[i] > 99800) continue;  // where one seed alone has begun, or goes on
            QVERIFY2(std::abs(em.y[i] - 2) < 1e-9, qPrintable(QStringLiteral("%1 at %2").arg(em.y[i]).arg(em.x[i])));
            QVERIFY(std::abs(em.high[i] - em.low[i] - 2 * std::sqrt(2.0)) < 1e-6);
        }
    }

    void over_wall_time_every_column_has_the_mean_of_all_seeds() {
        const TemporaryDirectory project;
        const Experiment experiment = parse_sample();
        CurveRequest asked;
        asked.series = {"loss"};
        asked.x = SeriesX::time;
        asked.groups.push_back({"EM", 2, {}, {}});
        for (const auto& [pace, level] :
             {std::pair(1.0, 1.0), {1.037, 3.0}}) {  // a step takes one of them longer, and it is of another day
            const RunDirectory run = RunDirectory::create(project.path(), experiment, experiment.runs()[1], false);
            {
                JournalWriter journal(run, run.begin_attempt(), {"", 0, Json::object(), 0});
                for (int step = 1; step <= 100; ++step) journal.step({{"step", step}, {"total_steps", 100}, {"loss", level}});
                journal.event("finished", {{"step", 100}});
            }
            put_at(run, 1.7e9 + level * 86400, pace);
            asked.groups.front().runs.push_back(run.info().id);
        }
        Store store(project.path());
        store.ingest_all();
        const CurveResult result = readCurve(store, asked);
        QVERIFY2(std::abs(result.to - 99 * 1.037) < 0.01, qPrintable(QString::number(result.to)));
        const Series em = named(result.figure, "EM (n = 2)");
        QVERIFY(em.x.size() > 100);
        for (std::size_t i = 0; i < em.x.size(); ++i) {
            if (em.x[i] > 98.8) continue;  // where the slower one goes on alone
            QVERIFY2(std::abs(em.y[i] - 2) < 1e-9, qPrintable(QStringLiteral("%1 at %2").arg(em.y[i]).arg(em.x[i])));
            QVERIFY(std::abs(em.high[i] - em.low[i] - 2 * std::sqrt(2.0)) < 1e-6);
        }
    }

    void over_wall_time_a_series_that_begins_later_stands_where_it_began() {
        const TemporaryDirectory project;
        const Experiment experiment = parse_sample();
        const RunDirectory run = RunDirectory::create(project.path(), experiment, experiment.runs()[1], false);
        {
            JournalWriter journal(run, run.begin_attempt(), {"", 0, Json::object(), 0});
            for (int step = 1; step <= 100; ++step) {
                Json fields{{"step", step}, {"total_steps", 100}, {"loss", 1.0}};
                if (step % 50 == 0) fields["score/retrieval"] = 40.0 + step;
                journal.step(fields);
            }
            journal.event("finished", {{"step", 100}});
        }
        put_at(run, 1.7e9, 2.0);
        Store store(project.path());
        store.ingest_all();
        CurveRequest asked;
        asked.series = {"score/retrieval"};
        asked.x = SeriesX::time;
        asked.groups.push_back({"EM", 2, {run.info().id}, {}});
        const CurveResult result = readCurve(store, asked);
        QVERIFY2(std::abs(result.from - 98) < 0.01, qPrintable(QString::number(result.from)));
        QVERIFY2(std::abs(result.to - 198) < 0.01, qPrintable(QString::number(result.to)));
    }

    void one_run_of_more_steps_than_pixels_has_no_band_among_those_over_seeds() {
        const TemporaryDirectory project;
        const Experiment experiment = parse_sample();
        const RunDirectory run = RunDirectory::create(project.path(), experiment, experiment.runs()[1], false);
        write_attempt(run, 1, 100, "finished");
        Store store(project.path());
        store.ingest_all();
        CurveRequest asked;
        asked.series = {"loss"};
        asked.columns = 20;
        asked.groups.push_back({"EM", 2, {run.info().id}, {}});
        const Figure mean = readCurve(store, asked).figure;
        QCOMPARE(mean.series.size(), std::size_t{1});
        QVERIFY(mean.series[0].x.size() <= 20 && mean.series[0].low.empty() && mean.series[0].high.empty());
        asked.overSeeds = false;  // its own line: the band is what the columns hold
        const Figure own = readCurve(store, asked).figure;
        QVERIFY(own.series[0].low.size() == own.series[0].y.size() && own.series[0].low[1] < own.series[0].y[1]);
    }

    void memory_is_drawn_in_gib() {
        const TemporaryDirectory project;
        const Experiment experiment = parse_sample();
        const RunDirectory run = RunDirectory::create(project.path(), experiment, experiment.runs()[1], false);
        JournalWriter journal(run, run.begin_attempt(), {"", 0, Json::object(), 0});
        for (int step = 1; step <= 3; ++step) journal.step({{"step", step}, {"total_steps", 3}, {"memory_bytes", 3LL << 30}});
        journal.event("finished", {{"step", 3}});
        Store store(project.path());
        store.ingest_all();
        CurveRequest asked;
        asked.series = {"memory_bytes"};
        asked.groups.push_back({"EM", 2, {run.info().id}, {}});
        const Figure figure = readCurve(store, asked).figure;
        QCOMPARE(figure.y.unit, std::string("GiB"));
        QCOMPARE(figure.series.front().y.front(), 3.0);
    }

    void series_that_begin_later_are_shown_while_the_run_goes_on() {
        const TemporaryDirectory folder;
        const Experiment experiment = parse_sample();
        const RunDirectory run = RunDirectory::create(folder.path(), experiment, experiment.runs()[1], false);
        JournalWriter journal(run, run.begin_attempt(), {"", 0, Json::object(), 0});
        journal.event("stage_started", {{"stage", "train"}, {"total_steps", 100}});
        journal.step({{"step", 1}, {"total_steps", 100}, {"loss", 1.0}, {"loss/a", 1.0}});
        Workspace workspace;
        QVERIFY(open_and_wait(workspace, folder.path()));
        CurvesPage page(workspace);
        page.resize(1000, 700);
        page.show();
        QTRY_VERIFY_WITH_TIMEOUT(page.isReady() && panel(page, "loss"), 30'000);
        journal.step({{"step", 2}, {"total_steps", 100}, {"loss", 2.0}, {"loss/b", 2.0}});
        QTRY_VERIFY_WITH_TIMEOUT(panel(page, "loss/a") && panel(page, "loss/b") && !panel(page, "loss"), 60'000);
    }

    void what_was_switched_off_or_zoomed_stays_while_the_run_goes_on() {
        CurvesPage page(workspace_);
        page.resize(900, 600);
        page.show();
        QTRY_VERIFY(page.isReady() && panel(page, "loss"));
        FigureView* view = panel(page, "loss");
        view->setSeriesVisible(1, false);
        view->plot()->yAxis->setRange(0.1, 0.2);
        page.findChild<CurvePanel*>(QStringLiteral("curve:loss"))->refresh();
        QTRY_VERIFY(workspace_.session()->isIdle() && page.isReady());
        QVERIFY(!view->isSeriesVisible(1));
        QCOMPARE(view->yRange(), QCPRange(0.1, 0.2));
    }

    void a_hidden_page_reads_nothing() {
        CurvesPage page(workspace_);
        page.show();
        QTRY_VERIFY(page.isReady() && workspace_.session()->isIdle());
        page.hide();
        const QString group = workspace_.groups()[1].key;
        workspace_.setShown(group, false);
        QVERIFY(workspace_.session()->isIdle());
        page.show();
        QTRY_VERIFY(page.isReady() && panel(page, "loss") && panel(page, "loss")->grabData().size() == 2);
        workspace_.setShown(group, true);
        QTRY_VERIFY(page.isReady() && panel(page, "loss")->grabData().size() == 3);
    }

    void without_the_band_every_seed_has_its_own_line() {
        Store store(folder_.path());
        CurveRequest asked = request("loss");
        asked.overSeeds = false;
        QCOMPARE(readCurve(store, asked).figure.series.size(), std::size_t(5));
    }

    void smoothing_keeps_the_raw_line_and_has_no_bias_at_the_start() {
        Store store(folder_.path());
        CurveRequest asked = request("loss");
        asked.smoothing = 0.9;
        const Series& em = named(readCurve(store, asked).figure, "EM");
        QCOMPARE(em.raw.size(), em.y.size());
        QCOMPARE(em.y.front(), em.raw.front());
        QVERIFY(em.y[50] > em.raw[50]);  // a falling curve's average lags above it
    }

    void an_entry_of_many_points_weighs_as_many() {
        const std::vector<double> one_by_one = smoothed({1, 2, 2, 2}, {1, 1, 1, 1}, 0.8), together = smoothed({1, 2}, {1, 3}, 0.8);
        QVERIFY(std::abs(one_by_one.back() - together.back()) < 1e-12);
    }

    void a_log_axis_leaves_out_what_it_cannot_show() {
        Store store(folder_.path());
        CurveRequest asked = request("loss");
        asked.logX = asked.logY = true;
        const CurveResult result = readCurve(store, asked);
        result.figure.validate();
        QVERIFY(!result.empty);
    }

    void on_a_logarithmic_axis_a_band_reaches_as_far_down_as_it_does() {
        const TemporaryDirectory project;
        CurveRequest asked;
        asked.series = {"loss"};
        asked.logY = true;
        asked.groups.push_back({"EM", 2, {}, {}});
        for (const double level : {1.9, 0.1}) {
            const RunDirectory run = sample_run(project.path());
            write_attempt(run, 1, 100, "finished", level);
            asked.groups.front().runs.push_back(run.info().id);
        }
        Store store(project.path());
        store.ingest_all();
        const Figure figure = readCurve(store, asked).figure;
        figure.validate();
        const Series& em = named(figure, "EM (n = 2)");
        QVERIFY(std::abs(em.low[0] - (1 - 1.8 / std::sqrt(2.0))) < 1e-9);  // below 0
    }

    void a_logarithmic_axis_has_as_many_columns_a_decade() {
        const TemporaryDirectory project;
        const RunDirectory run = sample_run(project.path());
        JournalWriter journal(run, run.begin_attempt(), {"", 0, Json::object(), 0});
        for (int step = 1; step <= 1000; ++step) journal.step({{"step", step}, {"total_steps", 1000}, {"loss", 1.0 * step}});
        journal.event("finished", {{"step", 1000}});
        Store store(project.path());
        store.ingest_all();
        CurveRequest asked;
        asked.series = {"loss"};
        asked.groups.push_back({"EM", 2, {run.info().id}, {}});
        asked.columns = 100;
        asked.logX = true;
        const Series line = readCurve(store, asked).figure.series.front();
        QVERIFY(line.x.size() > 60 && line.x.size() <= 100);
        for (std::size_t i = 0; i < 9; ++i) QCOMPARE(line.x[i], static_cast<double>(i + 1));
        QVERIFY(line.x[9] > 10);  // 10 to 12: each step is in one column
        QVERIFY(std::is_sorted(line.x.begin(), line.x.end()));
        for (std::size_t i = 0; i < line.x.size(); ++i) QVERIFY(std::abs(line.y[i] / line.x[i] - 1) < 0.1);
    }

    void the_page_shows_the_usual_series_and_draws_them() {
        CurvesPage page(workspace_);
        page.resize(900, 600);
        page.show();
        QTRY_VERIFY(page.isReady() && panel(page, "loss"));
        QVERIFY(panel(page, "lr"));
        QCOMPARE(panel(page, "loss")->grabData().size(), 3);
        for (const PlottedSeries& series : panel(page, "loss")->grabData()) QVERIFY(series.points.size() > 50);
    }

    void tasks_that_alternate_have_a_loss_each_by_default() {
        const TemporaryDirectory project;
        run_of_alternating_tasks(project.path());
        Workspace workspace;
        QVERIFY(open_and_wait(workspace, project.path()));
        CurvesPage page(workspace);
        page.show();
        QTRY_VERIFY(page.isReady() && panel(page, "loss/retrieval"));
        QVERIFY(panel(page, "loss/clustering"));
        QVERIFY(!panel(page, "loss"));
        const QVector<QPointF> points = panel(page, "loss/clustering")->grabData().first().points;
        QCOMPARE(points.size(), 10);
        for (const QPointF& point : points) QCOMPARE(point.y(), 5.0);
    }

    void a_task_of_several_stages_has_one_panel() {
        const std::vector<std::string> names{"loss", "loss/b", "loss/b@1", "loss/c", "loss/c@1", "loss/a@home", "loss/d@1", "loss@1"};
        QStringList tasks;
        for (const TaskLoss& task : lossByTask(names)) tasks << qs(task.name) + QLatin1Char(':') + qs(join(task.series, ","));
        QCOMPARE(tasks.join(QLatin1Char(' ')),
                 QStringLiteral("loss/a@home:loss/a@home loss/b:loss/b,loss/b@1 loss/c:loss/c,loss/c@1 loss/d:loss/d@1"));
        const TemporaryDirectory project;
        const RunDirectory run = sample_run(project.path(), 1);
        JournalWriter journal(run, run.begin_attempt(), {"", 0, Json::object(), 0});
        for (int stage = 0; stage < 2; ++stage)
            for (int step = 1; step <= 6; ++step) {
                const char* const task[] = {"loss/classification", "loss/clustering", "loss/retrieval"};
                journal.step({{"step", step}, {"stage", stage}, {"total_steps", 6}, {"loss", 1.0}, {task[step % 3], 1.0}});
            }
        journal.event("finished", {{"step", 6}});
        Workspace workspace;
        QVERIFY(open_and_wait(workspace, project.path()));
        CurvesPage page(workspace);
        page.show();
        QTRY_VERIFY(page.isReady() && panel(page, "loss/retrieval, loss/retrieval@*"));
        QVERIFY(panel(page, "loss/classification, loss/classification@*") && panel(page, "loss/clustering, loss/clustering@*"));
        QCOMPARE(panel(page, "loss/retrieval, loss/retrieval@*")->grabData().size(), 2);
    }

    void a_zoom_asks_for_what_it_shows_and_reset_shows_all_again() {
        CurvesPage page(workspace_);
        page.resize(900, 600);
        page.show();
        QTRY_VERIFY(page.isReady() && panel(page, "loss"));
        FigureView* view = panel(page, "loss");
        view->setXRange(QCPRange(20, 30));
        QTRY_VERIFY(page.isReady() && view->grabData().first().points.size() < 20);
        QVERIFY(view->xRange().lower > 15 && view->xRange().upper < 35);
        view->resetView();
        QTRY_VERIFY(page.isReady() && view->grabData().first().points.size() > 90);
    }

    void an_exported_curve_holds_the_points_and_not_what_is_drawn_of_them() {
        CurvesPage page(workspace_);
        page.resize(900, 600);
        page.show();
        page.findChild<QSlider*>("curvesSmoothing")->setValue(60);
        QTRY_VERIFY(page.isReady() && panel(page, "loss"));
        const QString file = QString::fromStdString((folder_.path() / "loss.csv").string());
        std::unique_ptr<QMenu> menu(panel(page, "loss")->createMenu(&page));
        const auto menuHas = [&menu](const char* text) {
            const QList<QAction*> actions = menu->actions();
            return std::any_of(actions.begin(), actions.end(), [text](const QAction* action) { return action->text() == text; });
        };
        QVERIFY(menuHas("Copy what is drawn") && !menuHas("Copy data"));
        answer_save_dialog(file);
        for (QAction* action : menu->actions())
            if (action->text().contains(QStringLiteral("CSV"))) action->trigger();
        QTRY_VERIFY(fs::exists(file.toStdString()));
        const QStringList lines = QString::fromStdString(read_file(file.toStdString())).split(QStringLiteral("\r\n"), Qt::SkipEmptyParts);
        QCOMPARE(lines.first(), QStringLiteral("group,run,seed,step,time,loss"));
        QCOMPARE(lines.size(), 1 + 5 * 100);
        const RunsSnapshotPtr hold = workspace_.runs();
        const RunRow& run = *workspace_.groups().front().runs.front();
        Store store(folder_.path());
        const std::vector<SeriesPoint> points = store.series(run.info.id, "loss");
        const QStringList cells = lines[17].split(QLatin1Char(','));
        QCOMPARE(cells[1], qs(run.info.id));
        QCOMPARE(cells[3].toLongLong(), points[16].step);
        QCOMPARE(cells[5].toDouble(), points[16].value);
    }

    void choices_are_found_again() {
        CurvesPage page(workspace_);
        page.findChild<QComboBox*>("curvesX")->setCurrentIndex(3);
        page.findChild<QSlider*>("curvesSmoothing")->setValue(40);
        page.findChild<QCheckBox*>("curvesLogY")->click();
        CurvesPage again(workspace_);
        again.restore(page.state());
        QCOMPARE(again.state(), page.state());
    }

    void an_empty_project_says_what_would_be_here() {
        TemporaryDirectory empty;
        make_directories(empty.path() / "runs");
        Workspace workspace;
        workspace.openProject(empty.path());
        CurvesPage page(workspace);
        page.show();
        QTRY_VERIFY(page.isReady());
        const auto buttons = page.findChildren<QWidget*>("emptyStateButton");  // also of a board without panels
        QCOMPARE(std::count_if(buttons.begin(), buttons.end(), [](const QWidget* button) { return button->isVisible(); }), 1);
    }
};

FACETER_TEST(TestCurves)
#include "test_curves.moc"
