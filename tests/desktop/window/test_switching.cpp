#include <QLabel>
#include <QLineEdit>
#include <QMap>
#include <QPlainTextEdit>
#include <QPointer>
#include <QPushButton>
#include <QScopeGuard>
#include <QSemaphore>
#include <QSettings>
#include <QStatusBar>
#include <QTableView>
#include <QTest>
#include <atomic>

#include "actions/run_actions.h"
#include "desktop/support/sample_project.h"
#include "launch/profile.h"
#include "pages/compare/compare_page.h"
#include "pages/curves/curve_panel.h"
#include "pages/page.h"
#include "record/launch.h"
#include "store/sqlite.h"
#include "store/store_errors.h"
#include "support/fake_programs.h"
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

/// Work that the store thread cannot end before it is let go.
class Gate {
  public:
    explicit Gate(ProjectSession& session) {
        session.query([gate = m_gate](Store&) { gate->acquire(); });
    }
    ~Gate() { open(); }
    void open() { m_gate->release(); }

  private:
    std::shared_ptr<QSemaphore> m_gate = std::make_shared<QSemaphore>();
};

/// A machine behind ssh (profile "far") that is called and does not answer before it is let go.
class SilentMachine {
  public:
    SilentMachine(const FakePrograms& programs, const fs::path& folder) : m_gate(folder / "answer"), m_calls(folder / "calls") {
        programs.answers("ssh", "echo >>'" + m_calls.string() + "'; while [ ! -e '" + m_gate.string() +
                                    "' ]; do sleep 0.05; done; echo 'no route to host' >&2; exit 255");
    }
    ~SilentMachine() { answer(); }
    void answer() { write_file_atomic(m_gate, ""); }
    std::size_t numCalls() const { return fs::exists(m_calls) ? read_file(m_calls).size() : 0; }

  private:
    fs::path m_gate, m_calls;
};

/// Whether something is ever shown.
class ShowWatch : public QObject {
  public:
    explicit ShowWatch(QWidget* watched) { watched->installEventFilter(this); }
    bool wasShown = false;
    bool eventFilter(QObject*, QEvent* event) override {
        wasShown = wasShown || event->type() == QEvent::Show;
        return false;
    }
};

}  // namespace

