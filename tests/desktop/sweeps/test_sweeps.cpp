#include <QComboBox>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QScrollBar>
#include <QSettings>
#include <QTableView>
#include <QTest>

#include "desktop/support/sample_project.h"
#include "figure/figure_view.h"
#include "pages/sweeps/parallel_view.h"
#include "pages/sweeps/sweeps_page.h"
#include "support/test.h"
#include "widgets/data_table.h"
#include "widgets/labels.h"
#include "widgets/table_model.h"

using namespace faceter;
using namespace faceter::desktop;
using namespace faceter::testing;

namespace {

constexpr int patience_ms = 60000;

Experiment swept() {
    return parse_sample(std::string(sample_experiment()) + "sweep:\n  training.learning_rate: [1.0e-5, 2.0e-5, 1.0e-4, 5.0e-4]\n");
}

/// Two variants at four learning rates with two seeds each; the higher the rate, the better. One configuration has no results.
void make_project(const fs::path& project) {
    const Experiment experiment = swept();
    const auto& runs = experiment.runs();
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const RunDirectory run = RunDirectory::create(project, experiment, runs[i], false);
        write_attempt(run, 1, 10, "finished");
        const auto rate = run.settings().at("training").at("learning_rate").get<double>();
        if (i + 1 < runs.size()) write_results(run, 1e4 * rate + 0.1 * static_cast<double>(run.info().seed));
    }
}

struct Opened {
    TemporaryDirectory folder;
    Workspace workspace;
    std::unique_ptr<SweepsPage> page;

    Opened() {
        make_project(folder.path());
        if (!open_and_wait(workspace, folder.path())) qFatal("the project did not open");
        page = std::make_unique<SweepsPage>(workspace);
        page->resize(1000, 800);
        page->show();
        page->activateWindow();
        if (!settled()) qFatal("the page did not settle");
    }
    bool settled() {
        return QTest::qWaitFor([&] { return page->isReady() && !page->sweep().points.empty() && parallel()->height() > 200; }, patience_ms);
    }
    template <typename Widget>
    Widget* find(const char* name) {
        return page->findChild<Widget*>(QLatin1String(name));
    }
    int rows() { return find<QTableView>("sweepsTable:sweep_points")->model()->rowCount(); }
    ParallelView* parallel() { return find<ParallelView>("sweepsParallel"); }
};

}  // namespace

