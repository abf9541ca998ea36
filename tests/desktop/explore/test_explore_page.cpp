#include <QAction>
#include <QComboBox>
#include <QJsonArray>
#include <QJsonObject>
#include <QLabel>
#include <QLineEdit>
#include <QListView>
#include <QMenu>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSettings>
#include <QTest>
#include <QToolButton>
#include <set>

#include "desktop/support/sample_project.h"
#include "desktop/support/save_dialog.h"
#include "pages/explore/explore_page.h"
#include "pages/explore/map_view.h"
#include "pages/explore/neighbour_table.h"
#include "pages/explore/point_map.h"
#include "support/explored_project.h"
#include "support/test.h"
#include "theme/theme.h"
#include "widgets/data_table.h"
#include "widgets/labels.h"
#include "window/main_window.h"
#include "window/screenshot.h"
#include "worker/worker_query.h"

using namespace faceter;
using namespace faceter::desktop;
using namespace faceter::testing;

namespace {

constexpr int patience_ms = 120000;

struct Opened {
    Workspace workspace;
    std::unique_ptr<ExplorePage> page;
    bool opened = false;

    explicit Opened(const fs::path& project, bool asks = true) {
        opened = open_and_wait(workspace, project);
        page = std::make_unique<ExplorePage>(workspace);
        page->resize(1000, 700);
        page->show();
        page->activateWindow();
        opened = opened && QTest::qWaitForWindowActive(page.get()) && ready() && (!asks || askFirst());
    }
    /// By keys.
    bool askFirst() const {
        auto* list = find<QListView>("exploreExamples");
        list->setFocus();
        QTest::keyClick(list, Qt::Key_Home);
        return ready() && table()->rowCount() > 0;
    }
    bool ready() const {
        return QTest::qWaitFor([&] { return page->isReady() && workspace.session()->isIdle(); }, patience_ms);
    }
    template <typename Widget>
    Widget* find(const char* name) const {
        return page->findChild<Widget*>(QString::fromLatin1(name));
    }
    NeighbourModel* table(const char* name = "exploreNeighbours") const {
        return qobject_cast<NeighbourModel*>(find<DataTable>(name)->model());
    }
    /// By keys, as a person without a mouse would.
    bool choose(const char* name, int row) const {
        auto* box = find<QComboBox>(name);
        box->setFocus();
        QTest::keyClick(box, Qt::Key_Home);
        for (int i = 0; i < row; ++i) QTest::keyClick(box, Qt::Key_Down);
        return ready();
    }
    PointMap* map(int side) const { return page->findChild<MapView*>()->map(side); }
    QStringList ticked(const char* button) const {
        QStringList names;
        for (const QAction* action : find<QToolButton>(button)->menu()->actions())
            if (action->isChecked()) names << action->data().toString();
        return names;
    }
    void type(const QString& text) const {
        auto* field = find<QLineEdit>("exploreText");
        field->setFocus();
        field->selectAll();
        QTest::keyClick(field, Qt::Key_Delete);
        QTest::keyClicks(field, text);
        QTest::keyClick(field, Qt::Key_Return);
    }
};

}  // namespace

