#include <QComboBox>
#include <QLabel>
#include <QMenu>
#include <QScrollArea>
#include <QScrollBar>
#include <QSettings>
#include <QSignalSpy>
#include <QTableView>
#include <QTest>

#include "desktop/support/sample_project.h"
#include "pages/lineage/lineage_page.h"
#include "pages/lineage/lineage_view.h"
#include "support/lineage_project.h"
#include "support/test.h"
#include "theme/theme.h"
#include "widgets/labels.h"

using namespace faceter;
using namespace faceter::desktop;
using namespace faceter::testing;

namespace {

struct Opened {
    TemporaryDirectory folder;
    LineageProject runs{folder.path()};
    Workspace workspace;
    std::unique_ptr<LineagePage> page;

    Opened() {
        const fs::path place = folder.path() / "runs";
        write_results(RunDirectory(place / runs.ic.id), 1);
        write_results(RunDirectory(place / runs.em.id), 3);
        if (!open_and_wait(workspace, folder.path())) qFatal("the project did not open");
        page = std::make_unique<LineagePage>(workspace);
        page->resize(1000, 800);
        page->show();
        page->activateWindow();
        if (!settled()) qFatal("the page did not settle");
    }
    bool settled() {
        return QTest::qWaitFor([&] { return page->isReady() && view()->isVisible() && view()->sizeHint().height() > 100; }, hang_ms);
    }
    template <typename Widget>
    Widget* find(const char* name) {
        return page->findChild<Widget*>(QLatin1String(name));
    }
    LineageView* view() { return find<LineageView>("lineageView"); }
    QTableView* table() { return find<QTableView>("lineageTable:run_difference"); }
    QString chosen() { return view()->textOf(view()->chosen()).section(QStringLiteral(" · "), 0, 0); }
    void press(Qt::Key key, Qt::KeyboardModifiers with = {}) { QTest::keyClick(view(), key, with); }
    int node(const QString& name) {
        for (int i = 0; i < 7; ++i)
            if (view()->textOf(i).section(QStringLiteral(" · "), 0, 0) == name) return i;
        return -1;
    }
    QPoint middleOf(const QString& name) { return view()->boxOf(node(name)).center(); }
};

/// One start model and so many runs from it, every tenth rerun.
LineageDataPtr many(std::size_t count) {
    auto data = std::make_shared<LineageData>();
    for (std::size_t i = 0; i <= count; ++i) {
        LineageNode node;
        node.kind = i == 0 ? LineageNode::Kind::model : LineageNode::Kind::run;
        node.id = node.name = fmt::format("node-{}", i);
        data->lineage.nodes.push_back(std::move(node));
        if (i > 0 && i % 10 == 0)
            data->lineage.edges.push_back({i - 1, i, LineageLink::rerun, "", false});
        else if (i > 0)
            data->lineage.edges.push_back({0, i, LineageLink::start, "", false});
    }
    data->forest = lineage_forest(data->lineage);
    data->layout = lay_out(data->forest);
    return data;
}

}  // namespace