/// From one project to another, whatever goes on.
class TestSwitching : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;
    QString first_, second_, empty_;

    QString project(const char* name, std::size_t runs) {
        const fs::path path = folder_.path() / name;
        make_directories(path / "runs");
        make_sample_project(path, runs);
        return QString::fromStdString(path.string());
    }
    /// With a run more that is said to go on behind ssh.
    QString projectElsewhere(const QString& name) {
        const fs::path folder = project(("elsewhere " + name.toStdString()).c_str(), 3).toStdString();
        write_launch(sample_run(folder, 1), {"ssh", "far", "", folder_.path() / "there"});
        return QString::fromStdString(folder.string());
    }
    static void loadStore(ProjectSession& session) {
        for (int i = 0; i < 300; ++i) session.query([](Store& store) { store.runs(); });
    }

  private Q_SLOTS:
    void initTestCase() {
        first_ = project("first", 99);
        second_ = project("second", 3);
        empty_ = project("empty", 0);
        qputenv("XDG_CONFIG_HOME", (folder_.path() / "config").c_str());
        make_directories(profile_folder());
        write_file_atomic(profile_folder() / "far.yaml",
                          "kind: ssh\nhost: box\nfolder: " + (folder_.path() / "there").string() + "\nfaceter: faceter\n");
    }
    void init() { QSettings().clear(); }

    void where_the_store_cannot_be_written_pages_get_what_the_list_shows() {
        static std::atomic<bool> told;
        told = false;
        const auto restore = qScopeGuard([] { set_statement_hook({}); });
        set_statement_hook([] {
            if (!told.exchange(true)) throw Unwritable("the disk is full");
        });
        ProjectSession session(project("unwritable", 99).toStdString());
        QTRY_COMPARE_WITH_TIMEOUT(session.runs()->runs.size(), std::size_t(5), patience_ms);
        std::size_t scored = 0;
        session.query([](Store& store) { return store.run_scores().runs.size(); })
            .then(this, [&](std::size_t count) { scored = count; })
            .onFailed([](const std::exception& error) { qWarning("%s", error.what()); });
        QTRY_COMPARE_WITH_TIMEOUT(scored, std::size_t(5), patience_ms);
    }

    void no_page_waits_for_ever_data() {
        QTest::addColumn<QString>("page");
        for (const PageEntry& entry : pageEntries())
            if (entry.needsProject) QTest::addRow("%s", qPrintable(entry.id)) << entry.id;
    }
    /// Queries, the first look at a project's runs and calls by ssh are under way at each change.
    void no_page_waits_for_ever() {
        QFETCH(QString, page);
        const QString elsewhere = projectElsewhere(page), fresh = project(("fresh " + page.toStdString()).c_str(), 99);
        const FakePrograms programs;
        Workspace workspace;
        MainWindow window(workspace);
        SilentMachine machine(programs, elsewhere.toStdString());
        window.show();
        window.openPath(elsewhere);
        QVERIFY(window.goTo(page));
        QTRY_VERIFY_WITH_TIMEOUT(machine.numCalls() == 1, patience_ms);  // what became of the run that is there
        workspace.actions().launch(std::make_shared<const Experiment>(parse_sample()), false, {QStringLiteral("far"), 1, 1});
        QTRY_VERIFY_WITH_TIMEOUT(machine.numCalls() == 2, patience_ms);
        QTRY_VERIFY_WITH_TIMEOUT(!workspace.runs()->runs.empty() && window.page(page)->isReady(), patience_ms);
        for (const QString& other : {second_, first_, empty_, fresh, elsewhere, second_, first_}) {
            loadStore(*workspace.session());  // what the page asks stands behind it
            workspace.session()->refresh();
            for (const RunGroupRef& group : workspace.groups()) workspace.setShown(group.key, !workspace.isShown(group.key));
            QVERIFY(window.openPath(other));
            QVERIFY(workspace.session()->isLooking());
        }
        QTRY_VERIFY_WITH_TIMEOUT(!workspace.runs()->runs.empty() && window.page(page)->isReady(), patience_ms);
        QCOMPARE(workspace.groups().size(), std::size_t(3));
        QCOMPARE(workspace.actions().pending().size(), 1);  // nobody waited for it
        machine.answer();
        QTRY_VERIFY_WITH_TIMEOUT(workspace.actions().pending().isEmpty(), patience_ms);
        QCOMPARE(workspace.groups().size(), std::size_t(3));
    }

    void stop_in_activity_can_be_pressed_again_where_it_failed() {
        const QString folder = projectElsewhere(QStringLiteral("stopped"));
        const FakePrograms programs;
        Workspace workspace;
        MainWindow window(workspace);
        SilentMachine machine(programs, folder.toStdString());
        window.show();
        window.openPath(folder);
        QPushButton* stop = nullptr;
        const auto find = [&] {
            for (auto* button : window.findChild<QWidget*>(QStringLiteral("activity"))->findChildren<QPushButton*>())
                if (button->text() == QStringLiteral("Stop") && !button->parentWidget()->isHidden()) stop = button;
            return stop != nullptr;
        };
        QTRY_VERIFY_WITH_TIMEOUT(find() && stop->isEnabled(), patience_ms);
        stop->click();
        QVERIFY(!stop->isEnabled());
        machine.answer();
        QTRY_VERIFY_WITH_TIMEOUT(workspace.actions().pending().isEmpty(), patience_ms);
        QVERIFY(stop->isEnabled());
    }

    void a_profile_that_is_gone_leaves_the_runs_of_other_machines_followed() {
        const QString folder = projectElsewhere(QStringLiteral("gone"));
        write_launch(sample_run(folder.toStdString(), 1), {"ssh", "away", "", folder_.path() / "there"});  // before "far"
        const FakePrograms programs;
        Workspace workspace;
        SilentMachine machine(programs, folder.toStdString());
        QSignalSpy warned(&workspace, &Workspace::warned);
        workspace.openProject(folder.toStdString());
        QTRY_COMPARE_WITH_TIMEOUT(machine.numCalls(), std::size_t(1), patience_ms);
        QTRY_VERIFY_WITH_TIMEOUT(!warned.isEmpty(), patience_ms);
        QVERIFY(warned.first().first().toStringList().join(QLatin1Char(' ')).contains(QStringLiteral("away")));
    }

    void a_first_look_is_left_where_it_is_when_its_project_is_closed() {
        const fs::path folder = folder_.path() / "many";
        constexpr std::size_t rounds = 8;
        for (std::size_t i = 0; i < rounds; ++i) make_sample_project(folder);
        Workspace workspace;
        workspace.openProject(folder);
        const QPointer<ProjectSession> closed = workspace.session();
        workspace.closeProject();
        QTRY_VERIFY(!closed);
        QVERIFY(Store(folder).runs().size() < Project(folder, false).run_ids().size());
    }

    void a_page_that_is_not_seen_asks_for_nothing() {
        Workspace workspace;
        MainWindow window(workspace);
        window.show();
        window.openPath(first_);
        QTRY_COMPARE(workspace.groups().size(), std::size_t(3));
        for (const PageEntry& entry : pageEntries()) {
            window.goTo(entry.id);
            QTRY_VERIFY_WITH_TIMEOUT(window.page(entry.id)->isReady(), patience_ms);
        }
        window.goTo(QStringLiteral("compose"));
        QTRY_VERIFY_WITH_TIMEOUT(!workspace.session()->isLooking() && workspace.session()->isIdle(), patience_ms);
        const QString group = workspace.groups()[1].key;
        workspace.setShown(group, false);
        QVERIFY(workspace.session()->isIdle());
        workspace.setBaseline(group);
        QVERIFY(workspace.session()->isIdle());
        QSignalSpy changed(&workspace, &Workspace::runsChanged);
        QString asked;
        connect(&workspace, &Workspace::runsChanged, this,
                [&] { asked = workspace.session()->isIdle() ? QString() : QStringLiteral("asked"); });
        RunDirectory(fs::path(first_.toStdString()) / "runs" / workspace.runs()->runs[1].info.id).append_user_event({{"tag", "seen"}});
        workspace.session()->refresh();
        QTRY_VERIFY_WITH_TIMEOUT(!changed.isEmpty(), patience_ms);
        QCOMPARE(asked, QString());
    }

    void closing_a_project_does_not_wait_for_its_store() {
        Workspace workspace;
        QVERIFY(open_and_wait(workspace, first_.toStdString()));
        Gate gate(*workspace.session());
        workspace.closeProject();
        QVERIFY(!workspace.session());
        QVERIFY(open_and_wait(workspace, second_.toStdString()));
    }

    void what_waits_for_the_store_of_a_closed_project_ends_with_a_reason() {
        Workspace workspace;
        QVERIFY(open_and_wait(workspace, first_.toStdString()));
        auto gate = std::make_unique<Gate>(*workspace.session());
        QString reason;
        workspace.session()
            ->query([](Store& store) { return store.runs().size(); })
            .then(this, [&](std::size_t) { reason = QStringLiteral("answered"); })
            .onFailed([&](const std::exception& error) { reason = QString::fromUtf8(error.what()); });
        const QPointer<ProjectSession> closed = workspace.session();
        workspace.closeProject();
        gate.reset();
        QTRY_VERIFY(reason.contains(QStringLiteral("closed")));
        QTRY_VERIFY(!closed);
    }

    void the_open_project_chosen_again_keeps_ticks_and_baseline() {
        Workspace workspace;
        MainWindow window(workspace);
        window.show();
        window.openPath(first_);
        QTRY_COMPARE(workspace.groups().size(), std::size_t(3));
        const QString hidden = workspace.groups()[1].key, baseline = workspace.groups()[2].key;
        workspace.setShown(hidden, false);
        workspace.setBaseline(baseline);
        QVERIFY(window.openPath(first_));
        QVERIFY(window.openPath(first_ + QLatin1Char('/')));
        QCOMPARE(workspace.baseline(), baseline);
        QVERIFY(!workspace.isShown(hidden));
        QCOMPARE(workspace.groups().size(), std::size_t(3));
    }

    void a_project_without_runs_shows_nothing_of_the_one_before() {
        Workspace workspace;
        MainWindow window(workspace);
        window.show();
        window.openPath(first_);
        for (const char* page : {"compare", "curves"}) {
            window.goTo(QLatin1String(page));
            QTRY_VERIFY_WITH_TIMEOUT(!workspace.runs()->runs.empty() && window.page(QLatin1String(page))->isReady(), patience_ms);
        }
        auto* log = window.findChild<QPlainTextEdit*>(QStringLiteral("logText"));
        workspace.setCurrentRun(qs(workspace.runs()->runs.back().info.id));
        log->setPlainText(QStringLiteral("what that run said"));
        QVERIFY(window.openPath(empty_));
        QVERIFY(log->toPlainText().isEmpty());
        auto* curves = window.page(QStringLiteral("curves"));
        QTRY_VERIFY_WITH_TIMEOUT(curves->isReady(), patience_ms);
        QTRY_VERIFY(curves->findChildren<CurvePanel*>().isEmpty());
        window.goTo(QStringLiteral("compare"));
        auto* compare = qobject_cast<ComparePage*>(window.page(QStringLiteral("compare")));
        QTRY_VERIFY_WITH_TIMEOUT(compare->isReady(), patience_ms);
        QVERIFY(!compare->view());
        QVERIFY(!compare->findChild<QTableView*>(QStringLiteral("compareTable"))->isVisible());
    }

    void what_was_said_of_a_project_does_not_stand_under_the_next() {
        Workspace workspace;
        MainWindow window(workspace);
        window.show();
        window.openPath(first_);
        QList<ErrorBar*> bars;
        for (const PageEntry& entry : pageEntries()) {
            window.goTo(entry.id);
            QTRY_VERIFY_WITH_TIMEOUT(!workspace.runs()->runs.empty() && window.page(entry.id)->isReady(), patience_ms);
            if (entry.needsProject) bars << window.page(entry.id)->findChildren<ErrorBar*>(QString(), Qt::FindDirectChildrenOnly);
        }
        QVERIFY(bars.size() > 5);
        window.goTo(QStringLiteral("curves"));
        for (ErrorBar* bar : bars) bar->setMessage(QStringLiteral("of the first project"));
        workspace.complain(QStringLiteral("failed in the first project"));
        const auto complains = [&] {
            const auto all = window.findChildren<ErrorBar*>();
            return std::any_of(all.begin(), all.end(),
                               [](const ErrorBar* bar) { return bar->message() == QStringLiteral("failed in the first project"); });
        };
        QVERIFY(complains());
        auto* curves = window.page(QStringLiteral("curves"));
        auto* pattern = curves->findChild<QLineEdit*>(QStringLiteral("curvesPattern"));
        pattern->setText(QStringLiteral("nothing/*"));
        QTest::keyClick(pattern, Qt::Key_Return);
        const auto* problem = curves->findChild<QLabel*>(QStringLiteral("curvesPatternProblem"));
        QVERIFY(!problem->isHidden());
        workspace.say(QStringLiteral("said of the first project"));
        QVERIFY(window.openPath(empty_));
        QCOMPARE(window.statusBar()->currentMessage(), QString());
        QVERIFY(problem->isHidden());
        QVERIFY(!complains());
        for (const ErrorBar* bar : bars) QVERIFY2(bar->message().isEmpty(), qPrintable(bar->parentWidget()->objectName()));
    }

    void what_is_done_in_a_project_that_was_left_is_said_with_its_name() {
        const QString left = project("left", 3);
        Workspace workspace;
        QVERIFY(open_and_wait(workspace, left.toStdString()));
        const QString run = qs(workspace.runs()->runs.front().info.id), called = workspace.actions().called({run});
        QSignalSpy said(&workspace, &Workspace::said), complained(&workspace, &Workspace::complained);
        workspace.actions().trash({run});
        workspace.openProject(second_.toStdString());  // the answer comes with an event, after this
        QTRY_COMPARE_WITH_TIMEOUT(said.size(), 1, patience_ms);
        QCOMPARE(said.takeFirst().first().toString(), QStringLiteral("left: %1 moved to the project's trash").arg(called));
        QVERIFY(!workspace.actions().canUndo());
        workspace.openProject(left.toStdString());
        QVERIFY(workspace.actions().canUndo());
        workspace.actions().undo();
        workspace.openProject(second_.toStdString());
        QTRY_COMPARE_WITH_TIMEOUT(said.size(), 1, patience_ms);
        QCOMPARE(said.takeFirst().first().toString(), QStringLiteral("left: %1 brought back").arg(called));
        workspace.openProject(left.toStdString());
        workspace.actions().setNote({QStringLiteral("no-such-run")}, QStringLiteral("a note"));
        workspace.openProject(second_.toStdString());
        QTRY_COMPARE_WITH_TIMEOUT(complained.size(), 1, patience_ms);
        QVERIFY(complained.first().first().toString().startsWith(QStringLiteral("left: ")));
    }

    void a_variant_that_was_deleted_comes_back_in_its_colour() {
        const QString folder = project("coloured", 99);
        Workspace workspace;
        QVERIFY(open_and_wait(workspace, folder.toStdString()));
        QTRY_COMPARE(workspace.groups().size(), std::size_t(3));
        const auto colours = [&] {
            const RunsSnapshotPtr hold = workspace.runs();
            QMap<QString, int> all;
            for (const RunGroupRef& group : workspace.groups()) all[group.key] = group.colour;
            return all;
        };
        const QMap<QString, int> before = colours();
        QStringList runs;
        {
            const RunsSnapshotPtr hold = workspace.runs();
            const std::vector<RunGroupRef> groups = workspace.groups();
            for (const RunRow* run : groups[1].runs) runs << qs(run->info.id);  // the first of two that are trained
        }
        workspace.actions().trash(runs);
        QTRY_COMPARE_WITH_TIMEOUT(workspace.groups().size(), std::size_t(2), patience_ms);
        QVERIFY(open_and_wait(workspace, second_.toStdString()));
        QVERIFY(open_and_wait(workspace, folder.toStdString()));
        QTRY_COMPARE_WITH_TIMEOUT(workspace.groups().size(), std::size_t(2), patience_ms);
        workspace.actions().undo();
        QTRY_COMPARE_WITH_TIMEOUT(workspace.groups().size(), std::size_t(3), patience_ms);
        QCOMPARE(colours(), before);
    }

    void a_project_that_is_read_for_the_first_time_is_not_said_to_be_empty() {
        const QString fresh = project("fresh", 99);
        Workspace workspace;
        MainWindow window(workspace);
        window.show();
        window.openPath(empty_);
        window.goTo(QStringLiteral("runs"));
        auto* button = window.page(QStringLiteral("runs"))->findChild<QPushButton*>(QStringLiteral("emptyStateButton"));
        QTRY_VERIFY_WITH_TIMEOUT(button->isVisible(), patience_ms);  // here it is true
        window.openPath(fresh);
        QVERIFY(!button->isVisible());
        const ShowWatch watch(button);
        QTRY_COMPARE_WITH_TIMEOUT(workspace.runs()->runs.size(), std::size_t(5), patience_ms);
        QTRY_VERIFY_WITH_TIMEOUT(window.page(QStringLiteral("runs"))->isReady(), patience_ms);
        QVERIFY(!watch.wasShown);
    }

    void recent_folders_are_not_looked_at_by_who_draws_them() {
        QSettings().setValue(QStringLiteral("projects/recent"), QStringList{first_, QStringLiteral("/a/mount/that/hangs")});
        const StartPage page;
        const auto offered = [&](const QString& folder) {
            const auto buttons = page.findChildren<QPushButton*>();
            return std::any_of(buttons.begin(), buttons.end(), [&](const QPushButton* button) { return button->text().endsWith(folder); });
        };
        QVERIFY(offered(first_));
        QVERIFY(offered(QStringLiteral("/a/mount/that/hangs")));  // nobody has looked yet
        QTRY_VERIFY(!offered(QStringLiteral("/a/mount/that/hangs")));
        QVERIFY(offered(first_));
    }

    void a_project_of_before_is_looked_for_by_who_may_wait() {
        const QString gone = QStringLiteral("/a/mount/that/hangs");
        Workspace workspace;
        MainWindow window(workspace);
        window.show();
        auto* start = window.findChild<StartPage*>();
        const auto complaints = [&window] {
            QString all;
            for (const ErrorBar* bar : window.findChildren<ErrorBar*>()) all += bar->message();
            return all;
        };
        Q_EMIT start->projectChosen(gone);
        QVERIFY(!complaints().contains(gone));
        QTRY_VERIFY_WITH_TIMEOUT(complaints().contains(gone), patience_ms);
        Q_EMIT start->projectChosen(first_);
        QVERIFY(!workspace.session());
        QTRY_VERIFY_WITH_TIMEOUT(workspace.session(), patience_ms);
        Q_EMIT start->projectChosen(first_);
        window.openPath(empty_);  // what is opened meanwhile stays
        bool found = false;
        existingFolders({first_}).then(&window, [&found](const QStringList&) { found = true; });
        QTRY_VERIFY_WITH_TIMEOUT(found, patience_ms);
        QCOMPARE(workspace.session()->folder(), absolute_path(empty_.toStdString()));
    }
};

FACETER_TEST(TestSwitching)
#include "test_switching.moc"