/// Page Explore, with the real worker on tiny trained runs.
class TestExplorePage : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;
    fs::path project_;

  private Q_SLOTS:
    void initTestCase() {
        NEED_SHARED();
        const std::string problem = make_explored_project(folder_.path());
        QVERIFY2(problem.empty(), problem.c_str());
        project_ = folder_.path() / "project";
    }
    void init() { QSettings().clear(); }

    void nothing_is_embedded_before_a_text_is_chosen() {
        Opened on(project_, false);
        QVERIFY(on.opened);
        QCOMPARE(on.table()->rowCount(), 0);
        const auto* list = on.find<QListView>("exploreExamples");
        QVERIFY(list->model()->rowCount() > 0 && !list->currentIndex().isValid());
        QVERIFY(on.find<QLineEdit>("exploreText")->text().isEmpty());
        const auto* hint = on.find<QLabel>("exploreNeighboursHint");
        QVERIFY2(hint->isVisible() && hint->text().contains(QStringLiteral("Choose a text")), qPrintable(hint->text()));
        QVERIFY(on.askFirst());
        QVERIFY(!hint->isVisible() && on.find<DataTable>("exploreNeighbours")->isVisible());
    }

    void neighbours_of_an_example_stand_beside_it() {
        Opened on(project_);
        QVERIFY(on.opened);
        QCOMPARE(on.find<QComboBox>("exploreSet")->currentText(), QStringLiteral("animals"));
        QCOMPARE(on.table()->columnCount(), 2);  // both runs under the set's own task
        QCOMPARE(on.table()->headerData(1, Qt::Horizontal).toString(), QStringLiteral("IC · retrieval"));
        QCOMPARE(on.table()->rowCount(), 20);
        std::set<int> relevant;
        for (int row = 0; row < 20; ++row)
            if (const Neighbour* hit = on.table()->hit(on.table()->index(row, 1)); hit->isRelevant) relevant.insert(hit->document % 6);
        QCOMPARE(relevant, std::set<int>{0});
        QVERIFY(on.find<QPlainTextEdit>("exploreNeighboursText")->toPlainText().contains(QStringLiteral("<b>")));
    }

    void what_is_shown_leaves_as_a_table() {
        Opened on(project_);
        QVERIFY(on.opened);
        auto* menu = on.find<QMenu>("exploreExportMenu");
        const auto exported = [&](const char* name) {
            const fs::path file = folder_.path() / name;
            Q_EMIT menu->aboutToShow();
            answer_save_dialog(QString::fromStdString(file.string()));
            return trigger_in(menu, QStringLiteral("exportTable_csv")) ? QString::fromStdString(read_file(file)) : QString();
        };
        const QStringList lines = exported("hits.csv").split(QLatin1Char('\n'), Qt::SkipEmptyParts);
        QCOMPARE(lines.size(), 1 + 2 * 20);  // two runs
        QCOMPARE(lines.first(), QStringLiteral("run,task,rank,similarity,rank in the first column,relevant,document,text"));
        QVERIFY2(lines[1].startsWith(QStringLiteral("start,retrieval,1,")) && lines[21].startsWith(QStringLiteral("IC,retrieval,1,")),
                 qPrintable(lines[1] + QLatin1Char('\n') + lines[21]));
        QVERIFY(on.choose("exploreView", 1));
        QVERIFY(on.map(0)->numPoints() == 30);
        Q_EMIT menu->aboutToShow();
        QStringList titles;
        for (const QAction* action : menu->actions()) titles << action->text();
        QVERIFY2(titles.contains(QStringLiteral("Points of the maps")) && titles.contains(QStringLiteral("Maps as PNG…")),
                 qPrintable(titles.join(QLatin1Char('\n'))));
    }

    void of_a_model_that_was_scored_on_nothing_it_is_said_that_data_are_missing() {
        TemporaryDirectory folder;
        write_attempt(sample_run(folder.path(), 1), 1, 3, "finished");
        Workspace workspace;
        QVERIFY(open_and_wait(workspace, folder.path()));
        ExplorePage page(workspace);
        page.resize(900, 600);
        page.show();
        const auto said = [&page] {
            QStringList texts;
            for (const QLabel* label : page.findChild<EmptyState*>()->findChildren<QLabel*>()) texts << label->text();
            return texts.join(QLatin1Char('\n'));
        };
        QTRY_VERIFY2_WITH_TIMEOUT(page.isReady() && said().contains(QStringLiteral("was scored on a data set")), qPrintable(said()),
                                  patience_ms);
        workspace.showOnly({});
        QTRY_VERIFY2_WITH_TIMEOUT(page.isReady() && said().contains(QStringLiteral("has a model to ask")), qPrintable(said()), patience_ms);
    }

    void columns_beyond_those_that_have_room_are_counted() {
        TemporaryDirectory folder;
        const std::string problem =
            make_explored_project(folder.path(), "  A: {method: instruction}\n  B: {method: instruction}\n  C: {method: instruction}\n");
        QVERIFY2(problem.empty(), problem.c_str());
        Opened on(folder.path() / "project");
        QVERIFY(on.opened);
        for (QAction* action : on.find<QToolButton>("exploreTasks")->menu()->actions()) action->setChecked(true);
        QVERIFY(on.ready());
        QCOMPARE(on.table()->columnCount(), 6);
        const QString said = on.find<ElidedLabel>("exploreStatus")->fullText();
        QVERIFY2(said.contains(QStringLiteral("the first 6 of 8 columns")), qPrintable(said));
    }

    void runs_that_lack_the_set_are_not_offered_and_nothing_ticked_is_said() {
        Opened on(project_);
        QVERIFY(on.opened);
        const auto runs = [&on] { return on.find<QToolButton>("exploreRuns")->menu()->actions(); };
        QCOMPARE(runs().size(), 2);
        const auto* hint = on.find<QLabel>("exploreNeighboursHint");
        for (QAction* run : runs()) run->setChecked(false);
        QVERIFY(on.ready());
        QVERIFY2(hint->isVisible() && hint->text().contains(QStringLiteral("No run is ticked")), qPrintable(hint->text()));
        runs().first()->setChecked(true);
        QVERIFY(on.ready());
        QVERIFY(!hint->isVisible() && on.table()->rowCount() == 20);
        for (QAction* task : on.find<QToolButton>("exploreTasks")->menu()->actions()) task->setChecked(false);
        QVERIFY(on.ready());
        QVERIFY2(hint->isVisible() && hint->text().contains(QStringLiteral("No task is ticked")), qPrintable(hint->text()));

        TemporaryDirectory folder;
        const fs::path copy = folder.path() / "project";
        fs::copy(project_, copy, fs::copy_options::recursive);
        for (const auto& run : fs::directory_iterator(copy / "runs"))
            if (run.path().filename().string().find("start") != std::string::npos) fs::remove(run.path() / "results/topics.json");
        fs::remove(copy / "faceter.sqlite");
        Opened other(copy, false);
        QVERIFY(other.opened && other.choose("exploreSet", 1));
        QCOMPARE(other.find<QComboBox>("exploreSet")->currentText(), QStringLiteral("topics"));
        QStringList offered;
        for (const QAction* run : other.find<QToolButton>("exploreRuns")->menu()->actions()) offered << run->data().toString();
        QCOMPARE(offered, QStringList{QStringLiteral("IC")});
        QVERIFY(other.askFirst());
    }

    void a_run_that_is_chosen_chooses_no_task_and_one_that_no_run_has_leaves_the_sets_own() {
        Opened on(project_, false);
        QVERIFY(on.opened);
        on.find<QToolButton>("exploreRuns")->menu()->actions().first()->trigger();
        QJsonObject state = on.page->state();
        QCOMPARE(state[QStringLiteral("runs")].toArray().size(), 1);
        QVERIFY(state[QStringLiteral("tasks")].toArray().isEmpty());
        state[QStringLiteral("tasks")] = QJsonArray{QStringLiteral("nli")};  // of another project
        on.page->restore(state);
        QVERIFY(on.ready());
        QCOMPARE(on.ticked("exploreRuns").size(), 1);
        QCOMPARE(on.ticked("exploreTasks"), QStringList{QStringLiteral("retrieval")});
        QVERIFY(on.askFirst());
    }

    void changes_of_rank_are_against_the_first_column() {
        Opened on(project_);
        QVERIFY(on.opened);
        for (int row = 0; row < on.table()->rowCount(); ++row) {
            const QModelIndex first = on.table()->index(row, 0), second = on.table()->index(row, 1);
            QVERIFY(first.data(NeighbourModel::ChangeRole).toString().isEmpty());
            const Neighbour* hit = on.table()->hit(second);
            const int by = hit->rankInFirst - hit->rank;
            const QString expected = by == 0 ? QString() : (by > 0 ? QStringLiteral("▲%1") : QStringLiteral("▼%1")).arg(std::abs(by));
            QCOMPARE(second.data(NeighbourModel::ChangeRole).toString(), expected);
        }
    }

    void a_typed_text_is_asked_about() {
        Opened on(project_);
        QVERIFY(on.opened);
        auto* text = on.find<QLineEdit>("exploreText");
        text->setFocus();
        text->selectAll();
        QTest::keyClicks(text, QStringLiteral("text 7 speaks of a <b>dog</b>"));
        QTest::keyClick(text, Qt::Key_Return);
        QVERIFY(on.ready());
        QCOMPARE(on.table()->hit(on.table()->index(0, 0))->document, 7);  // the very text, but for the instruction
        QVERIFY(!on.table()->hit(on.table()->index(0, 0))->isRelevant);
    }

    void a_text_that_is_taken_away_takes_its_neighbours_with_it() {
        Opened on(project_, false);
        QVERIFY(on.opened);
        on.type(QStringLiteral("a dog"));
        QVERIFY(on.ready());
        QVERIFY(on.table()->rowCount() > 0);
        on.type({});
        QCOMPARE(on.table()->rowCount(), 0);
        on.find<QToolButton>("exploreRuns")->menu()->actions().first()->trigger();
        QVERIFY(on.ready());
        QCOMPARE(on.table()->rowCount(), 0);  // it is not asked again
    }

    void a_typed_text_is_asked_of_another_choice_of_runs_and_of_another_set_too() {
        Opened on(project_);
        QVERIFY(on.opened);
        auto* text = on.find<QLineEdit>("exploreText");
        text->setFocus();
        text->selectAll();
        QTest::keyClicks(text, QStringLiteral("a horse and its rider"));
        QTest::keyClick(text, Qt::Key_Return);
        QVERIFY(on.ready());
        const auto last = [&] { return on.table()->headerData(1, Qt::Horizontal).toString(); };
        const QString before = last();
        on.workspace.setShown(on.workspace.groups().back().key, false);  // the other run alone has a column a task
        QVERIFY(QTest::qWaitFor([&] { return on.page->isReady() && on.table()->rowCount() > 0 && last() != before; }, patience_ms));
        QCOMPARE(text->text(), QStringLiteral("a horse and its rider"));
        QVERIFY(on.find<QComboBox>("exploreSet")->count() > 1 && on.choose("exploreSet", 1));
        QCOMPARE(on.find<QComboBox>("exploreSet")->currentIndex(), 1);
        QCOMPARE(text->text(), QStringLiteral("a horse and its rider"));
    }

    void of_a_text_that_is_longer_than_a_model_reads_it_is_said_how_much_counts() {
        Opened on(project_);
        QVERIFY(on.opened);
        const auto said = [&on] { return on.find<ElidedLabel>("exploreStatus")->fullText(); };
        QVERIFY2(!said().contains(QStringLiteral("tokens")), qPrintable(said()));
        auto* text = on.find<QLineEdit>("exploreText");
        text->setText(QStringLiteral("a dog ").repeated(1000));
        text->setFocus();
        QTest::keyClick(text, Qt::Key_Return);
        QVERIFY(on.ready());
        const NeighbourList list = on.table()->lists().front();
        QVERIFY2(list.keptTokens == 32 && list.numTokens >= 2000,
                 qPrintable(QStringLiteral("%1 of %2").arg(list.keptTokens).arg(list.numTokens)));
        QVERIFY2(said().contains(QStringLiteral("tokens are read")) || said().contains(QStringLiteral("a part of the text")),
                 qPrintable(said()));
        const QString head = on.table()->headerData(0, Qt::Horizontal, Qt::ToolTipRole).toString();
        QVERIFY2(head.contains(QStringLiteral("reads the first 32 of")), qPrintable(head));
    }

    void after_cancel_in_the_reading_of_a_set_a_typed_text_reads_it_again() {
        Opened on(project_);
        QVERIFY(on.opened);
        auto* box = on.find<QComboBox>("exploreSet");
        box->setFocus();
        QTest::keyClick(box, Qt::Key_End);
        on.find<QPushButton>("exploreCancel")->click();  // its texts have not come: no event was worked on
        QVERIFY(on.ready());
        QCOMPARE(on.table()->rowCount(), 0);
        auto* text = on.find<QLineEdit>("exploreText");
        text->setFocus();
        text->selectAll();
        QTest::keyClicks(text, QStringLiteral("a dog"));
        QTest::keyClick(text, Qt::Key_Return);
        QVERIFY(on.ready());
        QTRY_VERIFY_WITH_TIMEOUT(on.table()->rowCount() > 0, patience_ms);
        QCOMPARE(text->text(), QStringLiteral("a dog"));
    }

    void what_is_cancelled_in_activity_is_said_to_be() {
        Opened on(project_);
        QVERIFY(on.opened);
        auto* box = on.find<QComboBox>("exploreSet");
        box->setFocus();
        QTest::keyClick(box, Qt::Key_End);
        for (WorkerQuery* query : on.page->findChildren<WorkerQuery*>()) {
            QVERIFY2(query->title().contains(QStringLiteral(" of ")), qPrintable(query->title()));  // no method's name
            query->cancel();
        }
        QVERIFY(on.page->isReady());
        QCOMPARE(on.find<ElidedLabel>("exploreStatus")->fullText(), QStringLiteral("cancelled"));
    }

    void an_example_is_found_and_chosen_by_keys() {
        Opened on(project_);
        QVERIFY(on.opened);
        QTest::keyClicks(on.find<QLineEdit>("exploreSearch"), QStringLiteral("HORSE"));
        auto* list = on.find<QListView>("exploreExamples");
        QCOMPARE(list->model()->rowCount(), 1);
        list->setFocus();
        QTest::keyClick(list, Qt::Key_Down);
        list->setCurrentIndex(list->model()->index(0, 0));
        QVERIFY(on.ready());
        QCOMPARE(on.find<QLineEdit>("exploreText")->text(), QStringLiteral("what is a horse"));
        QCOMPARE(on.table()->lists().front().relevantRanks.size(), std::size_t{5});
    }

    void further_tasks_are_further_columns() {
        Opened on(project_);
        QVERIFY(on.opened);
        for (QAction* action : on.find<QToolButton>("exploreTasks")->menu()->actions())
            if (action->text() == QStringLiteral("classification")) action->trigger();
        QVERIFY(on.ready());
        QCOMPARE(on.table()->columnCount(), 4);
        for (QAction* action : on.find<QToolButton>("exploreRuns")->menu()->actions())
            if (action->text() == QStringLiteral("start")) action->trigger();
        QVERIFY(on.ready());
        QCOMPARE(on.table()->columnCount(), 2);
    }

    void the_map_shows_two_runs_and_what_is_chosen_in_one_is_chosen_in_the_other() {
        Opened on(project_);
        QVERIFY(on.opened);
        QVERIFY(on.choose("exploreSet", 1) && on.choose("exploreView", 1));
        QCOMPARE(on.map(0)->numPoints(), 24);
        QCOMPARE(on.map(1)->numPoints(), 24);
        QTest::mouseClick(on.map(0), Qt::LeftButton, {}, on.map(0)->placeOf(5).toPoint());
        QVERIFY(on.ready());
        const int chosen = on.map(0)->chosen();
        QVERIFY(chosen >= 0);
        QCOMPARE(on.map(1)->chosen(), chosen);
        QCOMPARE(on.table("exploreMapNeighbours")->columnCount(), 2);
        QCOMPARE(on.table("exploreMapNeighbours")->rowCount(), 10);
        on.map(1)->setFocus();
        QTest::keyClick(on.map(1), Qt::Key_N);
        QVERIFY(on.ready());
        QCOMPARE(on.map(0)->chosen(), (chosen + 1) % 24);
    }

    void clusters_leave_as_they_colour_both_maps() {
        ExploreRun run;
        run.request = {"r", "IC", 0};
        const auto runs = std::make_shared<const std::vector<ExploreRun>>(1, run);
        ExploredCorpus corpus;
        corpus.total = 2;
        corpus.documents = {QStringLiteral("a"), QStringLiteral("b")};
        const std::vector<ExploreColumn> columns{{&runs->front(), "retrieval"}, {&runs->front(), "sts"}};
        MapView view;
        view.setCorpus(runs, std::make_shared<const ExploredCorpus>(corpus), QStringLiteral("set"), columns, {0, 1});
        CorpusMap map;
        map.x = map.y = {0.0F, 1.0F};
        map.clusters = {0, 1};
        view.setMap(columns[0], map);
        map.clusters = {4, 4};
        view.setMap(columns[1], map);
        const Table table = view.table();
        QStringList clusters;
        for (const Row& row : table.rows) clusters << qs(row.cells.at(5).text);
        QCOMPARE(clusters, (QStringList{QStringLiteral("1"), QStringLiteral("2"), QStringLiteral("1"), QStringLiteral("2")}));
    }

    void a_map_that_was_cancelled_is_asked_for_again_by_a_button() {
        Opened on(project_);
        QVERIFY(on.opened);
        QVERIFY(on.choose("exploreSet", 1));
        auto* again = on.find<QPushButton>("exploreAgain");
        QVERIFY(!again->isVisible());
        auto* view = on.find<QComboBox>("exploreView");
        view->setCurrentIndex(1);
        on.find<QPushButton>("exploreCancel")->click();  // no event was worked on: its maps have not come
        QVERIFY(on.ready());
        QCOMPARE(on.map(0)->numPoints(), 0);
        QVERIFY(again->isVisible());
        QTest::mouseClick(again, Qt::LeftButton);
        QVERIFY(on.ready());
        QCOMPARE(on.map(0)->numPoints(), 24);
        QVERIFY(!again->isVisible());
    }

    void the_map_is_coloured_and_searched() {
        Opened on(project_);
        QVERIFY(on.opened);
        QVERIFY(on.choose("exploreSet", 1) && on.choose("exploreView", 1));
        const auto legend = [&] {
            QStringList names;
            for (const QLabel* label : on.find<QWidget>("exploreLegend")->findChildren<QLabel*>())
                if (!label->text().isEmpty()) names << label->text();
            return names;
        };
        QCOMPARE(legend().size(), 2);
        QVERIFY(legend().contains(QStringLiteral("odd")) && legend().contains(QStringLiteral("even")));
        QVERIFY(on.choose("exploreColour", 1));
        QVERIFY(legend().first().startsWith(QStringLiteral("cluster")));
        QVERIFY(on.choose("exploreColour", 2));
        QVERIFY2(legend().last().endsWith(QStringLiteral("%")), qPrintable(legend().join(QLatin1Char('|'))));
        QVERIFY(on.choose("exploreColour", 4));
        QCOMPARE(legend().size(), 5);
        QTest::keyClicks(on.find<QLineEdit>("exploreFind"), QStringLiteral("CAT"));
        QCOMPARE(on.find<QLabel>("exploreFound")->text(), QStringLiteral("4 found"));
    }

    void another_project_takes_its_place_while_the_worker_is_asked() {
        Opened on(project_);
        QVERIFY(on.opened);
        TemporaryDirectory other;
        make_directories(other.path() / "runs");
        make_sample_project(other.path(), 3);
        on.find<QLineEdit>("exploreText")->setText(QStringLiteral("something"));
        QTest::keyClick(on.find<QLineEdit>("exploreText"), Qt::Key_Return);
        on.workspace.openProject(other.path());
        QCOMPARE(on.table()->rowCount(), 0);
        QVERIFY(on.find<QLineEdit>("exploreText")->text().isEmpty());
        QTRY_VERIFY_WITH_TIMEOUT(on.workspace.session()->isLoaded() && on.page->isReady(), patience_ms);
        on.workspace.openProject(project_);
        QTRY_VERIFY_WITH_TIMEOUT(on.workspace.session()->isLoaded() && on.page->isReady(), patience_ms);
        QTRY_VERIFY_WITH_TIMEOUT(on.find<QListView>("exploreExamples")->model()->rowCount() > 0, patience_ms);
        QVERIFY(on.askFirst());
        QCOMPARE(on.table()->rowCount(), 20);
    }

    void runs_without_a_model_have_an_error_and_not_a_wait() {
        TemporaryDirectory other;
        make_directories(other.path() / "runs");
        make_sample_project(other.path(), 3);
        Workspace workspace;
        QVERIFY(open_and_wait(workspace, other.path()));
        ExplorePage page(workspace);
        page.show();
        QTRY_VERIFY_WITH_TIMEOUT(page.isReady() && !page.findChild<ErrorBar*>()->message().isEmpty(), patience_ms);
    }

    void what_was_chosen_is_found_again() {
        Opened on(project_);
        QVERIFY(on.opened);
        QVERIFY(on.choose("exploreSet", 1) && on.choose("exploreView", 1) && on.choose("exploreColour", 1));
        ExplorePage again(on.workspace);
        again.restore(on.page->state());
        again.show();
        QTRY_VERIFY_WITH_TIMEOUT(again.isReady() && again.findChild<MapView*>()->map(0)->numPoints() == 24, patience_ms);
        QCOMPARE(again.state(), on.page->state());
    }

    void pictures_to_look_at() {
        const QString folder = qEnvironmentVariable("FACETER_PICTURES");
        if (folder.isEmpty()) QSKIP("FACETER_PICTURES names no folder");
        for (const int view : {0, 1})
            for (const bool dark : {false, true}) {
                QSettings().setValue(QStringLiteral("pages/explore"),
                                     QStringLiteral("{\"view\": %1, \"set\": \"topics\"}").arg(view).toUtf8());
                Theme::instance().setMode(dark ? Theme::Mode::dark : Theme::Mode::light);
                Workspace workspace;
                MainWindow window(workspace);
                window.resize(1280, 800);
                window.show();
                window.openPath(QString::fromStdString(project_.string()));
                QTRY_VERIFY(!workspace.runs()->runs.empty());
                QString error;
                const QString file = QStringLiteral("%1/explore-%2-%3.png").arg(folder).arg(view).arg(dark ? "dark" : "light");
                QVERIFY2(takeScreenshot(window, QStringLiteral("explore"), file, error), qPrintable(error));
            }
        Theme::instance().setMode(Theme::Mode::light);
    }
};

FACETER_TEST(TestExplorePage)
#include "test_explore_page.moc"