/// Page Lineage, driven by keyboard and mouse.
class TestLineagePage : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void init() { QSettings().clear(); }

    void arrows_go_along_the_edges_and_the_inspector_follows() {
        Opened on;
        on.view()->setFocus();
        on.press(Qt::Key_Home);
        QCOMPARE(on.chosen(), QStringLiteral("start-model"));
        on.press(Qt::Key_Right);
        QCOMPARE(on.chosen(), QStringLiteral("IC-1"));
        QCOMPARE(on.workspace.currentRun(), qs(on.runs.ic.id));
        on.press(Qt::Key_Right);
        QCOMPARE(on.chosen(), QStringLiteral("IC-2"));
        on.press(Qt::Key_Down);
        QCOMPARE(on.chosen(), QStringLiteral("Tuned-1"));
        QVERIFY(on.find<QLabel>("lineageChosen")->text().contains(QStringLiteral("is taught by EM-1")));
        on.press(Qt::Key_Left, Qt::ShiftModifier);  // its teacher
        QCOMPARE(on.chosen(), QStringLiteral("EM-1"));
        on.press(Qt::Key_Right, Qt::ShiftModifier);
        QCOMPARE(on.chosen(), QStringLiteral("Tuned-1"));
        on.press(Qt::Key_Left);
        on.press(Qt::Key_Left);
        on.press(Qt::Key_Left);
        QCOMPARE(on.chosen(), QStringLiteral("start-model"));
    }

    void what_is_chosen_stays_so_while_runs_go_on() {
        Opened on;
        on.workspace.setCurrentRun(qs(on.runs.ic.id));
        QCOMPARE(on.chosen(), QStringLiteral("IC-1"));
        on.view()->setFocus();
        on.press(Qt::Key_Home);
        QCOMPARE(on.chosen(), QStringLiteral("start-model"));
        QSignalSpy changed(&on.workspace, &Workspace::runsChanged);
        RunDirectory(on.folder.path() / "runs" / on.runs.em.id).append_user_event({{"tag", "seen"}});
        on.workspace.session()->refresh();
        QTRY_VERIFY(!changed.isEmpty());
        QCOMPARE(on.chosen(), QStringLiteral("start-model"));
        on.workspace.setCurrentRun(qs(on.runs.em.id));
        QCOMPARE(on.chosen(), QStringLiteral("EM-1"));
    }

    void two_runs_marked_by_space_show_their_difference_and_escape_drops_it() {
        Opened on;
        on.view()->setFocus();
        on.press(Qt::Key_Home);
        on.press(Qt::Key_Space);  // a model is no run
        QVERIFY(on.view()->marked().empty());
        on.press(Qt::Key_Right);
        on.press(Qt::Key_Space);
        QVERIFY(!on.table()->isVisible());
        on.press(Qt::Key_Down);
        on.press(Qt::Key_Space);
        QTRY_VERIFY(on.page->isReady() && on.table()->isVisible());
        const QAbstractItemModel* model = on.table()->model();
        QCOMPARE(model->headerData(2, Qt::Horizontal).toString(), QStringLiteral("IC-1"));
        QCOMPARE(model->headerData(3, Qt::Horizontal).toString(), QStringLiteral("EM-1"));
        QCOMPARE(model->index(model->rowCount() - 1, 0).data().toString(), QStringLiteral("scores"));
        QVERIFY(on.find<QLabel>("lineageNotes")->text().contains(QStringLiteral("has not been started")));
        auto* menu = on.find<QMenu>("lineageExportMenu");
        Q_EMIT menu->aboutToShow();
        QCOMPARE(menu->actions().size(), 1);
        QVERIFY(menu->actions().front()->isEnabled());
        on.press(Qt::Key_Escape);
        QTRY_VERIFY(!on.table()->isVisible());
        Q_EMIT menu->aboutToShow();
        QVERIFY(!menu->actions().front()->isEnabled());
    }

    void a_third_mark_takes_the_place_of_the_first() {
        Opened on;
        for (const char* name : {"IC-1", "EM-1", "Tuned-1"})
            QTest::mouseClick(on.view(), Qt::LeftButton, Qt::ControlModifier, on.middleOf(QLatin1String(name)));
        const std::vector<int> expected{on.node(QStringLiteral("EM-1")), on.node(QStringLiteral("Tuned-1"))};
        QCOMPARE(on.view()->marked(), expected);
        QTRY_VERIFY(on.page->isReady() && on.table()->isVisible());
        QTest::mouseClick(on.view(), Qt::LeftButton, Qt::ControlModifier, on.middleOf(QStringLiteral("EM-1")));
        QTRY_VERIFY(!on.table()->isVisible());
    }

    void enter_and_a_double_click_open_a_run() {
        Opened on;
        QSignalSpy pages(&on.workspace, &Workspace::pageRequested);
        QTest::mouseClick(on.view(), Qt::LeftButton, {}, on.middleOf(QStringLiteral("EM-1")));
        QCOMPARE(on.workspace.currentRun(), qs(on.runs.em.id));
        on.view()->setFocus();
        on.press(Qt::Key_Return);
        QCOMPARE(pages.size(), 1);
        QCOMPARE(pages.front().front().toString(), QStringLiteral("runs"));
        QTest::mouseDClick(on.view(), Qt::LeftButton, {}, on.middleOf(QStringLiteral("merged-mean-1")));
        QCOMPARE(pages.size(), 2);
        QCOMPARE(on.workspace.currentRun(), qs(on.runs.merged.id));
        QSignalSpy said(&on.workspace, &Workspace::said);
        QTest::mouseDClick(on.view(), Qt::LeftButton, {}, on.middleOf(QStringLiteral("start-model")));
        QCOMPARE(pages.size(), 2);
        QCOMPARE(said.size(), 1);
    }

    void the_selected_run_alone_shows_what_is_around_it_and_is_restored() {
        Opened on;
        on.workspace.setCurrentRun(qs(on.runs.tuned.id));
        auto* which = on.find<QComboBox>("lineageWhich");
        which->setFocus();
        QTest::keyClick(which, Qt::Key_Down);
        QTRY_VERIFY(on.page->isReady() && on.node(QStringLiteral("Gated-1")) < 0);
        QVERIFY(on.node(QStringLiteral("EM-1")) >= 0);
        LineagePage other(on.workspace);
        other.restore(on.page->state());
        QCOMPARE(other.findChild<QComboBox*>(QStringLiteral("lineageWhich"))->currentIndex(), 1);
    }

    void what_is_not_ticked_is_left_out_but_for_what_ticked_runs_come_from() {
        Opened on;
        on.workspace.showOnly({QStringLiteral("quick/Tuned")});
        QTRY_VERIFY(on.page->isReady() && on.node(QStringLiteral("Gated-1")) < 0);
        QVERIFY(on.node(QStringLiteral("IC-1")) >= 0 && on.node(QStringLiteral("start-model")) >= 0);
    }

    void a_new_run_comes_in_and_marks_stay() {
        Opened on;
        QTest::mouseClick(on.view(), Qt::LeftButton, Qt::ControlModifier, on.middleOf(QStringLiteral("EM-1")));
        run_from(on.folder.path(), "Late", (on.folder.path() / "runs" / on.runs.em.id).string());
        on.workspace.session()->refresh();
        QTRY_VERIFY(on.page->isReady() && on.view()->marked().size() == 1 &&
                    on.view()->textOf(on.view()->marked().front()).startsWith(QStringLiteral("EM-1")) &&
                    std::any_of(on.workspace.runs()->runs.begin(), on.workspace.runs()->runs.end(),
                                [](const RunRow& run) { return run.info.variant == "Late"; }));
    }

    void another_project_s_runs_do_not_stand_under_this_one_s_name() {
        Opened on;
        for (const char* name : {"IC-1", "EM-1"})
            QTest::mouseClick(on.view(), Qt::LeftButton, Qt::ControlModifier, on.middleOf(QLatin1String(name)));
        TemporaryDirectory other;
        make_sample_project(other.path(), 2);
        on.workspace.openProject(other.path());
        QVERIFY(on.view()->marked().empty());
        QTRY_VERIFY(on.workspace.session()->isLoaded() && !on.workspace.session()->isLooking() && on.page->isReady());
        QTRY_VERIFY(on.node(QStringLiteral("IC-1")) < 0 && on.view()->isVisible());
        QVERIFY(!on.table()->isVisible());
    }

    void a_thousand_runs_are_walked_through_and_come_into_view() {
        QScrollArea area;
        auto* view = new LineageView;
        area.setWidget(view);
        area.setWidgetResizable(true);
        QObject::connect(view, &LineageView::shouldShow, &area,
                         [&](const QRect& box) { area.ensureVisible(box.center().x(), box.center().y()); });
        view->setData(many(1000), std::vector<int>(1001, 0));
        area.resize(700, 500);
        area.show();
        QVERIFY(QTest::qWaitForWindowActive(&area));
        view->setFocus();
        QTRY_VERIFY(view->chosen() >= 0);
        QTest::keyClick(view, Qt::Key_Home);
        QTest::keyClick(view, Qt::Key_Right);
        for (int i = 0; i < 200; ++i) QTest::keyClick(view, Qt::Key_PageDown);
        QVERIFY2(view->textOf(view->chosen()).startsWith(QStringLiteral("node-999")), qPrintable(view->textOf(view->chosen())));
        QVERIFY(area.verticalScrollBar()->value() > 10000);
        QVERIFY(view->visibleRegion().boundingRect().intersects(view->boxOf(view->chosen())));
        view->grab(QRect(0, area.verticalScrollBar()->value(), 700, 500));
    }

    void the_runs_of_one_start_model_hang_on_one_line() {
        LineageView view;
        view.setData(many(1000), std::vector<int>(1001, 0));
        view.resize(view.sizeHint());
        const QRect box = view.boxOf(0), below = view.boxOf(2);
        const QRect gap(box.right() + 2, view.boxOf(500).bottom() + 1, below.left() - box.right() - 4,
                        view.boxOf(2).top() - view.boxOf(1).bottom() - 2);
        const QImage image = view.grab(gap).toImage();  // between two rows, half of the runs above and half below
        int drawn = 0;
        for (int x = 0; x < image.width(); ++x) drawn += image.pixel(x, image.height() / 2) != image.pixel(0, image.height() / 2);
        QVERIFY2(drawn >= 1 && drawn <= 4, qPrintable(QString::number(drawn)));
    }

    void markup_and_escapes_in_names_stay_text() {
        auto data = std::make_shared<LineageData>();
        LineageNode node;
        node.id = node.name = "<b>bold</b>\x1b[31m";
        node.variant = "<img src=x>";
        node.stages = {"<i>one</i>", "two"};
        data->lineage.nodes = {node};
        data->forest = lineage_forest(data->lineage);
        data->layout = lay_out(data->forest);
        LineageView view;
        view.setData(data, {-1});
        view.choose(0);
        QVERIFY(view.textOf(0).startsWith(QStringLiteral("<b>bold</b>")));
        view.grab();
    }

    void a_box_has_room_for_the_variant_beside_its_swept_values() {
        auto data = std::make_shared<LineageData>();
        LineageNode node;
        node.id = node.name = "mote-1";
        data->lineage.nodes = {node};
        data->forest = lineage_forest(data->lineage);
        data->layout = lay_out(data->forest);
        LineageView view;
        view.setData(data, {-1});
        const int room = view.boxOf(0).width() - 24;  // less both paddings and the coloured edge
        const QString text = QStringLiteral("MoTE 0.0001,32 · seed 1 · 57.88");
        QVERIFY(QFontMetrics(Theme::tableFont()).horizontalAdvance(text) <= room);
    }

    void a_project_whose_runs_are_all_unticked_says_so() {
        Opened on;
        for (const RunGroupRef& group : on.workspace.groups()) on.workspace.setShown(group.key, false);
        QTRY_VERIFY(on.page->isReady() && on.page->findChild<EmptyState*>()->isVisible());
    }
};

FACETER_TEST(TestLineagePage)
#include "test_lineage_page.moc"
