#include <QCheckBox>
#include <QComboBox>
#include <QInputDialog>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QSlider>
#include <QToolButton>
#include <cmath>

#include "desktop/support/sample_project.h"
#include "figure/figure_view.h"
#include "pages/curves/curve_panel.h"
#include "pages/curves/curves_page.h"
#include "pages/curves/panel_spec.h"
#include "pages/curves/saved_views.h"
#include "support/test.h"
#include "theme/theme.h"

using namespace faceter;
using namespace faceter::desktop;
using namespace faceter::testing;

namespace {

constexpr int steps = 200, spike_step = 50;
constexpr double spike = 1000;

/// Two runs whose tasks alternate; one has a spike in its loss.
void make_tasks_project(const fs::path& project) {
    for (const std::size_t index : {1, 3}) {
        const RunDirectory run = sample_run(project, index);
        JournalWriter journal(run, run.begin_attempt(), {"", 0, Json::object(), 0});
        for (int step = 1; step <= steps; ++step) {
            const double loss = index == 1 && step == spike_step ? spike : 2.0 + 1.0 / step;
            journal.step({{"step", step},
                          {"total_steps", steps},
                          {"loss", loss},
                          {"lr", 1e-5 * step},
                          {step % 2 ? "loss/retrieval" : "loss/clustering", step % 2 ? 1.0 : 5.0}});
        }
        journal.event("finished", {{"step", steps}});
    }
}

void type(QLineEdit* edit, const QString& text) {
    edit->setFocus();
    edit->selectAll();
    QTest::keyClicks(edit, text);
}

void drag(QWidget* handle, const QPoint& toGlobal) {
    const QPoint from = handle->rect().center();
    QTest::mousePress(handle, Qt::LeftButton, {}, from);
    for (const double share : {0.5, 1.0}) {
        const QPoint at = (QPointF(from) + share * QPointF(handle->mapFromGlobal(toGlobal) - from)).toPoint();
        QMouseEvent move(QEvent::MouseMove, at, handle->mapToGlobal(at), Qt::NoButton, Qt::LeftButton, {});
        QCoreApplication::sendEvent(handle, &move);
    }
    QTest::mouseRelease(handle, Qt::LeftButton, {}, handle->mapFromGlobal(toGlobal));
}

}  // namespace

