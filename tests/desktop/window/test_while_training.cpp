#include <QApplication>
#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QSettings>
#include <QSignalSpy>
#include <QTabBar>
#include <QTest>
#include <QTreeWidget>

#include "actions/run_actions.h"
#include "desktop/support/sample_project.h"
#include "pages/page.h"
#include "support/test.h"
#include "widgets/labels.h"
#include "window/main_window.h"
#include "window/navigator.h"
#include "window/start_page.h"

using namespace faceter;
using namespace faceter::desktop;
using namespace faceter::testing;

namespace {

constexpr int patience_ms = 30000;

/// A run that goes on for as long as this lives.
struct GoingRun {
    RunDirectory run;
    JournalWriter journal;
    explicit GoingRun(const RunDirectory& made) : run(made), journal(run, run.begin_attempt(), {"", 0, Json::object(), 0}) {
        journal.event("stage_started", {{"stage", "train"}, {"total_steps", 100}});
    }
    bool isAskedToStop() const { return run.requested("stop"); }
};

/// The window on a project of finished runs and of some that go on.
struct TrainingWindow {
    TemporaryDirectory folder;
    std::vector<std::unique_ptr<GoingRun>> going;
    Workspace workspace;
    std::unique_ptr<MainWindow> window;
    int numMarks = 0;

    explicit TrainingWindow(std::size_t numFinished = 99, std::size_t numGoing = 1) {
        make_directories(project() / "runs");
        make_sample_project(project(), numFinished);
        for (std::size_t i = 0; i < numGoing; ++i) going.push_back(std::make_unique<GoingRun>(sample_run(project(), 1 + i)));
        window = std::make_unique<MainWindow>(workspace);
        window->resize(1280, 800);
        window->show();
        window->activateWindow();
        static_cast<void>(QTest::qWaitForWindowActive(window.get()));
    }
    ~TrainingWindow() { window.reset(); }
    fs::path project() const { return folder.path() / "project"; }
    bool open() {
        window->openPath(QString::fromStdString(project().string()));
        return QTest::qWaitFor([&] { return !workspace.session()->isLooking() && !workspace.runs()->runs.empty(); }, patience_ms);
    }
    bool openPage(const char* page) const {
        return window->goTo(QLatin1String(page)) &&
               QTest::qWaitFor([&] { return window->page(QLatin1String(page))->isReady() && workspace.session()->isIdle(); }, patience_ms);
    }
    /// A new snapshot of the runs, as each step of one that goes on makes one.
    bool lookAgain() {
        QSignalSpy changed(&workspace, &Workspace::runsChanged);
        going.front()->run.append_user_event({{"tag", fmt::format("mark {}", ++numMarks)}});
        workspace.session()->refresh();
        return QTest::qWaitFor([&] { return !changed.isEmpty(); }, patience_ms);
    }
    template <typename Widget>
    Widget* find(const char* name) const {
        return window->findChild<Widget*>(QLatin1String(name));
    }
    QList<QPushButton*> stops() const {
        QList<QPushButton*> all;
        for (auto* button : find<QWidget>("activity")->findChildren<QPushButton*>())
            if (button->text() == QStringLiteral("Stop") && button->isVisible()) all << button;
        return all;
    }
};

void pressSpace() {
    if (QWidget* focus = QApplication::focusWidget()) QTest::keyClick(focus, Qt::Key_Space);
}

}  // namespace

