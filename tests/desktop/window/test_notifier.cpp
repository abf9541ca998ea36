#include "window/notifier.h"

#include <QCheckBox>
#include <QDialog>
#include <QDialogButtonBox>
#include <QFileInfo>
#include <QLineEdit>
#include <QPushButton>
#include <QSettings>
#include <QSignalSpy>
#include <QTest>

#include "desktop/support/sample_project.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::desktop;
using namespace faceter::testing;

namespace {

/// Two runs that go on and one that ended before anybody looked.
struct Watching {
    TemporaryDirectory folder;
    Workspace workspace;
    Notifier notifier{workspace};
    std::vector<Notice> notices;
    std::unique_ptr<JournalWriter> first, second;
    std::string firstId;

    Watching() {
        QObject::connect(&notifier, &Notifier::noticed, &notifier, [this](const Notice& notice) { notices.push_back(notice); });
        write_attempt(sample_run(folder.path(), 1), 1, 10, "finished");
        first = start(2);
        second = start(3);
        if (!open_and_wait(workspace, folder.path())) qFatal("the project did not open");
        if (!QTest::qWaitFor([&] { return workspace.runs()->runs.size() == 3 && workspace.session()->isLoaded(); }, 10000))
            qFatal("the runs did not come");
        workspace.session()->refresh();
        if (!QTest::qWaitFor([&] { return workspace.session()->isIdle(); }, 10000)) qFatal("the session did not come to rest");
    }
    std::unique_ptr<JournalWriter> start(std::size_t index) {
        const RunDirectory run = sample_run(folder.path(), index);
        if (firstId.empty()) firstId = run.info().id;
        auto journal = std::make_unique<JournalWriter>(run, run.begin_attempt(), JournalWriter::Start{"", 0, Json::object(), 0});
        journal->step({{"step", 1}, {"total_steps", 100}, {"loss", 1.0}});
        return journal;
    }
    bool until(const std::function<bool()>& condition) {
        return QTest::qWaitFor(
            [&] {
                workspace.session()->refresh();
                return condition();
            },
            20000);
    }
};

}  // namespace

class TestNotifier : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void init() {
        QSettings().clear();
        Notifier::setWanted(false, {});
    }

    void a_run_that_ends_while_the_project_is_open_is_told_once() {
        Watching on;
        QVERIFY(on.notices.empty());  // what ended before is no news
        on.first->event("finished", {{"step", 100}});
        QVERIFY(on.until([&] { return !on.notices.empty(); }));
        QCOMPARE(on.notices.size(), std::size_t{1});
        QCOMPARE(on.notices.front().run, qs(on.firstId));
        QCOMPARE(on.notices.front().state, QStringLiteral("done"));
        QVERIFY(on.notices.front().text.contains(QStringLiteral("seed")));
    }

    void a_failure_comes_with_its_cause_and_starts_the_users_command() {
        Watching on;
        const QString file = qs((on.folder.path() / "told").string());
        Notifier::setWanted(false,
                            QStringLiteral("printf '%s %s' \"$FACETER_RUN\" \"$FACETER_STATE\" > '%1.new' && mv '%1.new' '%1'").arg(file));
        on.first->event("failed", {{"message", "out of memory at step 3"}, {"code", 7}});
        QVERIFY(on.until([&] { return !on.notices.empty(); }));
        QVERIFY(on.notices.front().text.contains(QStringLiteral("out of memory at step 3")));
        QTRY_VERIFY(QFileInfo::exists(file));
        QCOMPARE(read_file(file.toStdString()), on.firstId + " failed");
    }

    void another_project_is_no_news() {
        Watching on;
        TemporaryDirectory other;
        make_sample_project(other.path());
        QVERIFY(open_and_wait(on.workspace, other.path()));
        QTRY_VERIFY(on.workspace.session()->isIdle());
        QVERIFY(on.notices.empty());
    }

    void the_dialog_keeps_what_is_wanted() {
        QWidget window;
        window.show();
        Notifier::askFor(&window);
        auto* dialog = window.findChild<QDialog*>(QStringLiteral("notificationsDialog"));
        dialog->findChild<QCheckBox*>(QStringLiteral("notifyDesktop"))->setChecked(true);
        QTest::keyClicks(dialog->findChild<QLineEdit*>(QStringLiteral("notifyCommand")), QStringLiteral(" true "));
        QTest::mouseClick(dialog->findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Ok), Qt::LeftButton);
        QVERIFY(Notifier::wantsDesktop());
        QCOMPARE(Notifier::command(), QStringLiteral("true"));
    }
};

FACETER_TEST(TestNotifier)
#include "test_notifier.moc"
