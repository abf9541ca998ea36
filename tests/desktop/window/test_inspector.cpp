#include <fcntl.h>
#include <sys/stat.h>
#include <QAction>
#include <QLabel>
#include <QLineEdit>
#include <QMenuBar>
#include <QMessageBox>
#include <QPlainTextEdit>
#include <QPointer>
#include <QPushButton>
#include <QScrollArea>
#include <QSettings>
#include <QSignalSpy>
#include <QTabBar>
#include <QTabWidget>
#include <QTableView>
#include <QTest>
#include <QTranslator>
#include <QTreeWidget>
#include <fstream>

#include "actions/run_actions.h"
#include "common/hash.h"
#include "desktop/support/sample_project.h"
#include "pages/page.h"
#include "record/state.h"
#include "store/sqlite.h"
#include "support/test.h"
#include "theme/theme.h"
#include "widgets/labels.h"
#include "window/main_window.h"

using namespace faceter;
using namespace faceter::desktop;
using namespace faceter::testing;

namespace {

constexpr int patience_ms = 30000;

/// The window with a project of its own in it.
struct Opened {
    TemporaryDirectory folder;
    Workspace workspace;
    std::unique_ptr<MainWindow> window;

    explicit Opened(std::size_t runs = 99) {
        make_directories(folder.path() / "runs");
        make_sample_project(folder.path(), runs);
        window = std::make_unique<MainWindow>(workspace);
        window->show();
        window->openPath(QString::fromStdString(folder.path().string()));
        static_cast<void>(QTest::qWaitForWindowActive(window.get()));
        static_cast<void>(QTest::qWaitFor([&] { return workspace.runs()->runs.size() == std::min<std::size_t>(runs, 5); }, patience_ms));
    }
    template <typename Widget>
    Widget* find(const char* name) const {
        return window->findChild<Widget*>(QLatin1String(name));
    }
    QString id(std::size_t run) const { return qs(workspace.runs()->runs[run].info.id); }
    RunDirectory directory(std::size_t run) const { return RunDirectory(folder.path() / "runs" / id(run).toStdString()); }
    std::string note(std::size_t run) const { return directory(run).user_state().note; }
    QAction* menuAction(const QString& text) const {
        for (const QAction* menu : window->menuBar()->actions())
            for (QAction* action : menu->menu()->actions())
                if (action->text() == text) return action;
        return nullptr;
    }
};

QTreeWidgetItem* itemNamed(QTreeWidget* tree, const QString& text) {
    const auto found = tree->findItems(text, Qt::MatchStartsWith | Qt::MatchRecursive);
    return found.isEmpty() ? nullptr : found.first();
}

/// How much the most striking pixel of one picture differs from the same of another.
double largestContrast(const QImage& a, const QImage& b) {
    double largest = 1;
    for (int y = 0; y < a.height(); ++y)
        for (int x = 0; x < a.width(); ++x) largest = std::max(largest, contrastOf(a.pixelColor(x, y), b.pixelColor(x, y)));
    return largest;
}

}  // namespace

