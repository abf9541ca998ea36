#include <QLabel>
#include <QPlainTextEdit>
#include <QPointer>
#include <QPushButton>
#include <QSemaphore>
#include <QSettings>
#include <QTableView>
#include <QTest>

#include "desktop/support/sample_project.h"
#include "pages/compare/compare_page.h"
#include "pages/curves/curve_panel.h"
#include "pages/page.h"
#include "support/test.h"
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
    static void loadStore(ProjectSession& session) {
        for (int i = 0; i < 300; ++i) session.query([](Store& store) { store.runs(); });
    }

  private Q_SLOTS:
    void initTestCase() {
        first_ = project("first", 99);
        second_ = project("second", 3);
        empty_ = project("empty", 0);
    }
    void init() { QSettings().clear(); }

    void no_page_waits_for_ever_data() {
        QTest::addColumn<QString>("page");
        for (const PageEntry& entry : pageEntries())
            if (entry.needsProject) QTest::addRow("%s", qPrintable(entry.id)) << entry.id;
    }
    void no_page_waits_for_ever() {
        QFETCH(QString, page);
        Workspace workspace;
        MainWindow window(workspace);
        window.show();
        window.openPath(first_);
        QVERIFY(window.goTo(page));
        QTRY_VERIFY_WITH_TIMEOUT(window.page(page)->isReady(), patience_ms);
        for (const QString& other : {second_, first_, empty_, second_, first_}) {
            loadStore(*workspace.session());  // what the page asks stands behind it
            workspace.session()->refresh();
            for (const RunGroupRef& group : workspace.groups()) workspace.setShown(group.key, !workspace.isShown(group.key));
            QVERIFY(window.openPath(other));
        }
        QTRY_VERIFY_WITH_TIMEOUT(!workspace.runs()->runs.empty() && window.page(page)->isReady(), patience_ms);
        QCOMPARE(workspace.groups().size(), std::size_t(3));
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
};

FACETER_TEST(TestSwitching)
#include "test_switching.moc"
