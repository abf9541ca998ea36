#include <QAction>
#include <QDialog>
#include <QDir>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QMainWindow>
#include <QMenuBar>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSettings>
#include <QStackedWidget>
#include <QTabBar>
#include <QTabWidget>
#include <QThreadPool>
#include <QTreeWidget>

#include "actions/run_actions.h"
#include "desktop/support/sample_project.h"
#include "pages/page.h"
#include "record/state.h"
#include "support/test.h"
#include "theme/theme.h"
#include "widgets/labels.h"
#include "window/main_window.h"

using namespace faceter;
using namespace faceter::desktop;
using namespace faceter::testing;

namespace {

QStringList textsUnder(const QTreeWidget* tree, const QString& section) {
    QStringList texts;
    for (int i = 0; i < tree->topLevelItemCount(); ++i)
        if (tree->topLevelItem(i)->text(0).compare(section, Qt::CaseInsensitive) == 0)
            for (int j = 0; j < tree->topLevelItem(i)->childCount(); ++j) texts << tree->topLevelItem(i)->child(j)->text(0);
    return texts;
}

/// Windows besides the main one that anything opens.
struct WindowWatch : QObject {
    QStringList shown;
    WindowWatch() { qApp->installEventFilter(this); }
    bool eventFilter(QObject* watched, QEvent* event) override {
        const auto* widget = qobject_cast<const QWidget*>(watched);
        if (event->type() == QEvent::Show && widget && widget->isWindow() && !qobject_cast<const QMainWindow*>(widget))
            shown << QString::fromLatin1(widget->metaObject()->className()) + QLatin1Char(' ') + widget->objectName();
        return false;
    }
};

QTreeWidgetItem* itemNamed(QTreeWidget* tree, const QString& text) {
    const auto found = tree->findItems(text, Qt::MatchStartsWith | Qt::MatchRecursive);
    return found.isEmpty() ? nullptr : found.first();
}

}  // namespace