/// What is selected, by keyboard and mouse, while the runs go on.
class TestInspector : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void init() { QSettings().clear(); }

    void a_tag_is_shown_with_each_of_its_characters() {
        Opened on;
        on.workspace.setCurrentRun(on.id(1));
        auto* tag = on.find<QLineEdit>("inspectorNewTag");
        QTest::keyClicks(tag, QStringLiteral("R&D"));
        QTest::keyClick(tag, Qt::Key_Return);
        const auto shown = [&] {
            QStringList texts;
            for (const QPushButton* button : on.find<QWidget>("inspector")->findChildren<QPushButton*>())
                if (button->property("tag").toBool()) texts << button->text();
            return texts;
        };
        QTRY_COMPARE(shown(), QStringList{QStringLiteral("R&&D ×")});  // one is a mnemonic, drawn as a line under the next
    }

    void a_tag_that_is_being_typed_is_not_another_run_s() {
        Opened on;
        on.workspace.setCurrentRun(on.id(1));
        auto* tag = on.find<QLineEdit>("inspectorNewTag");
        QTest::keyClicks(tag, QStringLiteral("pap"));
        QCOMPARE(tag->text(), QStringLiteral("pap"));
        on.workspace.setCurrentRun(on.id(2));
        QTRY_VERIFY(tag->text().isEmpty());
    }

    void neither_many_tags_nor_a_long_one_make_the_inspector_wider() {
        Opened on;
        on.workspace.setCurrentRun(on.id(1));
        auto* scroll = on.find<QWidget>("inspector")->findChild<QScrollArea*>();
        QTRY_VERIFY_WITH_TIMEOUT(on.find<QLineEdit>("inspectorNewTag")->isVisible(), patience_ms);
        for (const std::string& tag : {std::string("to repeat with more seeds"), std::string("candidate"), std::string("for the paper"),
                                       std::string("checked by hand"), std::string(300, 'x')})
            on.directory(1).append_user_event({{"tag", tag}});
        on.workspace.session()->refresh();
        const auto tags = [&] {
            int count = 0;
            for (const QPushButton* button : on.find<QWidget>("inspector")->findChildren<QPushButton*>())
                count += button->property("tag").toBool();
            return count;
        };
        QTRY_COMPARE_WITH_TIMEOUT(tags(), 5, patience_ms);
        QTRY_COMPARE(scroll->widget()->width(), scroll->viewport()->width());
    }

    void a_long_name_makes_the_inspector_no_wider() {
        Opened on;
        const std::string longName(44, 'x');
        std::string text = sample_experiment();
        text.replace(text.find("Mix:"), 3, longName);
        const Experiment experiment = parse_sample(text);
        const RunDirectory run = RunDirectory::create(on.folder.path(), experiment, experiment.runs().back(), false);
        QCOMPARE(run.info().variant, longName);
        on.workspace.session()->refresh();
        QTRY_COMPARE_WITH_TIMEOUT(on.workspace.runs()->runs.size(), std::size_t(6), patience_ms);
        on.workspace.setCurrentRun(qs(run.info().id));
        QTRY_VERIFY_WITH_TIMEOUT(on.find<QLineEdit>("inspectorNewTag")->isVisible(), patience_ms);
        const auto* scroll = on.find<QWidget>("inspector")->findChild<QScrollArea*>();
        QTRY_COMPARE(scroll->widget()->width(), scroll->viewport()->width());
    }

    void a_note_that_could_not_be_written_stays_to_be_kept_again() {
        Opened on;
        on.workspace.setCurrentRun(on.id(1));
        const fs::path place = on.directory(1).folder() / "user.jsonl";
        fs::create_symlink(on.folder.path() / "nowhere", place);  // such a file is not written
        auto* note = on.find<QPlainTextEdit>("inspectorNote");
        QTest::keyClicks(note, QStringLiteral("not to be lost"));
        QSignalSpy complained(&on.workspace, &Workspace::complained);
        QTest::mouseClick(on.find<QPushButton>("inspectorKeepNote"), Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(!complained.isEmpty(), patience_ms);
        on.directory(2).append_user_event({{"tag", "other"}});  // the runs are told of anew
        on.workspace.session()->refresh();
        QTRY_COMPARE_WITH_TIMEOUT(on.workspace.runs()->runs[2].tags.size(), std::size_t(1), patience_ms);
        QCOMPARE(note->toPlainText(), QStringLiteral("not to be lost"));
        fs::remove(place);
        QTest::mouseClick(on.find<QPushButton>("inspectorKeepNote"), Qt::LeftButton);
        QTRY_COMPARE_WITH_TIMEOUT(on.note(1), std::string("not to be lost"), patience_ms);
    }

    void a_note_that_could_not_be_written_is_said_whole_where_another_run_is_shown() {
        Opened on;
        on.workspace.setCurrentRun(on.id(1));
        fs::create_symlink(on.folder.path() / "nowhere", on.directory(1).folder() / "user.jsonl");
        QTest::keyClicks(on.find<QPlainTextEdit>("inspectorNote"), QStringLiteral("not to be lost"));
        on.workspace.setCurrentRun(on.id(2));
        QTRY_VERIFY_WITH_TIMEOUT(on.window->complaint().endsWith(QStringLiteral("The note was: not to be lost")), patience_ms);
    }

    void what_is_done_to_runs_here_is_done_in_the_order_that_it_was_asked_for() {
        Opened on(2);
        QStringList many(40, on.id(0));
        on.workspace.actions().setArchived(many << on.id(1), true);
        on.workspace.actions().setArchived({on.id(1)}, false);
        QTRY_VERIFY_WITH_TIMEOUT(on.workspace.actions().pending().isEmpty(), patience_ms);
        QVERIFY(on.directory(0).user_state().archived);
        QVERIFY(!on.directory(1).user_state().archived);
    }

    void a_typed_note_is_kept_when_another_run_is_selected() {
        Opened on;
        on.workspace.setCurrentRun(on.id(1));
        auto* note = on.find<QPlainTextEdit>("inspectorNote");
        QTest::keyClicks(note, QStringLiteral("half a thought"));
        on.workspace.setCurrentRun(on.id(2));
        QVERIFY(note->toPlainText().isEmpty());
        QTRY_COMPARE(on.note(1), std::string("half a thought"));
        QCOMPARE(on.note(2), std::string());
        QTest::keyClicks(note, QStringLiteral("another"));
        const RunDirectory second = on.directory(2);
        on.workspace.closeProject();
        QTRY_COMPARE(second.user_state().note, std::string("another"));
    }

    void a_run_that_runs_is_stopped_and_not_resumed() {
        Opened on(1);
        const RunDirectory run = sample_run(on.folder.path(), 1);
        JournalWriter journal(run, run.begin_attempt(), {"", 0, Json::object(), 0});
        journal.event("stage_started", {{"stage", "train"}, {"total_steps", 100}});
        on.workspace.session()->refresh();
        QTRY_COMPARE_WITH_TIMEOUT(on.workspace.runs()->runs.size(), std::size_t(2), patience_ms);
        on.workspace.setCurrentRun(qs(run.info().id));
        QVERIFY(!on.find<QPushButton>("inspectorResume")->isEnabled());
        QVERIFY(!on.menuAction(QStringLiteral("Resume"))->isEnabled());
        QVERIFY(on.find<QPushButton>("inspectorStop")->isEnabled());
        journal.event("failed", {{"message", "the reason"}, {"code", 7}});
        on.workspace.session()->refresh();
        QTRY_VERIFY_WITH_TIMEOUT(on.find<QPushButton>("inspectorResume")->isEnabled(), patience_ms);
        QVERIFY(on.menuAction(QStringLiteral("Resume"))->isEnabled());
        QVERIFY(!on.find<QPushButton>("inspectorStop")->isEnabled());
    }

    void the_key_that_stops_means_all_selected_runs() {
        Opened on(1);
        std::vector<RunDirectory> going{sample_run(on.folder.path(), 1), sample_run(on.folder.path(), 2)};
        std::vector<std::unique_ptr<JournalWriter>> journals;
        for (const RunDirectory& run : going) {
            journals.push_back(std::make_unique<JournalWriter>(run, run.begin_attempt(), JournalWriter::Start{"", 0, Json::object(), 0}));
            journals.back()->event("stage_started", {{"stage", "train"}, {"total_steps", 100}});
        }
        on.workspace.session()->refresh();
        QTRY_COMPARE_WITH_TIMEOUT(on.workspace.runs()->runs.size(), std::size_t(3), patience_ms);
        QVERIFY(on.window->goTo(QStringLiteral("runs")));
        Page* page = on.window->page(QStringLiteral("runs"));
        auto* table = on.find<QTableView>("runsTable");
        QTRY_VERIFY_WITH_TIMEOUT(page->isReady() && table->model()->rowCount() > 0, patience_ms);
        table->setFocus();
        QTest::keyClick(table, Qt::Key_A, Qt::ControlModifier);
        QTRY_COMPARE(page->selectedRuns().size(), 3);
        on.workspace.setCurrentRun(qs(going[0].info().id));
        QTest::keyClick(table, Qt::Key_A, Qt::ControlModifier);
        QTRY_COMPARE(page->selectedRuns().size(), 3);
        QAction* stop = on.menuAction(QStringLiteral("Stop with a checkpoint"));
        QVERIFY(stop->isEnabled());
        stop->trigger();
        for (const RunDirectory& run : going) QTRY_VERIFY_WITH_TIMEOUT(run.requested("stop"), patience_ms);
        QVERIFY(!on.directory(0).requested("stop"));  // it is over
    }

    void a_silent_run_is_taken_over_after_a_question() {
        Opened on(1);
        const RunDirectory run = sample_run(on.folder.path(), 1);
        const ProcessIdentity far{"elsewhere.invalid", 1, "0000-boot:1", "another machine", "pid:[1]"};
        Json line = {{"seq", 1}, {"t", 100.0}, {"event", "attempt_started"}};
        line.update(far.to_json());
        std::string body = line.dump();
        body.pop_back();
        const fs::path journal = run.attempt_journal(run.begin_attempt());
        write_file_atomic(journal, body + fmt::format(",\"crc\":\"{:08x}\"}}\n", crc32c(body)));
        const timespec old[2] = {{::time(nullptr) - 3600, 0}, {::time(nullptr) - 3600, 0}};
        ::utimensat(AT_FDCWD, journal.c_str(), old, 0);
        on.workspace.session()->refresh();
        QTRY_COMPARE_WITH_TIMEOUT(on.workspace.runs()->runs.size(), std::size_t(2), patience_ms);
        auto* button = on.find<QPushButton>("inspectorTakeOver");
        on.workspace.setCurrentRun(qs(on.workspace.runs()->runs.front().info.id));
        QVERIFY(!button->isVisible());
        on.workspace.setCurrentRun(qs(run.info().id));
        QTRY_VERIFY_WITH_TIMEOUT(button->isVisible(), patience_ms);
        const auto* scroll = on.find<QWidget>("inspector")->findChild<QScrollArea*>();
        QTRY_COMPARE(scroll->widget()->width(), scroll->viewport()->width());  // a fourth button makes it no wider
        QTest::mouseClick(button, Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(on.find<QMessageBox>("takeOverDialog"), patience_ms);
        auto* box = on.find<QMessageBox>("takeOverDialog");
        QVERIFY2(box->text().contains(QStringLiteral("elsewhere.invalid")), qPrintable(box->text()));
        for (QAbstractButton* choice : box->buttons())
            if (box->buttonRole(choice) == QMessageBox::AcceptRole) choice->click();
        QTRY_VERIFY_WITH_TIMEOUT(on.find<QPushButton>("inspectorResume")->isEnabled(), patience_ms);
        QVERIFY(!button->isVisible());
    }

    void what_cannot_be_read_of_a_run_is_said_until_it_can() {
        Opened on;
        QTRY_VERIFY_WITH_TIMEOUT(on.workspace.session()->isIdle() && !on.workspace.session()->isLooking(), patience_ms);
        Database(Store(on.folder.path()).file()).execute("ALTER TABLE costs RENAME TO costs_away");
        on.workspace.setCurrentRun(on.id(1));
        auto* error = on.find<QWidget>("inspector")->findChild<ErrorBar*>();
        QTRY_VERIFY_WITH_TIMEOUT(error->message().contains(QStringLiteral("costs")), patience_ms);
        QVERIFY(error->isVisible());
        Database(Store(on.folder.path()).file()).execute("ALTER TABLE costs_away RENAME TO costs");
        on.directory(2).append_user_event({{"tag", "other"}});  // the runs are told of anew
        on.workspace.session()->refresh();
        QTRY_VERIFY_WITH_TIMEOUT(error->message().isEmpty(), patience_ms);
    }

    void a_tag_keeps_the_focus_when_the_runs_are_read_again() {
        Opened on;
        on.directory(1).append_user_event({{"tag", "paper"}});
        on.workspace.session()->refresh();
        on.workspace.setCurrentRun(on.id(1));
        const auto tag = [&]() -> QPushButton* {
            for (auto* button : on.window->findChildren<QPushButton*>())
                if (button->text().startsWith(QStringLiteral("paper")) && button->isVisible()) return button;
            return nullptr;
        };
        QTRY_VERIFY_WITH_TIMEOUT(tag(), patience_ms);
        tag()->setFocus(Qt::TabFocusReason);
        const QPointer<QPushButton> before = tag();
        on.directory(2).append_user_event({{"pinned", true}});
        on.workspace.session()->refresh();
        QTRY_VERIFY_WITH_TIMEOUT(on.workspace.runs()->runs[2].pinned, patience_ms);
        QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
        QVERIFY(before && before->hasFocus());
    }

    void space_ticks_group_after_group_without_losing_the_place() {
        Opened on;
        auto* tree = on.find<QTreeWidget>("navigatorTree");
        tree->setFocus();
        tree->setCurrentItem(itemNamed(tree, QStringLiteral("EM")));
        QTest::keyClick(tree, Qt::Key_Space);
        QTRY_COMPARE(on.workspace.shownGroups().size(), std::size_t(2));
        QVERIFY(tree->currentItem());
        QVERIFY(tree->currentItem()->text(0).startsWith(QStringLiteral("EM")));
        QTest::keyClick(tree, Qt::Key_Down);
        QTest::keyClick(tree, Qt::Key_Space);
        QTRY_COMPARE(on.workspace.shownGroups().size(), std::size_t(1));
        QVERIFY(tree->currentItem()->text(0).startsWith(QStringLiteral("Mix")));
    }

    void a_tab_that_has_the_focus_is_seen_to_have_it() {
        Opened on;
        auto* tabs = on.find<QTabBar>("pageTabs");
        for (const auto mode : {Theme::Mode::light, Theme::Mode::dark}) {
            Theme::instance().setMode(mode);
            on.find<QLineEdit>("navigatorSearch")->setFocus();
            const QImage without = tabs->grab().toImage();
            tabs->setFocus(Qt::TabFocusReason);
            const double contrast = largestContrast(without, tabs->grab().toImage());
            QVERIFY2(contrast >= 3, qPrintable(QString::number(contrast)));
        }
        Theme::instance().setMode(Theme::Mode::light);
    }

    void what_the_machine_can_do_is_shown_beside_the_open_project() {
        Opened on;
        on.window->goTo(QStringLiteral("runs"));
        on.menuAction(QStringLiteral("What this machine can do"))->trigger();
        QVERIFY(on.find<QWidget>("startPage")->isVisible());
        QVERIFY(on.workspace.session());
        QVERIFY(on.window->goTo(QStringLiteral("runs")));
        QVERIFY(!on.find<QWidget>("startPage")->isVisible());
        on.menuAction(QStringLiteral("What this machine can do"))->trigger();
        auto* tabs = on.find<QTabBar>("pageTabs");
        QTest::mouseClick(tabs, Qt::LeftButton, {}, tabs->tabRect(tabs->currentIndex()).center());
        QVERIFY(!on.find<QWidget>("startPage")->isVisible());
    }

    void what_was_deleted_comes_back_to_the_project_that_it_was_of() {
        Opened on;
        const QString run = on.id(4);
        on.workspace.actions().trash({run});
        QTRY_COMPARE_WITH_TIMEOUT(on.workspace.runs()->runs.size(), std::size_t(4), patience_ms);
        TemporaryDirectory other;
        make_sample_project(other.path(), 2);
        on.window->openPath(QString::fromStdString(other.path().string()));
        QTRY_COMPARE_WITH_TIMEOUT(on.workspace.runs()->runs.size(), std::size_t(2), patience_ms);
        QVERIFY(!on.workspace.actions().canUndo());
        on.workspace.actions().undo();
        on.window->openPath(QString::fromStdString(on.folder.path().string()));
        QTRY_COMPARE_WITH_TIMEOUT(on.workspace.runs()->runs.size(), std::size_t(4), patience_ms);
        QVERIFY(on.workspace.actions().canUndo());
        on.workspace.actions().undo();
        QTRY_COMPARE_WITH_TIMEOUT(on.workspace.runs()->runs.size(), std::size_t(5), patience_ms);
        QVERIFY(!on.workspace.actions().canUndo());
    }

    void an_undo_that_fails_can_be_tried_again() {
        Opened on;
        QStringList complaints;
        QObject::connect(&on.workspace, &Workspace::complained, on.window.get(), [&](const QString& text) { complaints << text; });
        const QString run = on.id(4);
        const fs::path place = on.folder.path() / "runs" / run.toStdString();
        on.workspace.actions().trash({run});
        QTRY_VERIFY_WITH_TIMEOUT(on.workspace.actions().canUndo(), patience_ms);
        make_directories(place);  // something stands in its place
        write_file_atomic(place / "note", "mine");
        on.workspace.actions().undo();
        QTRY_COMPARE_WITH_TIMEOUT(complaints.size(), 1, patience_ms);
        QVERIFY(on.workspace.actions().canUndo());
        fs::remove_all(place);
        on.workspace.actions().undo();
        QTRY_VERIFY_WITH_TIMEOUT(fs::exists(place / "run.json"), patience_ms);
    }

    void what_was_brought_back_elsewhere_does_not_stand_in_the_way_of_an_earlier_undo() {
        Opened on;
        QStringList complaints;
        QObject::connect(&on.workspace, &Workspace::complained, on.window.get(), [&](const QString& text) { complaints << text; });
        const QString first = on.id(3), second = on.id(4);
        for (const QString& run : {first, second}) {
            on.workspace.actions().trash({run});
            QTRY_VERIFY_WITH_TIMEOUT(!fs::exists(on.folder.path() / "runs" / run.toStdString()), patience_ms);
        }
        QTRY_VERIFY_WITH_TIMEOUT(on.workspace.actions().pending().isEmpty(), patience_ms);
        Project(on.folder.path(), false).restore(second.toStdString());
        on.workspace.actions().undo();
        QTRY_COMPARE_WITH_TIMEOUT(complaints.size(), 1, patience_ms);
        QVERIFY2(complaints.first().contains(QStringLiteral("not in the trash any more")), qPrintable(complaints.first()));
        on.workspace.actions().undo();
        QTRY_VERIFY_WITH_TIMEOUT(fs::exists(on.folder.path() / "runs" / first.toStdString() / "run.json"), patience_ms);
        QTRY_VERIFY_WITH_TIMEOUT(!on.workspace.actions().canUndo(), patience_ms);
    }

    void what_is_said_can_be_translated() {
        struct Marked : QTranslator {
            QString translate(const char*, const char* text, const char*, int) const override {
                return QStringLiteral("‹") + QString::fromUtf8(text) + QStringLiteral("›");
            }
            bool isEmpty() const override { return false; }
        } translator;
        Opened on;
        QStringList said;
        QObject::connect(&on.workspace, &Workspace::said, on.window.get(), [&](const QString& text) { said << text; });
        QCoreApplication::installTranslator(&translator);
        RunActions& actions = on.workspace.actions();
        const QStringList runs{on.id(1), on.id(2)};
        actions.setPinned(runs, true);
        actions.setArchived(runs, false);
        actions.addTag(runs, QStringLiteral("x"));
        actions.removeTag(runs, QStringLiteral("x"));
        actions.setNote({on.id(1)}, QStringLiteral("y"));
        static_cast<void>(QTest::qWaitFor([&] { return said.size() == 5; }, patience_ms));
        QCoreApplication::removeTranslator(&translator);
        QCOMPARE(said.size(), 5);
        for (const QString& text : said) QVERIFY2(text.startsWith(QStringLiteral("‹")), qPrintable(text));
    }

    void a_note_on_several_runs_is_said_once_of_all() {
        Opened on;
        QStringList said;
        QObject::connect(&on.workspace, &Workspace::said, on.window.get(), [&](const QString& text) { said << text; });
        on.workspace.actions().setNote({on.id(0), on.id(1), on.id(2)}, QStringLiteral("the same"));
        QTRY_COMPARE(said, QStringList{QStringLiteral("note of 3 runs kept")});
        for (std::size_t run = 0; run < 3; ++run) QCOMPARE(on.note(run), std::string("the same"));
    }

    void a_duration_and_a_cause_stand_behind_their_own_names() {
        Opened on(2);
        write_attempt(sample_run(on.folder.path(), 3), 1, 5, "failed");
        on.workspace.session()->refresh();
        QTRY_COMPARE(on.workspace.runs()->runs.size(), std::size_t{3});
        const auto names = [&] {
            QStringList texts;
            for (const QLabel* label : on.find<QWidget>("inspector")->findChildren<QLabel*>()) texts << label->text();
            return texts;
        };
        on.workspace.setCurrentRun(on.id(1));
        QTRY_VERIFY(names().contains(QStringLiteral("took")) && !names().contains(QStringLiteral("where it is")));
        on.workspace.setCurrentRun(on.id(2));
        QTRY_VERIFY(names().contains(QStringLiteral("cause")) && !names().contains(QStringLiteral("where it is")));
    }

    void a_log_without_a_line_says_why() {
        Opened on(1);
        const RunDirectory run = sample_run(on.folder.path(), 1);
        const auto say = [&](const std::string& text) {
            make_directories(run.attempt_log(1, 0).parent_path());
            std::ofstream(run.attempt_log(1, 0), std::ios::app) << text;
        };
        { JournalWriter journal(run, run.begin_attempt(), {"", 0, Json::object(), 0}); }
        say("");
        on.workspace.session()->refresh();
        QTRY_COMPARE_WITH_TIMEOUT(on.workspace.runs()->runs.size(), std::size_t(2), patience_ms);
        on.workspace.setCurrentRun(qs(run.info().id));
        on.find<QTabWidget>("activityTabs")->setCurrentIndex(1);
        auto* log = on.find<QPlainTextEdit>("logText");
        QTRY_COMPARE_WITH_TIMEOUT(log->placeholderText(), QStringLiteral("The log of the selected run is empty."), patience_ms);
        say("a line\n");
        QTRY_COMPARE_WITH_TIMEOUT(log->toPlainText(), QStringLiteral("a line"), patience_ms);
        on.find<QLineEdit>("logSearch")->setText(QStringLiteral("another"));
        QCOMPARE(log->toPlainText(), QString());
        QVERIFY2(log->placeholderText().contains(QStringLiteral("none")), qPrintable(log->placeholderText()));
    }

    void the_log_of_a_resumed_run_begins_with_its_new_attempt() {
        Opened on(1);
        const RunDirectory run = sample_run(on.folder.path(), 1);
        const auto say = [&](int attempt, const std::string& text) {
            make_directories(run.attempt_log(attempt, 0).parent_path());
            std::ofstream(run.attempt_log(attempt, 0), std::ios::app) << text;
        };
        { JournalWriter journal(run, run.begin_attempt(), {"", 0, Json::object(), 0}); }
        say(1, "the first attempt says this, and that at some length\n");
        on.workspace.session()->refresh();
        QTRY_COMPARE_WITH_TIMEOUT(on.workspace.runs()->runs.size(), std::size_t(2), patience_ms);
        on.workspace.setCurrentRun(qs(run.info().id));
        auto* tabs = on.find<QTabWidget>("activityTabs");
        tabs->setCurrentIndex(1);
        auto* log = on.find<QPlainTextEdit>("logText");
        QTRY_VERIFY_WITH_TIMEOUT(log->toPlainText().contains(QStringLiteral("some length")), patience_ms);
        { JournalWriter journal(run, run.begin_attempt(), {"", 0, Json::object(), 0}); }
        say(2, "resumed\n");
        QTRY_VERIFY_WITH_TIMEOUT(log->toPlainText().contains(QStringLiteral("resumed")), patience_ms);
    }
};

FACETER_TEST(TestInspector)
#include "test_inspector.moc"
