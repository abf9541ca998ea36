#include <QMenu>
#include <QMenuBar>
#include <QPlainTextEdit>
#include <QSettings>
#include <QSignalSpy>
#include <QTest>

#include "actions/run_actions.h"
#include "desktop/support/sample_project.h"
#include "support/test.h"
#include "window/main_window.h"

using namespace faceter;
using namespace faceter::desktop;
using namespace faceter::testing;

namespace {

constexpr int patience_ms = 30000;

struct ClosingWindow {
    TemporaryDirectory folder;
    Workspace workspace;
    std::unique_ptr<MainWindow> window;

    ClosingWindow() {
        make_directories(folder.path() / "runs");
        make_sample_project(folder.path(), 2);
        window = std::make_unique<MainWindow>(workspace);
        window->show();
        window->openPath(QString::fromStdString(folder.path().string()));
        static_cast<void>(QTest::qWaitFor([&] { return workspace.runs()->runs.size() == 2; }, patience_ms));
    }
    /// What is under way has ended, and what follows from that has been done.
    bool settled() const {
        const bool ended = QTest::qWaitFor([&] { return workspace.actions().pending().isEmpty(); }, patience_ms);
        for (int i = 0; i < 20; ++i) QCoreApplication::processEvents();
        return ended && workspace.actions().pending().isEmpty();
    }
};

}  // namespace

/// Closing the window while something is asked of runs.
class TestClosing : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void init() { QSettings().clear(); }

    void a_note_that_cannot_be_written_keeps_the_window_open_once() {
        ClosingWindow on;
        const QString run = qs(on.workspace.runs()->runs[1].info.id);
        on.workspace.setCurrentRun(run);
        fs::create_symlink(on.folder.path() / "nowhere", on.folder.path() / "runs" / run.toStdString() / "user.jsonl");
        QTest::keyClicks(on.window->findChild<QPlainTextEdit*>(QStringLiteral("inspectorNote")), QStringLiteral("not to be lost"));
        QSignalSpy complained(&on.workspace, &Workspace::complained);
        QVERIFY(!on.window->close());
        QTRY_VERIFY_WITH_TIMEOUT(on.window->complaint().contains(QStringLiteral("lose the note")), patience_ms);
        QVERIFY(on.settled());
        QVERIFY(on.window->isVisible());
        QCOMPARE(complained.size(), 1);  // it was not tried again and again
        QVERIFY(on.window->close());
    }

    void a_note_that_can_be_written_at_the_second_time_is_kept() {
        ClosingWindow on;
        const QString run = qs(on.workspace.runs()->runs[1].info.id);
        on.workspace.setCurrentRun(run);
        const RunDirectory directory(on.folder.path() / "runs" / run.toStdString());
        fs::create_symlink(on.folder.path() / "nowhere", directory.folder() / "user.jsonl");
        auto* note = on.window->findChild<QPlainTextEdit*>(QStringLiteral("inspectorNote"));
        QTest::keyClicks(note, QStringLiteral("not to be lost"));
        QVERIFY(!on.window->close());
        QTRY_VERIFY_WITH_TIMEOUT(on.window->complaint().contains(QStringLiteral("lose the note")), patience_ms);
        fs::remove(directory.folder() / "user.jsonl");
        QTest::keyClicks(note, QStringLiteral("!"));
        QVERIFY(!on.window->close());
        QTRY_VERIFY_WITH_TIMEOUT(!on.window->isVisible(), patience_ms);
        QVERIFY(QString::fromStdString(directory.user_state().note).contains(QLatin1Char('!')));
    }

    void a_project_that_was_closed_is_not_the_next_start_s() {
        ClosingWindow on;
        QSettings().setValue(QStringLiteral("project"), QString::fromStdString(on.folder.path().string()));
        for (const QAction* menu : on.window->menuBar()->actions())
            for (QAction* action : menu->menu()->actions())
                if (action->text() == QStringLiteral("Close project")) action->trigger();
        QVERIFY(!on.workspace.session());
        QVERIFY(on.window->close());
        QVERIFY(!QSettings().contains(QStringLiteral("project")));
    }

    void what_fails_while_the_window_waits_to_close_is_said_in_it() {
        ClosingWindow on;
        on.workspace.actions().setNote({QStringLiteral("no-such-run")}, QStringLiteral("a note"));
        QVERIFY(!on.window->close());
        QVERIFY(on.settled());
        QVERIFY(on.window->isVisible());
        QVERIFY2(on.window->complaint().contains(QStringLiteral("no-such-run")), qPrintable(on.window->complaint()));
        QVERIFY(on.window->close());
    }
};

FACETER_TEST(TestClosing)
#include "test_closing.moc"