/// The window while a run trains: each of its steps is a new snapshot of the runs.
class TestWhileTraining : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void init() { QSettings().clear(); }

    void space_right_after_the_start_stops_nothing_data() {
        QTest::addColumn<QString>("page");
        for (const PageEntry& entry : pageEntries()) QTest::addRow("%s", qPrintable(entry.id)) << entry.id;
    }
    void space_right_after_the_start_stops_nothing() {
        QFETCH(QString, page);
        QSettings().setValue(QStringLiteral("page"), page);
        TrainingWindow on(2);
        QVERIFY(on.open());
        QTRY_VERIFY_WITH_TIMEOUT(on.window->page(page) && on.stops().size() == 1, patience_ms);
        const auto isHarmless = [&] { return !on.find<QWidget>("activity")->isAncestorOf(QApplication::focusWidget()); };
        QVERIFY(isHarmless());
        QTRY_VERIFY_WITH_TIMEOUT(on.window->page(page)->isReady(), patience_ms);
        QVERIFY(isHarmless());
        pressSpace();
        QTRY_VERIFY_WITH_TIMEOUT(on.workspace.actions().pending().isEmpty(), patience_ms);
        QVERIFY(!on.going.front()->isAskedToStop());
    }

    void dismissing_what_failed_gives_the_keyboard_to_no_other_button() {
        TrainingWindow on(1);
        QVERIFY(on.open());
        QTRY_COMPARE_WITH_TIMEOUT(on.stops().size(), 1, patience_ms);
        on.workspace.actions().setNote({QStringLiteral("no-such-run")}, QStringLiteral("a note"));
        QTRY_VERIFY_WITH_TIMEOUT(on.find<QPushButton>("actionDismiss") && on.find<QPushButton>("actionDismiss")->isVisible(), patience_ms);
        on.find<QPushButton>("actionDismiss")->setFocus(Qt::TabFocusReason);
        pressSpace();
        QTRY_VERIFY(on.workspace.actions().failedWork().isEmpty());
        QVERIFY(!qobject_cast<QAbstractButton*>(QApplication::focusWidget()));
        pressSpace();
        QVERIFY(!on.going.front()->isAskedToStop());
    }

    void stop_pressed_twice_stops_one_run() {
        TrainingWindow on(1, 2);
        QVERIFY(on.open());
        QTRY_COMPARE_WITH_TIMEOUT(on.stops().size(), 2, patience_ms);
        on.stops().first()->setFocus(Qt::TabFocusReason);
        pressSpace();
        pressSpace();
        QTRY_VERIFY_WITH_TIMEOUT(on.workspace.actions().pending().isEmpty(), patience_ms);
        QCOMPARE(static_cast<int>(on.going[0]->isAskedToStop()) + static_cast<int>(on.going[1]->isAskedToStop()), 1);
    }

    void the_choice_of_runs_on_data_is_not_filled_anew_at_each_step() {
        TrainingWindow on;
        QVERIFY(on.open());
        on.workspace.setCurrentRun(qs(on.going.front()->run.info().id));
        on.window->goTo(QStringLiteral("data"));
        auto* box = on.find<QComboBox>("dataRun");
        QTRY_VERIFY_WITH_TIMEOUT(box->count() > 1, patience_ms);
        QTRY_VERIFY_WITH_TIMEOUT(on.workspace.session()->isIdle(), patience_ms);
        QSignalSpy removed(box->model(), &QAbstractItemModel::rowsRemoved);
        QVERIFY(on.lookAgain());
        QCOMPARE(removed.size(), 0);
        on.workspace.setCurrentRun(qs(on.workspace.runs()->runs.front().info.id));
        QCOMPARE(box->currentData().toString(), on.workspace.currentRun());  // another run does come first
    }

    void an_experiment_that_comes_in_stands_in_the_navigator() {
        TrainingWindow on;
        QVERIFY(on.open());
        on.workspace.setExperiment(QStringLiteral("quick"));
        std::string text = sample_experiment();
        text.replace(text.find("quick"), 5, "newcomer");
        const Experiment experiment = parse_sample(text);
        RunDirectory::create(on.project(), experiment, experiment.runs().back(), false);
        on.workspace.session()->refresh();
        const auto* tree = on.find<QTreeWidget>("navigatorTree");
        QTRY_VERIFY_WITH_TIMEOUT(!tree->findItems(QStringLiteral("newcomer"), Qt::MatchExactly | Qt::MatchRecursive).isEmpty(),
                                 patience_ms);
    }

    void of_a_start_model_alone_the_curve_says_why_it_has_none() {
        TrainingWindow on(1, 0);
        QVERIFY(on.open());
        QVERIFY(on.openPage("runs"));
        const auto* card = on.find<QWidget>("curveCard");
        QVERIFY(card->isVisible());
        const auto labels = card->findChildren<QLabel*>();
        QTRY_VERIFY(std::any_of(labels.begin(), labels.end(), [](const QLabel* label) {
            return label->isVisible() && label->text().contains(QStringLiteral("a start model never"));
        }));
        QVERIFY(!on.find<QWidget>("curveSeries")->isVisible());
    }

    void compose_opens_with_the_keyboard_in_its_text() {
        TrainingWindow on(1);
        QVERIFY(on.open());
        QVERIFY(on.openPage("compose"));
        QCOMPARE(QApplication::focusWidget()->objectName(), QStringLiteral("yamlEditor"));
        auto* make = on.find<QPushButton>("newExperiment");
        make->setFocus(Qt::TabFocusReason);
        pressSpace();
        QCOMPARE(QApplication::focusWidget()->objectName(), QStringLiteral("yamlEditor"));
    }

    void a_store_that_cannot_be_read_leaves_compose_as_it_is() {
        TrainingWindow on(1);
        QVERIFY(on.open());
        QVERIFY(on.openPage("compose"));
        Q_EMIT on.workspace.storeProblem(QStringLiteral("the store is torn"));
        QVERIFY(on.window->page(QStringLiteral("compose"))->isVisible());
        on.window->goTo(QStringLiteral("runs"));
        QVERIFY(!on.window->page(QStringLiteral("runs"))->isVisible());
        on.window->goTo(QStringLiteral("compose"));
        QVERIFY(on.window->page(QStringLiteral("compose"))->isVisible());
    }

    void a_run_folder_outside_of_a_project_s_runs_is_refused_in_words() {
        TrainingWindow on(2);
        const Project project(on.project(), false);
        std::vector<std::string> ended = project.run_ids();
        std::erase(ended, on.going.front()->run.info().id);
        const std::string deleted = ended.front(), other = ended.back();
        project.trash(deleted);
        make_directories(on.folder.path() / "elsewhere");
        fs::copy(on.project() / "runs" / other, on.folder.path() / "elsewhere" / other, fs::copy_options::recursive);
        QVERIFY(!on.window->openPath(QString::fromStdString((project.trash_folder() / deleted).string())));
        QVERIFY2(on.window->complaint().contains(QStringLiteral("trash")), qPrintable(on.window->complaint()));
        QVERIFY2(on.window->complaint().contains(qs(deleted)), qPrintable(on.window->complaint()));
        QVERIFY(!on.workspace.session());
        QVERIFY(!on.window->openPath(QString::fromStdString((on.folder.path() / "elsewhere" / other).string())));
        QVERIFY2(on.window->complaint().contains(QStringLiteral("in no project")), qPrintable(on.window->complaint()));
        QVERIFY(on.window->openPath(QString::fromStdString((on.project() / "runs" / other).string())));
    }

    void a_path_of_before_is_cut_only_where_there_is_no_room() {
        const TemporaryDirectory folder;
        QStringList folders;
        for (const char letter : std::string("abcdefghijklmnopqrstuvw")) {
            make_directories(folder.path() / std::string(7, letter));
            folders << QString::fromStdString((folder.path() / std::string(7, letter)).string());
        }
        QSettings().setValue(QStringLiteral("projects/recent"), folders);
        StartPage page;
        page.resize(1600, 900);
        page.show();
        QVERIFY(QTest::qWaitForWindowExposed(&page));
        int links = 0;
        for (const QPushButton* button : page.findChildren<QPushButton*>()) {
            if (!button->property("link").toBool()) continue;
            ++links;
            QVERIFY2(!button->text().contains(QStringLiteral("…")), qPrintable(button->text()));
        }
        QVERIFY(links > 0);
    }
};

FACETER_TEST(TestWhileTraining)
#include "test_while_training.moc"