class TestWindow : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;

    fs::path project(const std::string& name, std::size_t runs = 99) {
        const fs::path path = folder_.path() / name;
        make_directories(path / "runs");
        make_sample_project(path, runs);
        return path;
    }

  private Q_SLOTS:
    void no_two_actions_have_one_shortcut() {
        Workspace workspace;
        MainWindow window(workspace);
        QStringList keys;
        for (const QAction* action : window.findChildren<QAction*>())
            if (const QString key = action->shortcut().toString(); !key.isEmpty()) {
                QVERIFY2(!keys.contains(key), qPrintable(key));  // neither would answer
                keys << key;
            }
    }

    void init() { QSettings().clear(); }

    void a_first_start_offers_the_quick_start_and_says_what_the_machine_can_do() {
        Workspace workspace;
        MainWindow window(workspace);
        window.show();
        QVERIFY(window.findChild<QPushButton*>("quickStartButton")->isVisible());
        QVERIFY(window.findChild<QPushButton*>("openProjectButton")->isVisible());
        const auto labelled = [&](const QString& text) {
            const auto labels = window.findChild<QWidget*>("startPage")->findChildren<QLabel*>();
            return std::any_of(labels.begin(), labels.end(), [&](const QLabel* label) { return label->text() == text; });
        };
        QTRY_VERIFY(labelled("processor"));
    }

    void what_this_machine_lacks_is_said_in_the_window_and_opens_none_of_its_own() {
        QThreadPool::globalInstance()->waitForDone();  // of the tests before: nobody reads the environment while it changes
        const QByteArray cache = qgetenv("FACETER_CACHE");
        qputenv("FACETER_CACHE", folder_.path().c_str());  // without any model
        const WindowWatch watch;
        Workspace workspace;
        MainWindow window(workspace);
        window.show();
        const auto problems = [&] {
            const auto bars = window.findChild<QWidget*>("startPage")->findChildren<ErrorBar*>();
            return std::count_if(bars.begin(), bars.end(), [](const ErrorBar* bar) { return bar->isVisible(); });
        };
        QTRY_VERIFY(problems() > 0);
        QVERIFY(window.findChild<QPushButton*>("setUpButton"));
        cache.isNull() ? qunsetenv("FACETER_CACHE") : qputenv("FACETER_CACHE", cache);
        QVERIFY2(watch.shown.isEmpty(), qPrintable(watch.shown.join(QStringLiteral(", "))));
    }

    void opening_a_project_lists_its_experiments_and_groups_with_ticks() {
        Workspace workspace;
        MainWindow window(workspace);
        window.show();
        QVERIFY(window.openPath(QString::fromStdString(project("one").string())));
        const auto* tree = window.findChild<QTreeWidget*>("navigatorTree");
        QTRY_COMPARE(textsUnder(tree, "Runs").size(), 3);
        QCOMPARE(textsUnder(tree, "Experiments"), QStringList{"quick"});
        QVERIFY(textsUnder(tree, "Runs").contains("EM · 2 seeds"));
        QCOMPARE(workspace.shownGroups().size(), std::size_t(3));
    }

    void a_count_stays_behind_a_name_of_arabic() {
        const fs::path folder = folder_.path() / "arabic";
        make_directories(folder / "runs");
        const QString name = QString::fromUtf8("\u062a\u062c\u0631\u0628\u0629");
        std::string text = sample_experiment();
        text.replace(text.find("EM:"), 2, name.toStdString());
        const Experiment experiment = parse_sample(text);
        for (const ResolvedRun& run : experiment.runs()) RunDirectory::create(folder, experiment, run, false);
        Workspace workspace;
        MainWindow window(workspace);
        window.show();
        QVERIFY(window.openPath(QString::fromStdString(folder.string())));
        const auto* tree = window.findChild<QTreeWidget*>("navigatorTree");
        QTRY_COMPARE(textsUnder(tree, "Runs").size(), 3);
        QVERIFY(textsUnder(tree, "Runs").contains(QChar(0x2068) + name + QChar(0x2069) + QStringLiteral(" · 2 seeds")));
        QVERIFY(textsUnder(tree, "Runs").contains("Mix · 2 seeds"));
    }

    void a_group_with_two_runs_of_a_seed_counts_its_runs() {
        const fs::path folder = project("twice");
        sample_run(folder, 1);
        Workspace workspace;
        MainWindow window(workspace);
        window.show();
        QVERIFY(window.openPath(QString::fromStdString(folder.string())));
        const auto* tree = window.findChild<QTreeWidget*>("navigatorTree");
        QTRY_VERIFY(textsUnder(tree, "Runs").contains("EM · 3 runs"));
    }

    void the_runs_of_a_group_are_listed_and_found_by_their_ids() {
        Workspace workspace;
        MainWindow window(workspace);
        window.show();
        window.openPath(QString::fromStdString(project("runs of a group").string()));
        auto* tree = window.findChild<QTreeWidget*>("navigatorTree");
        QTRY_VERIFY(itemNamed(tree, "EM"));
        QVERIFY(!itemNamed(tree, "EM")->isExpanded());
        QCOMPARE(itemNamed(tree, "EM")->childCount(), 0);  // ten thousand runs are not listed for nobody
        tree->setFocus();
        tree->setCurrentItem(itemNamed(tree, "EM"));
        QTest::keyClick(tree, Qt::Key_Right);
        QVERIFY(itemNamed(tree, "EM")->isExpanded());
        QCOMPARE(itemNamed(tree, "EM")->childCount(), 2);
        workspace.setShown(workspace.groups().front().key, false);  // the tree is made anew
        QTRY_COMPARE(workspace.shownGroups().size(), std::size_t(2));
        QVERIFY(itemNamed(tree, "EM")->isExpanded());
        const std::string id = workspace.groups()[1].runs.front()->info.id;
        QTest::keyClicks(window.findChild<QLineEdit*>("navigatorSearch"), QString::fromStdString(id));
        QCOMPARE(textsUnder(tree, "Runs").size(), 1);
        QTreeWidgetItem* run = itemNamed(tree, "seed");
        QVERIFY(run && run->parent()->isExpanded() && run->parent()->childCount() == 1);
        QTest::mouseClick(tree->viewport(), Qt::LeftButton, {}, tree->visualItemRect(run).center());
        QCOMPARE(workspace.currentRun(), QString::fromStdString(id));
        auto* search = window.findChild<QLineEdit*>("navigatorSearch");
        search->clear();
        QTest::keyClicks(search, QStringLiteral("em-2"));  // as tables call it
        QTRY_COMPARE(textsUnder(tree, "Runs").size(), 1);
        QVERIFY(itemNamed(tree, "seed") && itemNamed(tree, "seed")->toolTip(0).startsWith(QStringLiteral("EM-2\n")));
    }

    void a_long_name_of_a_group_is_there_whole() {
        const TemporaryDirectory folder;
        const std::string ends[] = {"retrieval_first_and_then_", "_clustering_with_an_expert_in_every_block"};
        const Project made(folder.path(), true);
        const Experiment experiment = parse_sample(
            fmt::format("name: quick\ntasks: {{retrieval: {{train: [{{source: file, path: pairs.tsv}}]}}}}\nvariants:\n  {0}A{1}: "
                        "{{method: dense}}\n  {0}B{1}: {{method: dense}}\nevaluation: {{baseline: false}}\n",
                        ends[0], ends[1]));
        for (const ResolvedRun& run : experiment.runs()) RunDirectory::create(folder.path(), experiment, run, false);
        Workspace workspace;
        MainWindow window(workspace);
        window.resize(1280, 800);
        window.show();
        window.openPath(QString::fromStdString(folder.path().string()));
        auto* tree = window.findChild<QTreeWidget*>("navigatorTree");
        const auto item = [&](char which) { return itemNamed(tree, (ends[0] + which + ends[1]).c_str()); };
        QTRY_VERIFY(item('A') && item('B'));
        for (auto* one : {item('A'), item('B')}) one->setIcon(0, {});  // their colours differ
        const auto picture = [&](char which) {
            tree->setCurrentItem(nullptr);
            return tree->viewport()->grab(tree->visualItemRect(item(which))).toImage();
        };
        const int line = tree->fontMetrics().height();
        QTRY_VERIFY(tree->visualItemRect(item('A')).height() >= 2 * line);
        QVERIFY(picture('A') != picture('B'));  // they differ in the middle alone, where names used to be cut
        const int wide = tree->visualItemRect(item('A')).height();
        tree->setFixedWidth(tree->width() / 2);
        QTRY_VERIFY(tree->visualItemRect(item('A')).height() >= wide + line);
        QVERIFY(tree->visualItemRect(itemNamed(tree, "quick")).height() < 2 * line);
    }

    void a_tick_taken_away_hides_the_group_from_all_pages() {
        Workspace workspace;
        MainWindow window(workspace);
        window.show();
        window.openPath(QString::fromStdString(project("two").string()));
        auto* tree = window.findChild<QTreeWidget*>("navigatorTree");
        QTRY_VERIFY(itemNamed(tree, "EM"));
        QSignalSpy shown(&workspace, &Workspace::shownChanged);
        itemNamed(tree, "EM")->setCheckState(0, Qt::Unchecked);
        QTRY_COMPARE(workspace.shownGroups().size(), std::size_t(2));
        QVERIFY(!shown.isEmpty());
        QCOMPARE(itemNamed(tree, "EM")->checkState(0), Qt::Unchecked);
    }

    void a_group_keeps_its_colour_when_others_come() {
        Workspace workspace;
        const fs::path path = project("colours", 3);
        QVERIFY(open_and_wait(workspace, path));
        QTRY_COMPARE(workspace.runs()->runs.size(), std::size_t(3));
        std::map<QString, int> before;
        for (const RunGroupRef& group : workspace.groups()) before[group.key] = group.colour;
        make_sample_project(path);
        workspace.session()->refresh();
        QTRY_COMPARE(workspace.groups().size(), std::size_t(3));
        for (const auto& [key, colour] : before)
            for (const RunGroupRef& group : workspace.groups())
                if (group.key == key) QCOMPARE(group.colour, colour);
    }

    void the_inspector_shows_settings_and_keeps_a_note_and_a_tag() {
        Workspace workspace;
        MainWindow window(workspace);
        window.show();
        window.openPath(QString::fromStdString(project("notes").string()));
        auto* tree = window.findChild<QTreeWidget*>("navigatorTree");
        QTRY_VERIFY(itemNamed(tree, "EM"));
        QTest::mouseClick(tree->viewport(), Qt::LeftButton, {}, tree->visualItemRect(itemNamed(tree, "EM")).center());
        QTRY_VERIFY(workspace.current());
        auto* settings = window.findChild<QTreeWidget*>("inspectorSettings");
        QTRY_VERIFY(itemNamed(settings, "training"));
        auto* note = window.findChild<QPlainTextEdit*>("inspectorNote");
        QTest::keyClicks(note, "best so far <b>");
        QTest::mouseClick(window.findChild<QPushButton*>("inspectorKeepNote"), Qt::LeftButton);
        QTRY_COMPARE(QString::fromStdString(workspace.current()->note), QString("best so far <b>"));
        auto* tag = window.findChild<QLineEdit*>("inspectorNewTag");
        QTest::keyClicks(tag, "paper\r");
        QTRY_COMPARE(workspace.current()->tags, std::vector<std::string>{"paper"});
        const RunDirectory run(workspace.session()->folder() / "runs" / workspace.currentRun().toStdString());
        QCOMPARE(run.user_state().note, std::string("best so far <b>"));
    }

    void a_deleted_run_comes_back_by_undo() {
        Workspace workspace;
        QVERIFY(open_and_wait(workspace, project("undo")));
        const std::size_t before = workspace.runs()->runs.size();
        const QString run = qs(workspace.runs()->runs.back().info.id);
        workspace.actions().trash({run});
        QTRY_COMPARE(workspace.runs()->runs.size(), before - 1);
        QVERIFY(workspace.actions().canUndo());
        workspace.actions().undo();
        QTRY_COMPARE(workspace.runs()->runs.size(), before);
    }

    void making_a_page_opens_no_window_of_its_own() {
        Workspace workspace;
        MainWindow window(workspace);
        window.show();
        window.openPath(QString::fromStdString(project("quiet").string()));
        QTRY_VERIFY(!workspace.runs()->runs.empty());
        const WindowWatch watch;
        for (const PageEntry& entry : pageEntries()) {
            QVERIFY(window.goTo(entry.id));
            QTRY_VERIFY2_WITH_TIMEOUT(window.page(entry.id)->isReady(), qPrintable(entry.id), 20000);
        }
        QVERIFY2(watch.shown.isEmpty(), qPrintable(watch.shown.join(QStringLiteral(", "))));
    }

    void every_page_is_reached_by_its_shortcut_and_settles() {
        Workspace workspace;
        MainWindow window(workspace);
        window.show();
        QVERIFY(QTest::qWaitForWindowActive(&window));
        window.openPath(QString::fromStdString(project("pages").string()));
        QTRY_VERIFY(!workspace.runs()->runs.empty());
        int number = 1;
        for (const PageEntry& entry : pageEntries()) {
            const Qt::KeyboardModifiers modifiers = number <= 10 ? Qt::ControlModifier : Qt::ControlModifier | Qt::AltModifier;
            QTest::keyClick(&window, static_cast<Qt::Key>(Qt::Key_0 + number++ % 10), modifiers);
            QTRY_COMPARE(window.currentPage(), entry.id);
            QVERIFY2(window.page(entry.id), qPrintable(entry.id));
            QTRY_VERIFY2_WITH_TIMEOUT(window.page(entry.id)->isReady(), qPrintable(entry.id), 20000);
        }
    }

    void what_a_page_showed_is_there_at_the_next_start() {
        const QString path = QString::fromStdString(project("restored").string());
        {
            Workspace workspace;
            MainWindow window(workspace);
            window.show();
            window.openPath(path);
            QVERIFY(window.goTo("curves"));
            window.close();
        }
        Workspace workspace;
        MainWindow window(workspace);
        window.show();
        QCOMPARE(QSettings().value("project").toString(), path);
        window.openPath(path);
        QTRY_COMPARE(window.currentPage(), QString("curves"));
    }

    void panels_that_were_hidden_are_so_at_the_next_start() {
        QSettings().clear();
        const QStringList names{QStringLiteral("showNavigator"), QStringLiteral("showActivity")};
        const auto areShown = [](const MainWindow& window) {
            return window.findChild<QWidget*>(QStringLiteral("navigator"))->isVisible() ||
                   window.findChild<QWidget*>(QStringLiteral("activity"))->isVisible();
        };
        {
            Workspace workspace;
            MainWindow window(workspace);
            window.show();
            for (const QString& name : names) window.findChild<QAction*>(name)->trigger();
            QVERIFY(!areShown(window));
            window.close();
        }
        Workspace workspace;
        MainWindow window(workspace);
        window.show();
        QVERIFY(!areShown(window));
        for (const QString& name : names) {
            QVERIFY(!window.findChild<QAction*>(name)->isChecked());
            window.findChild<QAction*>(name)->trigger();
        }
        QVERIFY(window.findChild<QWidget*>(QStringLiteral("navigator"))->isVisible());
        QVERIFY(window.findChild<QWidget*>(QStringLiteral("activity"))->isVisible());
        window.close();
        QSettings().clear();
    }

    void the_shortcuts_are_a_list_that_fits_a_small_window() {
        Workspace workspace;
        MainWindow window(workspace);
        window.resize(700, 500);
        window.show();
        QVERIFY(QTest::qWaitForWindowActive(&window));
        QTest::keyClick(&window, Qt::Key_F1, Qt::ControlModifier);
        auto* dialog = window.findChild<QDialog*>(QStringLiteral("shortcutsDialog"));
        QVERIFY(dialog && dialog->isVisible());
        QVERIFY(dialog->height() < window.height());
        const auto* list = dialog->findChild<QTreeWidget*>();
        QStringList keys;
        for (int i = 0; i < list->topLevelItemCount(); ++i) keys << list->topLevelItem(i)->text(0);
        QVERIFY(keys.contains(QStringLiteral("Ctrl+Shift+N")) && keys.contains(QStringLiteral("F9")));
        QTest::keyClick(dialog, Qt::Key_Escape);
        QTRY_VERIFY(!window.findChild<QDialog*>(QStringLiteral("shortcutsDialog")));
    }

    void a_project_that_is_named_and_not_there_is_made() {
        const TemporaryDirectory folder;
        const QString path = QString::fromStdString((folder.path() / "new-project").string());
        Workspace workspace;
        MainWindow window(workspace);
        window.show();
        QVERIFY(!window.openPath(path));
        QVERIFY(!QFileInfo::exists(path));
        QVERIFY(window.openOrMakeProject(path));
        QVERIFY(workspace.session());
        QVERIFY(QFileInfo(path + "/runs").isDir());
        write_file_atomic(folder.path() / "a file", "x");
        QVERIFY(!window.openOrMakeProject(QString::fromStdString((folder.path() / "a file/below").string())));
        write_file_atomic(folder.path() / "OTHER.YML", "name: other\n");
        QVERIFY(window.openPath(QString::fromStdString((folder.path() / "OTHER.YML").string())));
        QCOMPARE(window.currentPage(), QString("compose"));
    }

    void a_run_folder_opens_its_project_and_selects_the_run() {
        const fs::path path = project("dropped");
        const std::string id = Project(path, false).run_ids().front();
        Workspace workspace;
        MainWindow window(workspace);
        window.show();
        QVERIFY(window.openPath(QString::fromStdString((path / "runs" / id).string())));
        QTRY_VERIFY(workspace.current());
        QCOMPARE(workspace.currentRun(), QString::fromStdString(id));
    }

    void an_empty_folder_becomes_a_project_and_one_with_other_things_does_not() {
        const fs::path folder = folder_.path() / "made before", other = folder_.path() / "with other things";
        for (const fs::path& one : {folder, other}) fs::create_directories(one);
        write_file_atomic(other / ".hidden", "x");
        Workspace workspace;
        MainWindow window(workspace);
        window.show();
        QVERIFY(!window.openOrMakeProject(QString::fromStdString(other.string())));
        QVERIFY(!workspace.session());
        QVERIFY(!fs::exists(other / "runs"));
        QVERIFY2(window.complaint().contains("is no project, and holds other things"), qPrintable(window.complaint()));
        QVERIFY(window.openOrMakeProject(QString::fromStdString(folder.string())));
        QVERIFY(workspace.session());
        QVERIFY(fs::is_directory(folder / "runs"));
        QVERIFY(window.complaint().isEmpty());
    }

    void a_folder_that_is_no_project_gets_one_clear_sentence() {
        Workspace workspace;
        MainWindow window(workspace);
        window.show();
        QVERIFY(!window.openPath(QString::fromStdString(folder_.path().string())));
        QVERIFY(!workspace.session());
        QVERIFY(window.findChild<QWidget*>("errorBar")->isVisible());
        QVERIFY(!window.openPath("/no/such/place"));
    }

    void a_damaged_store_gets_a_page_and_can_be_made_anew() {
        const fs::path path = project("damaged");
        overwrite(path / "faceter.sqlite", std::string(20000, 'x'));
        Workspace workspace;
        MainWindow window(workspace);
        window.show();
        window.openPath(QString::fromStdString(path.string()));
        QTRY_VERIFY(window.findChild<QPushButton*>("rebuildStoreButton"));
        QTRY_VERIFY(window.findChild<QPushButton*>("rebuildStoreButton")->isVisible());
        QTest::mouseClick(window.findChild<QPushButton*>("rebuildStoreButton"), Qt::LeftButton);
        QTRY_COMPARE_WITH_TIMEOUT(workspace.runs()->runs.size(), std::size_t(5), 10000);
        QTRY_VERIFY(window.frontPage());
    }

    void a_project_whose_folder_is_gone_is_not_offered_a_new_store() {
        const fs::path path = project("gone"), away = path.string() + "-away";
        Workspace workspace;
        MainWindow window(workspace);
        window.show();
        QVERIFY(window.openPath(QString::fromStdString(path.string())));
        QTRY_COMPARE_WITH_TIMEOUT(workspace.runs()->runs.size(), std::size_t(5), 10000);
        fs::rename(path, away);
        workspace.session()->refresh();
        QTRY_VERIFY(window.findChild<QWidget*>("storeProblemPage"));
        QVERIFY(!window.findChild<QPushButton*>("rebuildStoreButton"));
        QStringList texts;
        for (const QLabel* label : window.findChild<QWidget*>("storeProblemPage")->findChildren<QLabel*>()) texts << label->text();
        QVERIFY2(texts.contains("The project's folder is not there"), qPrintable(texts.join("; ")));
        const auto* line = window.findChild<QWidget*>("warningLine");
        QTRY_VERIFY(line->isVisible());
        fs::rename(away, path);
        workspace.session()->refresh();
        QTRY_VERIFY(window.frontPage());
        QTRY_VERIFY(!line->isVisible());  // what it said is over
    }

    void a_torn_journal_is_named_in_a_line_that_can_be_dismissed() {
        const fs::path path = project("torn");
        const Project opened(path, false);
        const RunDirectory torn(opened.runs_folder() / opened.run_ids().front());
        const std::string whole = read_file(torn.attempt_journal(1));
        overwrite(torn.attempt_journal(1), whole + whole.substr(0, 40));
        Workspace workspace;
        MainWindow window(workspace);
        window.show();
        window.openPath(QString::fromStdString(path.string()));
        auto* line = window.findChild<QWidget*>("warningLine");
        QTRY_VERIFY(line->isVisible());
        const QString text = window.findChild<ElidedLabel*>("warningText")->fullText();
        QVERIFY2(text.startsWith(qs("runs/" + torn.info().id + "/journal/1/rank-0.jsonl: the last 40 bytes")), qPrintable(text));
        QTest::mouseClick(window.findChild<QPushButton*>("dismissWarnings"), Qt::LeftButton);
        QVERIFY(!line->isVisible());
        QSignalSpy again(&workspace, &Workspace::warned);
        workspace.session()->rebuild();  // reads it anew
        QTRY_VERIFY(!again.isEmpty());
        QVERIFY(line->isVisible());
        workspace.closeProject();
        QVERIFY(!line->isVisible());
    }

    void what_is_said_of_a_copy_goes_when_the_copy_is_whole() {
        const fs::path path = project("copied", 2);
        const Project opened(path, false);
        const fs::path record = opened.runs_folder() / opened.run_ids().front() / "run.json";
        const std::string text = read_file(record);
        fs::remove(record);  // it comes last
        Workspace workspace;
        MainWindow window(workspace);
        window.show();
        window.openPath(QString::fromStdString(path.string()));
        auto* line = window.findChild<QWidget*>("warningLine");
        QTRY_VERIFY(line->isVisible());
        const QString said = window.findChild<ElidedLabel*>("warningText")->fullText();
        QVERIFY2(said.contains(QStringLiteral("not a run")), qPrintable(said));
        write_file_atomic(record, text);
        workspace.session()->refresh();
        QTRY_VERIFY(!line->isVisible());
        QCOMPARE(workspace.runs()->runs.size(), std::size_t(2));
        overwrite(record, text.substr(0, text.size() / 2));  // and is told of again
        workspace.session()->refresh();
        QTRY_VERIFY(line->isVisible());
    }

    void panels_that_have_nothing_to_say_leave_their_room_to_the_page() {
        Workspace workspace;
        MainWindow window(workspace);
        window.resize(1280, 800);
        window.show();
        const fs::path path = project("room", 1);
        window.openPath(QString::fromStdString(path.string()));
        QTRY_VERIFY(!workspace.runs()->runs.empty() && window.frontPage() && window.frontPage()->isReady());
        auto* inspector = window.findChild<QWidget*>("inspector");
        auto* activity = window.findChild<QWidget*>("activity");
        QVERIFY(!inspector->isVisible());
        QTRY_VERIFY2(activity->height() < 60, qPrintable(QString::number(activity->height())));
        QVERIFY2(window.frontPage()->width() > 1000, qPrintable(QString::number(window.frontPage()->width())));
        QVERIFY2(window.frontPage()->height() > 660, qPrintable(QString::number(window.frontPage()->height())));
        workspace.setCurrentRun(qs(workspace.runs()->runs.front().info.id));
        QVERIFY(inspector->isVisible());
        auto* tabs = window.findChild<QTabWidget*>("activityTabs")->tabBar();
        QTest::mouseClick(tabs, Qt::LeftButton, {}, tabs->tabRect(1).center());  // the log is a click away
        QTRY_VERIFY(activity->height() >= 72);
        QTest::mouseClick(tabs, Qt::LeftButton, {}, tabs->tabRect(1).center());
        QTRY_VERIFY(activity->height() < 60);
        const RunDirectory run = sample_run(path, 1);
        JournalWriter journal(run, run.begin_attempt(), {"", 0, Json::object(), 0});
        journal.event("stage_started", {{"stage", "train"}, {"total_steps", 100}});
        workspace.session()->refresh();
        QTRY_VERIFY_WITH_TIMEOUT(activity->height() >= 72, 10000);
        journal.event("finished", {{"step", 1}});
        workspace.session()->refresh();
        QTRY_VERIFY_WITH_TIMEOUT(activity->height() < 60, 10000);
    }

    void every_tab_is_seen_beside_the_open_inspector() {
        Workspace workspace;
        MainWindow window(workspace);
        window.resize(1280, 800);
        window.show();
        window.openPath(QString::fromStdString(project("tabs", 1).string()));
        QTRY_VERIFY(!workspace.runs()->runs.empty());
        workspace.setCurrentRun(qs(workspace.runs()->runs.front().info.id));
        QTRY_VERIFY(window.findChild<QWidget*>("inspector")->isVisible());
        const auto* tabs = window.findChild<QTabBar*>("pageTabs");
        for (int i = 0; i < tabs->count(); ++i)
            QVERIFY2(tabs->rect().contains(tabs->tabRect(i)),
                     qPrintable(QStringLiteral("%1 of %2").arg(tabs->tabText(i)).arg(tabs->width())));
    }

    void a_larger_text_of_the_users_is_that_of_the_filter_and_of_the_editor_too() {
        QFont user;
        user.setPixelSize(22);
        Theme::instance().setUserFont(user);
        Workspace workspace;
        MainWindow window(workspace);
        window.show();
        window.openPath(QString::fromStdString(project("larger", 1).string()));
        QTRY_VERIFY(!workspace.runs()->runs.empty());
        window.goTo("runs");
        window.goTo("compose");
        const int filter = window.findChild<QLineEdit*>("runsFilter")->font().pixelSize();
        const int editor = window.findChild<QPlainTextEdit*>("yamlEditor")->font().pixelSize(), table = Theme::tableFont().pixelSize();
        user.setPixelSize(12);
        Theme::instance().setUserFont(user);
        QVERIFY(table > 12);
        QCOMPARE(filter, table);
        QCOMPARE(editor, table);
    }

    void light_and_dark_differ_and_switch_while_running() {
        Workspace workspace;
        MainWindow window(workspace);
        window.show();
        const QColor before = window.grab().toImage().pixelColor(4, window.height() / 2);
        Theme::instance().setMode(Theme::Mode::dark);
        QTRY_VERIFY(window.grab().toImage().pixelColor(4, window.height() / 2) != before);
        Theme::instance().setMode(Theme::Mode::light);
    }
};

FACETER_TEST(TestWindow)
#include "test_window.moc"