/// Panels of page Curves: what is in them, their axes, their places, and the views that a project keeps.
class TestCurvePanels : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;
    Workspace workspace_;
    std::unique_ptr<CurvesPage> page_;

    CurvePanel* panel(const char* patterns) const {
        return page_->findChild<CurvePanel*>(QStringLiteral("curve:") + QLatin1String(patterns));
    }
    bool isReady() const { return page_->isReady() && workspace_.session()->isIdle(); }
    QStringList order() const {
        QList<CurvePanel*> panels;
        for (CurvePanel* panel : page_->findChildren<CurvePanel*>())
            if (panel->isVisible()) panels << panel;
        const auto place = [this](const CurvePanel* panel) { return panel->mapTo(page_.get(), QPoint()); };
        std::sort(panels.begin(), panels.end(), [&](const CurvePanel* a, const CurvePanel* b) {
            return std::pair(place(a).y(), place(a).x()) < std::pair(place(b).y(), place(b).x());
        });
        QStringList names;
        for (const CurvePanel* panel : panels) names << panel->spec().patterns.join(QLatin1Char(','));
        return names;
    }
    /// By the panel's menu.
    static void choose(CurvePanel* panel, const QString& text) {
        QMenu* menu = panel->findChild<QToolButton*>(QStringLiteral("panelMenu"))->menu();
        Q_EMIT menu->aboutToShow();
        for (QAction* action : menu->actions())
            if (action->text().startsWith(text)) return action->trigger();
        QFAIL(qPrintable(text));
    }
    QDialog* options(CurvePanel* panel) const {
        choose(panel, QStringLiteral("Series"));
        return panel->findChild<QDialog*>(QStringLiteral("panelOptions"));
    }
    void open(std::initializer_list<const char*> panels) {
        page_ = std::make_unique<CurvesPage>(workspace_);
        page_->resize(1000, 700);
        page_->show();
        QVERIFY(QTest::qWaitForWindowExposed(page_.get()));
        QTRY_VERIFY(isReady());
        QJsonArray specs;
        for (const char* pattern : panels) specs.append(PanelSpec{patternsFrom(QLatin1String(pattern))}.toJson());
        page_->restore({{QStringLiteral("panels"), specs}, {QStringLiteral("seeds"), true}});
        QTRY_VERIFY(isReady());
    }

  private Q_SLOTS:
    void panels_of_a_narrow_page_stand_below_each_other() {
        open({"loss", "lr"});
        QTRY_VERIFY(panel("lr")->x() > page_->width() / 3);
        page_->resize(420, 700);
        QTRY_COMPARE(panel("lr")->x(), 0);
        QTRY_VERIFY(panel("lr")->width() > page_->width() / 2);
        page_->resize(1000, 700);
        QTRY_VERIFY(panel("lr")->x() > page_->width() / 3);
    }
    void initTestCase() {
        make_tasks_project(folder_.path());
        QVERIFY(open_and_wait(workspace_, folder_.path()));
        QTRY_COMPARE(workspace_.groups().size(), std::size_t(2));
    }
    void cleanup() { page_.reset(); }

    void patterns_are_names_globs_or_expressions() {
        const QStringList names{"loss", "loss/clustering", "loss/retrieval", "lr", "score/a.b"};
        const auto found = [&](const char* patterns) { return matching(patternsFrom(QLatin1String(patterns)), names); };
        QCOMPARE(found("loss"), QStringList{"loss"});
        QCOMPARE(found("loss/*"), (QStringList{"loss/clustering", "loss/retrieval"}));
        QCOMPARE(found("l?"), QStringList{"lr"});
        QCOMPARE(found("*.b , lr"), (QStringList{"lr", "score/a.b"}));
        QCOMPARE(found("/^(lr|loss)$/"), (QStringList{"loss", "lr"}));
        QCOMPARE(found("a.b"), QStringList());
        QVERIFY(patternProblem({"loss/*"}).isEmpty());
        QVERIFY(patternProblem({"/(/"}).contains("/(/"));
        QCOMPARE(found("/(/"), QStringList());
    }

    void commas_belong_to_an_expression_and_to_a_name_where_they_are_marked() {
        const QStringList names{"loss", "loss/a, b", "lr"};
        const auto found = [&](const char* patterns) { return matching(patternsFrom(QLatin1String(patterns)), names); };
        QCOMPARE(found("/^l.{1,2}$/ , loss"), (QStringList{"loss", "lr"}));
        QCOMPARE(patternsFrom(QStringLiteral("/x{1,2}/,lr")), (QStringList{"/x{1,2}/", "lr"}));
        QCOMPARE(found("loss/a\\, b"), QStringList{"loss/a, b"});
        for (const QStringList& patterns : {QStringList{"loss/a, b", "lr"}, QStringList{"/^(a|b){1,3}/", "loss/*"}, QStringList{"lr"}})
            QCOMPARE(patternsFrom(patternsText(patterns)), patterns);
    }

    void one_panel_holds_all_series_that_a_pattern_matches() {
        open({"lr"});
        auto* pattern = page_->findChild<QLineEdit*>("curvesPattern");
        type(pattern, "loss/*\r");
        QTRY_VERIFY(panel("loss/*") && isReady());
        const Figure& figure = panel("loss/*")->view()->figure();
        QCOMPARE(figure.series.size(), std::size_t(4));  // two groups, two tasks
        QCOMPARE(figure.y.label, std::string("loss"));
        QCOMPARE(figure.series[0].name, std::string("EM · loss, clustering"));
        QCOMPARE(figure.series[0].colour.value() % 8, figure.series[1].colour.value() % 8);  // a group keeps its colour
        QVERIFY(figure.series[0].colour != figure.series[1].colour);                         // and its series differ by dashes
        for (std::size_t i = 0; i < 4; ++i) QCOMPARE(figure.series[i].y.front(), i % 2 ? 1.0 : 5.0);
        QVERIFY(pattern->text().isEmpty());
        type(pattern, "nothing/*\r");
        QVERIFY(page_->findChild<QLabel*>("curvesPatternProblem")->text().contains("nothing/*"));
        QCOMPARE(order(), (QStringList{"lr", "loss/*"}));
    }

    void with_one_group_series_have_their_own_colours() {
        open({"loss/*"});
        const QString other = workspace_.groups()[1].key;
        workspace_.setShown(other, false);
        QTRY_VERIFY(isReady() && panel("loss/*")->view()->figure().series.size() == 2);
        const Figure& figure = panel("loss/*")->view()->figure();
        QCOMPARE(figure.series[0].colour, std::optional(0));
        QCOMPARE(figure.series[1].colour, std::optional(1));
        workspace_.setShown(other, true);
        QTRY_VERIFY(isReady());
    }

    void axes_and_smoothing_of_a_panel_are_its_own() {
        open({"loss", "lr"});
        page_->findChild<QSlider*>("curvesSmoothing")->setValue(20);
        QDialog* dialog = options(panel("loss"));
        auto* scale = dialog->findChild<QComboBox*>("panelLogY");
        scale->setFocus();
        QTest::keyClick(scale, Qt::Key_End);
        type(dialog->findChild<QLineEdit*>("panelLow"), "0.5");
        type(dialog->findChild<QLineEdit*>("panelHigh"), "40");
        dialog->findChild<QCheckBox*>("panelOwnSmoothing")->click();
        dialog->findChild<QSlider*>("panelSmoothing")->setValue(0);
        QTRY_VERIFY(isReady());
        QVERIFY(panel("loss")->view()->figure().y.log);
        QTRY_COMPARE(panel("loss")->view()->yRange(), QCPRange(0.5, 40));
        QVERIFY(panel("loss")->view()->figure().series[0].raw.empty());
        QVERIFY(!panel("lr")->view()->figure().y.log);
        QVERIFY(!panel("lr")->view()->figure().series[0].raw.empty());
        type(dialog->findChild<QLineEdit*>("panelLow"), "nothing");
        QVERIFY(dialog->findChild<QLabel*>("panelProblem")->text().contains("nothing"));
        for (const char* endless : {"-inf", "nan", "1e400"}) {
            type(dialog->findChild<QLineEdit*>("panelLow"), endless);
            QVERIFY2(dialog->findChild<QLabel*>("panelProblem")->text().contains(endless), endless);
        }
        type(dialog->findChild<QLineEdit*>("panelLow"), "50");  // above its end; 5, on the way there, was not
        QVERIFY(!dialog->findChild<QLabel*>("panelProblem")->text().isEmpty());
        QTRY_VERIFY(isReady());
        QCOMPARE(panel("loss")->view()->yRange(), QCPRange(5, 40));
    }

    void a_logarithmic_axis_says_which_end_it_has_no_place_for() {
        open({"loss"});
        QDialog* dialog = options(panel("loss"));
        const auto* problem = dialog->findChild<QLabel*>("panelProblem");
        type(dialog->findChild<QLineEdit*>("panelLow"), "-1");
        QVERIFY(problem->text().isEmpty());  // it is linear
        QTRY_COMPARE(panel("loss")->view()->yRange().lower, -1.0);
        auto* scale = dialog->findChild<QComboBox*>("panelLogY");
        scale->setFocus();
        QTest::keyClick(scale, Qt::Key_End);
        QVERIFY2(problem->text().contains("-1") && problem->text().contains("above 0"), qPrintable(problem->text()));
        QTRY_VERIFY(isReady() && panel("loss")->view()->figure().y.log);
        type(dialog->findChild<QLineEdit*>("panelLow"), "0");
        QVERIFY(!problem->text().isEmpty());
        type(dialog->findChild<QLineEdit*>("panelLow"), "0.5");
        QVERIFY(problem->text().isEmpty());
        QTRY_COMPARE(panel("loss")->view()->yRange().lower, 0.5);
        dialog->close();
        open({"lr"});
        page_->findChild<QCheckBox*>("curvesLogY")->setChecked(true);  // the scale of a panel that has none of its own
        QTRY_VERIFY(isReady());
        dialog = options(panel("lr"));
        type(dialog->findChild<QLineEdit*>("panelHigh"), "0");
        QVERIFY(dialog->findChild<QLabel*>("panelProblem")->text().contains("above 0"));
    }

    void outliers_are_left_out_of_the_axis_and_not_of_the_line() {
        open({"loss"});
        QVERIFY(panel("loss")->view()->yRange().upper > spike / 2);
        choose(panel("loss"), "Leave outliers");
        QTRY_VERIFY(isReady() && panel("loss")->view()->yRange().upper < 4);
        QVERIFY(panel("loss")->view()->yRange().lower > 1);
        const auto points = panel("loss")->view()->grabData().first().points;
        QVERIFY(std::any_of(points.begin(), points.end(), [](const QPointF& point) { return point.y() == spike; }));
    }

    void a_board_without_a_panel_offers_the_usual_ones() {
        open({"loss"});
        auto* bare = page_->findChild<QWidget*>(QStringLiteral("curvesBare"));
        QVERIFY(!bare->isVisible());
        QTest::mouseClick(panel("loss")->findChild<QToolButton*>(QStringLiteral("panelClose")), Qt::LeftButton);
        QTRY_VERIFY(bare->isVisible());  // and not that there are no curves yet
        QTest::mouseClick(bare->findChild<QPushButton*>(), Qt::LeftButton);
        QTRY_COMPARE(order(), (QStringList{"loss/clustering", "loss/retrieval", "lr"}));
    }

    void panels_are_dragged_to_another_place() {
        open({"loss", "lr", "loss/clustering"});
        QCOMPARE(order(), (QStringList{"loss", "lr", "loss/clustering"}));
        auto* handle = panel("loss/clustering")->findChild<QWidget*>("panelHandle");
        drag(handle, panel("loss")->mapToGlobal(panel("loss")->rect().center()));
        QTRY_COMPARE(order(), (QStringList{"loss/clustering", "loss", "lr"}));
        choose(panel("loss/clustering"), "Move after");
        QTRY_COMPARE(order(), (QStringList{"loss", "loss/clustering", "lr"}));
        choose(panel("loss"), "Move before");  // it is the first
        QCOMPARE(order(), (QStringList{"loss", "loss/clustering", "lr"}));
    }

    void panels_are_resized_at_their_corner_and_by_their_menu() {
        open({"loss", "lr"});
        const int width = panel("loss")->width();
        auto* corner = panel("loss")->findChild<QWidget*>("panelCorner");
        drag(corner, corner->mapToGlobal(corner->rect().center()) + QPoint(-width / 2, -60));
        QTRY_VERIFY(panel("loss")->width() < width * 0.7);
        QCOMPARE(panel("loss")->spec().width, 1);
        QCOMPARE(panel("loss")->height(), panel("loss")->spec().height);
        choose(panel("loss"), "Wider");
        QCOMPARE(panel("loss")->spec().width, 2);
        QTRY_VERIFY(panel("loss")->width() > width * 0.9);
        const int height = panel("loss")->spec().height;
        choose(panel("loss"), "Taller");
        QTRY_VERIFY(panel("loss")->height() > height);
        for (const int columns : {3, 4, board_columns}) {
            const int before = panel("loss")->width();
            choose(panel("loss"), "Wider");
            QCOMPARE(panel("loss")->spec().width, columns);
            if (before < page_->width() * 0.9) QTRY_VERIFY(panel("loss")->width() > before);
        }
    }

    void a_view_is_kept_by_the_project_and_found_by_another_window() {
        open({"loss/*", "lr"});
        choose(panel("lr"), "Taller");
        const QJsonObject kept = page_->state();
        QMenu* menu = page_->findChild<QToolButton*>("curvesViews")->menu();
        const auto entry = [](QMenu* in, const QString& text) -> QAction* {
            Q_EMIT in->aboutToShow();
            for (QAction* action : in->actions())
                if (action->text().startsWith(text)) return action;
            return nullptr;
        };
        entry(menu, "Keep this view")->trigger();
        auto* dialog = page_->findChild<QInputDialog*>("keepView");
        QTest::keyClicks(dialog->findChild<QLineEdit*>(), "by task\r");
        QTRY_VERIFY(fs::exists(folder_.path() / "views/curves.json"));
        open({"loss"});
        menu = page_->findChild<QToolButton*>("curvesViews")->menu();
        QTRY_VERIFY(entry(menu, "by task"));
        entry(menu, "by task")->trigger();
        QTRY_VERIFY(panel("loss/*") && isReady());
        QCOMPARE(page_->state(), kept);
        for (QAction* action : entry(menu, "Remove")->menu()->actions()) action->trigger();
        QTRY_VERIFY(!entry(menu, "by task"));
    }

    void a_file_of_views_that_is_none_is_named_and_left_alone() {
        make_directories(folder_.path() / "views");
        write_file_atomic(folder_.path() / "views/curves.json", "[1");
        QStringList complaints;
        const auto listen = connect(&workspace_, &Workspace::complained, this, [&](const QString& text) { complaints << text; });
        open({"loss"});
        QTRY_VERIFY(!complaints.isEmpty());
        QVERIFY2(complaints.first().contains("views/curves.json"), qPrintable(complaints.first()));
        disconnect(listen);
        QCOMPARE(read_file(folder_.path() / "views/curves.json"), std::string("[1"));
        fs::remove(folder_.path() / "views/curves.json");
    }

    void panels_that_zoom_together_come_to_rest() {
        open({"loss", "lr"});
        page_->findChild<QCheckBox*>("curvesLink")->click();
        panel("loss")->view()->setXRange(QCPRange(20, 60));
        QTRY_VERIFY(isReady());
        const QCPRange range = panel("loss")->view()->xRange();
        QCOMPARE(panel("lr")->view()->xRange(), range);
        QSignalSpy left(panel("loss")->view(), &FigureView::xRangeChanged), right(panel("lr")->view(), &FigureView::xRangeChanged);
        for (const char* one : {"loss", "lr"}) panel(one)->refresh();  // an answer moves nobody
        QTRY_VERIFY(isReady());
        QCOMPARE(left.count() + right.count(), 0);
        QCOMPARE(panel("lr")->view()->xRange(), range);
    }

    void a_zoom_ends_with_the_curves_that_it_was_of() {
        open({"loss"});
        FigureView* view = panel("loss")->view();
        view->setXRange(QCPRange(20, 60));
        QTRY_VERIFY(isReady() && view->grabData().first().points.size() < steps / 2);
        QStringList keys;
        for (const RunGroupRef& group : workspace_.groups()) keys << group.key;
        for (const QString& key : keys) workspace_.setShown(key, false);
        QTRY_VERIFY(isReady() && view->figure().series.empty());
        for (const QString& key : keys) workspace_.setShown(key, true);
        QTRY_VERIFY(isReady() && view->figure().series.size() == 2);
        QTRY_COMPARE(view->grabData().first().points.size(), steps);
        QCOMPARE(view->xRange().upper, double{steps});
    }

    void another_series_is_shown_whole() {
        open({"loss"});
        CurvePanel* shown = panel("loss");
        shown->view()->setXRange(QCPRange(20, 60));
        QTRY_VERIFY(isReady());
        shown->view()->plot()->yAxis->setRange(1, 2);
        PanelSpec spec = shown->spec();
        spec.patterns = {"lr"};
        shown->setSpec(spec);
        QTRY_VERIFY(isReady() && shown->view()->figure().name == "lr");
        QCOMPARE(shown->view()->xRange().upper, double{steps});
        QVERIFY(shown->view()->yRange().upper < 0.01);
        QCOMPARE(shown->view()->grabData().first().points.size(), steps);
    }

    /// For a person to look at: in the folder that FACETER_PICTURES names.
    void pictures_to_look_at() {
        const QString folder = qEnvironmentVariable("FACETER_PICTURES");
        if (folder.isEmpty()) QSKIP("FACETER_PICTURES names no folder");
        for (const auto mode : {Theme::Mode::light, Theme::Mode::dark}) {
            Theme::instance().setMode(mode);
            const QString ending = mode == Theme::Mode::dark ? QStringLiteral("-dark.png") : QStringLiteral("-light.png");
            open({"loss/*", "loss", "lr"});
            choose(panel("loss"), "Leave outliers");
            choose(panel("loss/*"), "Wider");
            QTRY_VERIFY(isReady());
            page_->grab().save(folder + QStringLiteral("/curve-panels") + ending);
            QDialog* dialog = options(panel("loss"));
            type(dialog->findChild<QLineEdit*>("panelSeries"), "/(/");
            dialog->grab().save(folder + QStringLiteral("/panel-options") + ending);
        }
        Theme::instance().setMode(Theme::Mode::light);
    }

    void points_of_several_series_are_written_long() {
        Store store(folder_.path());
        CurveRequest asked;
        asked.series = {"loss/clustering", "loss/retrieval"};
        asked.groups.push_back({"EM", 0, {workspace_.groups()[0].runs.front()->info.id}, {}});
        const QStringList lines = QString::fromStdString(curvePointsCsv(store, asked)).split(QStringLiteral("\r\n"), Qt::SkipEmptyParts);
        QCOMPARE(lines.first(), QStringLiteral("group,run,seed,series,step,time,value"));
        QCOMPARE(lines.size(), 1 + steps);
        QCOMPARE(lines[1].split(QLatin1Char(','))[3], QStringLiteral("loss/clustering"));
        QCOMPARE(lines.last().split(QLatin1Char(',')).last(), QStringLiteral("1"));
    }
};

FACETER_TEST(TestCurvePanels)
#include "test_curve_panels.moc"