/// Page Sweeps, driven by keyboard and mouse.
class TestSweeps : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void init() { QSettings().clear(); }

    void configurations_stand_from_the_best_down_and_the_rate_explains_them() {
        Opened on;
        const Sweep& sweep = on.page->sweep();
        QCOMPARE(sweep.points.size(), std::size_t{8});
        QCOMPARE(sweep.settings.front().key, std::string("training.learning_rate"));
        QVERIFY(sweep.settings.front().importance > 0.9);
        QCOMPARE(on.rows(), 8);
        QVERIFY(on.find<FigureView>("sweeps:sweep_setting")->hasValues());
        QVERIFY(on.find<FigureView>("sweeps:sweep_importance")->hasValues());
        QCOMPARE(on.find<FigureView>("sweeps:sweep_setting")->figure().x.label, std::string("training.learning_rate"));
    }

    void a_seed_that_was_run_twice_counts_once() {
        Opened on;
        const Experiment experiment = swept();
        const auto scored = [&on] {
            const RunsSnapshotPtr runs = on.workspace.runs();
            return std::count_if(runs->runs.begin(), runs->runs.end(), [](const RunRow& run) { return run.num_scores > 0; });
        };
        const auto before = scored();
        const RunDirectory again = RunDirectory::create(on.folder.path(), experiment, experiment.runs()[1], false);
        write_attempt(again, 1, 10, "finished");
        write_results(again, 7);
        on.workspace.session()->refresh();
        QTRY_VERIFY_WITH_TIMEOUT(scored() == before + 1 && on.page->isReady(), patience_ms);
        for (const SweepConfiguration& point : on.page->sweep().points) QVERIFY2(point.score.n <= 2, point.name.c_str());
    }

    void another_score_and_setting_are_chosen_by_keys_and_restored() {
        Opened on;
        auto* score = on.find<QComboBox>("sweepsScore");
        score->setFocus();
        QTest::keyClick(score, Qt::Key_Down);
        const QString chosen = score->currentData().toString();
        QVERIFY(chosen.startsWith(QStringLiteral("type:")));
        QCOMPARE(on.find<FigureView>("sweeps:sweep_setting")->figure().y.label, score->currentText().toStdString());
        auto* setting = on.find<QComboBox>("sweepsSetting");
        setting->setFocus();
        QTest::keyClick(setting, Qt::Key_Down);
        const std::string key = setting->currentText().toStdString();
        QVERIFY(key != "training.learning_rate");
        QCOMPARE(on.find<FigureView>("sweeps:sweep_setting")->figure().x.label, key);
        SweepsPage other(on.workspace);
        other.restore(on.page->state());
        other.show();
        QTRY_VERIFY_WITH_TIMEOUT(other.isReady() && !other.sweep().points.empty(), patience_ms);
        QCOMPARE(other.findChild<QComboBox*>(QStringLiteral("sweepsScore"))->currentData().toString(), chosen);
        QCOMPARE(other.findChild<QComboBox*>(QStringLiteral("sweepsSetting"))->currentText().toStdString(), key);
    }

    void a_range_dragged_on_the_scores_axis_keeps_the_best() {
        Opened on;
        ParallelView* view = on.parallel();
        const int axis = view->numAxes() - 1;
        const QPoint best = view->placeOf(0, axis).toPoint();
        const auto drag = [&](const QPoint& to) {
            QMouseEvent move(QEvent::MouseMove, to, view->mapToGlobal(to), Qt::NoButton, Qt::LeftButton, {});
            QApplication::sendEvent(view, &move);
        };
        QTest::mousePress(view, Qt::LeftButton, {}, best - QPoint(0, 10));
        drag(best + QPoint(0, 20));
        QTest::mouseRelease(view, Qt::LeftButton, {}, best + QPoint(0, 20));
        QVERIFY(view->kept().size() < 8 && !view->kept().empty());
        QCOMPARE(on.rows(), static_cast<int>(view->kept().size()));
        QVERIFY(on.find<QLabel>("sweepsKept")->text().contains(QStringLiteral("of 8")));
        QTest::mouseClick(view, Qt::LeftButton, {}, best + QPoint(0, 60));  // on the axis, without a drag
        QCOMPARE(on.rows(), 8);
    }

    void keys_choose_a_line_and_drop_all_ranges() {
        Opened on;
        ParallelView* view = on.parallel();
        view->setFocus();
        QTest::keyClick(view, Qt::Key_N);
        QCOMPARE(view->chosen(), 0);
        QVERIFY(on.find<QLabel>("sweepsKept")->text().contains(qs(on.page->sweep().points.front().name)));
        QTest::keyClick(view, Qt::Key_P);
        QCOMPARE(view->chosen(), 7);
        view->setRange(0, std::pair(2.0, 3.0));  // nothing goes through there
        QCOMPARE(on.rows(), 0);
        QTest::keyClick(view, Qt::Key_Escape);
        QCOMPARE(on.rows(), 8);
        view->grab();
    }

    void the_chosen_line_stays_while_runs_train_and_change_no_score() {
        Opened on;
        on.parallel()->choose(3);
        Q_EMIT on.workspace.runsChanged();  // as after each logged step
        QVERIFY(!on.page->isReady());
        QTRY_VERIFY_WITH_TIMEOUT(on.page->isReady(), patience_ms);
        QCOMPARE(on.parallel()->chosen(), 3);
        QVERIFY(on.find<QLabel>("sweepsKept")->text().contains(qs(on.page->sweep().points[3].name)));
    }

    void settings_of_one_method_leave_the_axes_to_those_that_all_have() {
        Sweep sweep;
        for (int i = 0; i < 3; ++i) {
            std::map<std::string, std::string> settings{{"shared", std::to_string(i)}};
            for (int key = 0; i == 0 && key < 9; ++key) settings["own" + std::to_string(key)] = "1";
            sweep.points.push_back({"point", settings, {}, 0});
        }
        for (int key = 0; key < 9; ++key) sweep.settings.push_back({"own" + std::to_string(key), false, 0.9});
        sweep.settings.push_back({"shared", true, 0.1});
        ParallelView view;
        view.setSweep(sweep, "mean score");
        QCOMPARE(view.numAxes(), 9);
        view.setRange(0, std::pair(0.4, 0.6));
        QCOMPARE(view.kept(), std::vector<int>{1});
    }

    void the_method_is_a_setting_where_it_differs_and_two_configurations_say_why_none_explains() {
        TemporaryDirectory folder;
        const Experiment experiment = swept();
        for (const ResolvedRun& one : experiment.runs()) {
            const RunDirectory run = RunDirectory::create(folder.path(), experiment, one, false);
            write_attempt(run, 1, 10, "finished");
            write_results(run, run.info().method == "mixture" ? 70 : 50);
        }
        Workspace workspace;
        QVERIFY(open_and_wait(workspace, folder.path()));
        SweepsPage page(workspace);
        page.resize(1000, 800);
        page.show();
        QTRY_VERIFY_WITH_TIMEOUT(page.isReady() && !page.sweep().points.empty(), patience_ms);
        QCOMPARE(page.sweep().settings.front().key, std::string("method"));
        const auto* why = page.findChild<QLabel*>(QStringLiteral("sweepsWhy"));
        QVERIFY(why->isHidden());
        QStringList two;
        for (const RunGroupRef& group : workspace.groups())
            if (!group.runs.front()->info.is_baseline() && two.size() < 2) two << group.key;
        workspace.showOnly(two);
        QTRY_VERIFY_WITH_TIMEOUT(page.isReady() && page.sweep().points.size() == 2, patience_ms);
        QVERIFY2(!why->isHidden() && why->text().contains(QStringLiteral("together")), qPrintable(why->text()));
    }

    void a_range_stays_on_its_own_axis_where_another_setting_ends_like_it() {
        Sweep sweep;
        for (const auto& [a, b] : {std::pair("1", "1"), std::pair("1", "2"), std::pair("2", "1"), std::pair("2", "2")})
            sweep.points.push_back({"point", {{"tasks.a.weight", a}, {"tasks.b.weight", b}}, {}, 0});
        sweep.settings = {{"tasks.a.weight", true, 0.5}, {"tasks.b.weight", true, 0.5}};
        ParallelView view;
        view.setSweep(sweep, "mean score");
        view.setRange(1, std::pair(0.0, 0.5));
        const std::vector<int> kept = view.kept();
        QCOMPARE(kept.size(), std::size_t{2});
        view.setSweep(sweep, "mean score");  // runs came in
        QVERIFY(view.kept() == kept);
    }

    void a_range_keeps_its_values_where_runs_with_others_come_in() {
        const auto sweepOf = [](const std::vector<std::string>& values, bool isNumber) {
            Sweep sweep;
            for (const std::string& value : values) sweep.points.push_back({value, {{"a.setting", value}}, {}, 0});
            sweep.settings = {{"a.setting", isNumber, 0.5}};
            return sweep;
        };
        ParallelView view;
        view.setSweep(sweepOf({"1", "2", "3", "4"}, true), "mean score");
        view.setRange(0, std::pair(0.0, 0.4));
        QVERIFY((view.kept() == std::vector<int>{0, 1}));
        view.setSweep(sweepOf({"1", "2", "3", "4", "11"}, true), "mean score");
        QVERIFY((view.kept() == std::vector<int>{0, 1}));
        view.setSweep(sweepOf({"1", "2", "3", "4", "1000"}, true), "mean score");  // by logarithms now
        QVERIFY((view.kept() == std::vector<int>{0, 1}));
        view.setRange(0, std::pair(0.9, 1.0));  // the highest, whatever comes
        view.setSweep(sweepOf({"1", "1000", "1001"}, true), "mean score");
        QVERIFY((view.kept() == std::vector<int>{1, 2}));
        view.setSweep(sweepOf({"1", "2", "3", "11"}, true), "mean score");
        view.setRange(0, std::pair(0.15, 0.25));
        for (const bool beyond : {false, true, false}) {
            view.setSweep(beyond ? sweepOf({"1", "2"}, true) : sweepOf({"1", "2", "3", "11"}, true), "mean score");
            QVERIFY((view.kept() == (beyond ? std::vector<int>{} : std::vector<int>{2})));
        }

        view.setRange(0, std::pair(0.06, 0.14));  // 2, of 1 to 11
        QVERIFY((view.kept() == std::vector<int>{1}));
        for (const std::vector<std::string>& values : {std::vector<std::string>{"2"}, {"3"}, {"1", "2", "3", "11"}}) {
            view.setSweep(sweepOf(values, true), "mean score");  // for a while one value alone: 2 is kept, 3 is not
            QVERIFY2(view.kept().size() == (values.front() == "3" ? 0U : 1U), values.front().c_str());
        }
        view.setSweep(sweepOf({"16"}, true), "mean score");
        view.setRange(0, std::pair(0.25, 0.75));
        view.setSweep(sweepOf({"16", "64"}, true), "mean score");
        QVERIFY((view.kept() == std::vector<int>{0}));

        ParallelView names;
        names.setSweep(sweepOf({"b", "c", "d"}, false), "mean score");
        names.setRange(0, std::pair(0.25, 0.75));
        QVERIFY((names.kept() == std::vector<int>{1}));
        names.setSweep(sweepOf({"a", "b", "c", "d"}, false), "mean score");
        QVERIFY((names.kept() == std::vector<int>{2}));
    }

    void in_a_narrow_column_configurations_that_differ_at_their_ends_stay_apart() {
        Table made;
        made.add_column("configuration", ColumnKind::text);
        for (const char* size : {"16", "32"})
            made.add_row({Cell::of(std::string("EM · training.learning_rate=1e-05,training.batch_size=") + size)});
        TableModel model;
        model.setTable(made);
        DataTable table;
        table.setModel(&model);
        table.setColumnWidth(0, 160);
        table.resize(300, 200);
        table.show();
        QVERIFY(QTest::qWaitForWindowExposed(&table));
        table.clearSelection();
        const auto picture = [&table, &model](int row) {
            return table.viewport()->grab(table.visualRect(model.index(row, 0)).adjusted(2, 2, -2, -2)).toImage();
        };
        QVERIFY(picture(0) != picture(1));
        table.selectAll();
        QVERIFY(table.selectionAsTsv().contains(QStringLiteral("training.learning_rate=1e-05,training.batch_size=16")));
    }

    void a_number_is_copied_without_the_spaces_between_its_digits() {
        Table made;
        made.add_column("texts", ColumnKind::text);
        made.add_column("n", ColumnKind::count);
        made.add_row({Cell::of("5 000 of them"), Cell::of(1234567)});
        TableModel model;
        model.setTable(made);
        QVERIFY(model.index(0, 1).data().toString() != QStringLiteral("1234567"));
        DataTable table;
        table.setModel(&model);
        table.selectAll();
        QCOMPARE(table.selectionAsTsv(), QStringLiteral("texts\tn\n5 000 of them\t1234567"));
    }

    void a_table_as_high_as_its_rows_scrolls_sideways_only() {
        Table made;
        for (const char* name : {"one", "two", "three"}) made.add_column(name, ColumnKind::text);
        for (int row = 0; row < 3; ++row) made.add_row({Cell::of("a"), Cell::of("b"), Cell::of("c")});
        TableModel model;
        model.setTable(made);
        DataTable table;
        table.setModel(&model);
        for (int column = 0; column < 3; ++column) table.setColumnWidth(column, 100);
        table.setHeightToRows();
        table.resize(200, table.height());
        table.show();
        QVERIFY(QTest::qWaitForWindowExposed(&table));
        QCOMPARE(table.verticalScrollBar()->maximum(), 0);
        QVERIFY(table.horizontalScrollBar()->maximum() > 0);
        const int wide = table.height();
        table.resize(400, table.height());
        QCOMPARE(table.verticalScrollBar()->maximum(), 0);
        QCOMPARE(wide - table.height(), table.horizontalScrollBar()->sizeHint().height());  // no room where there is no bar
        table.setColumnWidth(0, 300);
        QCOMPARE(table.verticalScrollBar()->maximum(), 0);
    }

    void a_run_that_lacks_the_hard_set_is_not_the_best() {
        TemporaryDirectory folder;
        const Experiment experiment = swept();
        QString partial;
        for (const ResolvedRun& one : experiment.runs()) {
            const RunDirectory run = RunDirectory::create(folder.path(), experiment, one, false);
            const bool ended = !run.info().is_baseline() && partial.isEmpty();
            if (ended) partial = qs(run.info().shown_name());
            write_attempt(run, 1, 10, ended ? "failed" : "finished");
            const double level = run.settings().at("training").at("learning_rate").get<double>() * 1e4;
            write_results(run, level, 3);  // 40, 45, 50
            if (ended) fs::remove(run.results() / "set0.json"), fs::remove(run.results() / "set1.json");
        }
        Workspace workspace;
        QVERIFY(open_and_wait(workspace, folder.path()));
        SweepsPage page(workspace);
        page.resize(1000, 800);
        page.show();
        QTRY_VERIFY_WITH_TIMEOUT(page.isReady() && !page.sweep().points.empty(), patience_ms);
        QVERIFY2(QString::fromStdString(page.sweep().points.front().name).contains(QStringLiteral("5.0e-4")),
                 page.sweep().points.front().name.c_str());
        const auto* left = page.findChild<QLabel*>(QStringLiteral("sweepsLeftOut"));
        QVERIFY2(left->isVisible() && left->text().contains(QStringLiteral("1 of 3 data sets")) && left->text().contains(partial),
                 qPrintable(left->text()));
        QVERIFY(page.findChild<QComboBox*>(QStringLiteral("sweepsScore"))->currentText().contains(QStringLiteral("1 of 3")));
    }

    void a_setting_that_one_experiment_never_varies_has_its_value_beside_another_experiment() {
        TemporaryDirectory folder;
        make_project(folder.path());
        const Experiment fixed = parse_sample(std::string(sample_experiment()).replace(0, 11, "name: fixed") +
                                              "training: {learning_rate: 3.0e-5, batch_size: 7}\n");
        for (const ResolvedRun& one : fixed.runs()) {
            const RunDirectory run = RunDirectory::create(folder.path(), fixed, one, false);
            write_attempt(run, 1, 10, "finished");
            write_results(run, 4);
        }
        Workspace workspace;
        QVERIFY(open_and_wait(workspace, folder.path()));
        workspace.setExperiment({});
        SweepsPage page(workspace);
        page.resize(1000, 800);
        page.show();
        QTRY_VERIFY_WITH_TIMEOUT(page.isReady() && !page.sweep().points.empty(), patience_ms);
        bool seen = false;
        for (const SweepConfiguration& point : page.sweep().points) {
            QVERIFY2(point.settings.contains("training.learning_rate") && point.settings.contains("training.batch_size"),
                     point.name.c_str());
            if (!point.name.starts_with("fixed")) continue;
            seen = true;
            QCOMPARE(point.settings.at("training.learning_rate"), std::string("3e-05"));
            QCOMPARE(point.settings.at("training.batch_size"), std::string("7"));
        }
        QVERIFY(seen);
    }

    void figures_and_table_are_exported() {
        Opened on;
        auto* menu = on.find<QMenu>("sweepsExportMenu");
        Q_EMIT menu->aboutToShow();
        QCOMPARE(menu->actions().size(), 3);
    }

    void runs_without_a_setting_that_differs_are_explained() {
        TemporaryDirectory folder;
        make_sample_project(folder.path(), 2);
        Workspace workspace;
        QVERIFY(open_and_wait(workspace, folder.path()));
        SweepsPage page(workspace);
        page.resize(900, 600);
        page.show();
        QTRY_VERIFY_WITH_TIMEOUT(page.isReady(), patience_ms);
        QTRY_VERIFY(page.findChild<EmptyState*>()->isVisible());
        QVERIFY(!page.findChild<QPushButton*>(QStringLiteral("sweepsExport"))->isVisible());
    }
};

FACETER_TEST(TestSweeps)
#include "test_sweeps.moc"
