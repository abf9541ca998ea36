#include <QComboBox>
#include <QFileDialog>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QMessageBox>
#include <QPushButton>
#include <QSettings>
#include <QTableView>
#include <QTest>
#include <QTimer>

#include "desktop/router/router_project.h"
#include "desktop/support/sample_project.h"
#include "desktop/support/save_dialog.h"
#include "figure/figure_view.h"
#include "pages/router/gates_view.h"
#include "pages/router/router_page.h"
#include "widgets/labels.h"

using namespace faceter;
using namespace faceter::desktop;
using namespace faceter::testing;

namespace {

constexpr int patience_ms = 120000;

struct Opened {
    Workspace workspace;
    std::unique_ptr<RouterPage> page;
    bool opened = false;
    explicit Opened(const fs::path& project) {
        opened = open_and_wait(workspace, project);
        page = std::make_unique<RouterPage>(workspace);
        page->resize(1000, 700);
        page->show();
        page->activateWindow();
        opened = opened && QTest::qWaitForWindowActive(page.get()) && ready();
    }
    bool ready() const {
        return QTest::qWaitFor([&] { return page->isReady() && workspace.session()->isIdle(); }, patience_ms);
    }
    template <typename Widget>
    Widget* find(const char* name) const {
        return page->findChild<Widget*>(QString::fromLatin1(name));
    }
    /// By keys, as a person without a mouse would.
    void choose(RouterPage::View view) const {
        auto* box = find<QComboBox>("routerView");
        box->setFocus();
        QTest::keyClick(box, Qt::Key_Home);
        for (int i = 0; i < static_cast<int>(view); ++i) QTest::keyClick(box, Qt::Key_Down);
    }
    QString cell(const char* table, int row, int column) const {
        return find<QTableView>(table)->model()->index(row, column).data().toString();
    }
    /// Errors of the page and of its live views.
    QString errors() const {
        QStringList all;
        for (const ErrorBar* bar : page->findChildren<ErrorBar*>()) all << bar->message();
        return all.join(QString());
    }
};

}  // namespace

/// Page Router, with the real worker on a tiny trained run.
class TestRouterPage : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;
    fs::path project_;

  private Q_SLOTS:
    void initTestCase() {
        NEED_SHARED();
        const std::string problem = make_router_project(folder_.path());
        QVERIFY2(problem.empty(), problem.c_str());
        project_ = folder_.path() / "project";
    }
    void init() { QSettings().clear(); }

    void the_study_is_shown_by_view() {
        NEED_SHARED();
        Opened on(project_);
        QVERIFY(on.opened);
        QVERIFY(on.find<FigureView>("router:router_best_gate")->isVisible() &&
                on.find<FigureView>("router:router_routed_gate")->hasValues());
        QCOMPARE(on.find<QTableView>("routerTable:router_agreement")->model()->rowCount(), 3);
        on.choose(RouterPage::View::scores);
        QVERIFY(on.find<FigureView>("router:router_gate_count")->isVisible());
        QVERIFY(on.find<FigureView>("router:router_clusters")->hasValues());
        QVERIFY(!on.find<FigureView>("router:router_training_size")->isVisible());  // no gates of other sizes
        on.choose(RouterPage::View::maps);
        QVERIFY(on.find<FigureView>("router:router_query_map")->hasValues());
        auto* menu = on.find<QMenu>("routerExportMenu");
        Q_EMIT menu->aboutToShow();
        QVERIFY(menu->actions().size() >= 2);
        RouterPage again(on.workspace);
        again.restore(on.page->state());
        QCOMPARE(again.view(), RouterPage::View::maps);
    }

    void a_typed_query_is_routed_and_explained() {
        NEED_SHARED();
        Opened on(project_);
        QVERIFY(on.opened);
        on.choose(RouterPage::View::query);
        auto* text = on.find<QLineEdit>("routerText");
        text->setFocus();
        QTest::keyClicks(text, QStringLiteral("a song of the guitar"));
        QTest::keyClick(text, Qt::Key_Return);
        QVERIFY(on.ready());
        QVERIFY2(on.errors().isEmpty(), qPrintable(on.errors()));
        const QString best = on.cell("routerValues", 0, 0), next = on.cell("routerValues", 1, 0);
        const QString status = on.find<QLabel>("routerTextStatus")->text();
        QVERIFY2(status.contains(QStringLiteral("gate %1; the next would have been %2").arg(best, next)), qPrintable(status));
        QVERIFY(on.cell("routerNearest", 0, 2).toDouble() >= on.cell("routerNearest", 1, 2).toDouble());
        const Figure& map = on.find<FigureView>("routerPilots")->figure();
        QCOMPARE(map.series.back().name, std::string("the text"));
        std::size_t pilots = 0;
        for (std::size_t s = 0; s + 1 < map.series.size(); ++s) pilots += map.series[s].x.size();
        QCOMPARE(static_cast<int>(pilots), on.find<QTableView>("routerNearest")->model()->rowCount());
    }

    void pilots_stay_where_they_are_whatever_the_text() {
        NEED_SHARED();
        Opened on(project_);
        QVERIFY(on.opened);
        on.choose(RouterPage::View::query);
        std::vector<double> first;
        for (const char* query : {"salt", "the lake"}) {
            auto* text = on.find<QLineEdit>("routerText");
            text->setText(QLatin1String(query));
            QTest::mouseClick(on.find<QPushButton>("routerTextAsk"), Qt::LeftButton);
            QVERIFY(on.ready());
            const Figure& map = on.find<FigureView>("routerPilots")->figure();
            if (first.empty()) first = map.series.front().x;
            QCOMPARE(map.series.front().x, first);
        }
    }

    void a_gate_is_removed_and_added_again() {
        NEED_SHARED();
        Opened on(project_);
        QVERIFY(on.opened);
        on.choose(RouterPage::View::list);
        QVERIFY(on.ready());
        auto* table = on.find<QTableView>("routerGateList");
        const int before = table->model()->rowCount();
        QVERIFY(before >= 3);
        QVERIFY(!on.find<QPushButton>("routerRemoveGate")->isEnabled());
        table->setFocus();
        QTest::keyClick(table, Qt::Key_Down);
        QTRY_VERIFY(on.find<QPushButton>("routerRemoveGate")->isEnabled());
        const QString chosen = on.cell("routerGateList", table->currentIndex().row(), 0);
        QTest::mouseClick(on.find<QPushButton>("routerRemoveGate"), Qt::LeftButton);
        auto* box = on.page->findChild<QMessageBox*>();
        QVERIFY(box && box->text().contains(chosen));
        QTest::mouseClick(box->button(QMessageBox::Yes), Qt::LeftButton);
        QVERIFY(on.ready());
        QVERIFY2(on.errors().isEmpty(), qPrintable(on.errors()));
        QTRY_COMPARE(table->model()->rowCount(), before - 1);
        const QString done = on.find<QLabel>("routerGatesStatus")->text();
        const fs::path removed = done.mid(done.indexOf(QStringLiteral("lies in ")) + 8).toStdString();
        QVERIFY2(fs::is_directory(removed), qPrintable(done));
        auto* add = on.find<QPushButton>("routerAddGate");
        answer_save_dialog(QString::fromStdString(removed.string()));
        QTest::mouseClick(add, Qt::LeftButton);
        QVERIFY(on.ready());
        QVERIFY2(on.errors().isEmpty(), qPrintable(on.errors()));
        QTRY_COMPARE(table->model()->rowCount(), before);
        const fs::path empty = folder_.path() / "no-gate";
        make_directories(empty);
        answer_save_dialog(QString::fromStdString(empty.string()));
        QTest::mouseClick(add, Qt::LeftButton);
        QVERIFY(on.ready());
        QVERIFY2(on.errors().contains(QStringLiteral("no-gate")), qPrintable(on.errors()));
    }

    void a_gate_is_not_added_to_a_run_that_came_while_its_folder_was_chosen() {
        const TemporaryDirectory folder;
        RouterRun asked, other;
        asked.request.isDone = other.request.isDone = true;
        asked.folder = (folder.path() / "asked").string();
        other.folder = (folder.path() / "other").string();
        GatesView gates;  // hidden: it asks no worker for what it would show
        gates.setRun(&asked);
        QTimer person;
        connect(&person, &QTimer::timeout, this, [&] {
            auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
            if (!dialog) return;
            person.stop();
            gates.setRun(&other);  // as when the run in front is deleted
            auto* edit = dialog->findChild<QLineEdit*>(QStringLiteral("fileNameEdit"));
            edit->setText(QString::fromStdString(folder.path().string()));
            QTest::keyClick(edit, Qt::Key_Return);
        });
        person.start(20);
        gates.findChild<QPushButton*>("routerAddGate")->click();
        QVERIFY(!gates.isBusy());
        QVERIFY(gates.findChild<ErrorBar*>()->message().contains(QStringLiteral("another run")));
    }

    void what_a_study_lacks_is_said_by_view_and_by_whether_there_is_a_model() {
        TemporaryDirectory folder;
        make_directories(folder.path());
        RunInfo info;
        info.id = info.name = "elsewhere-RR-1";
        info.experiment = "elsewhere", info.variant = "RR", info.method = "imported", info.created = "2026-11-21T07:00:00Z";
        info.settings = {{"variant", {{"method", "router_retriever"}}}};
        const RunDirectory run = RunDirectory::create_imported(folder.path(), info, "name: elsewhere\n");
        Table table;
        table.name = "router_agreement";
        table.add_column("set", ColumnKind::text);
        table.add_row({Cell::of("nature")});
        run.write_table(table.name, table.to_json());
        write_attempt(run, 1, 3, "finished");
        Opened on(folder.path());
        QVERIFY(on.opened);
        const auto said = [&on] {
            QStringList texts;
            for (const QLabel* label : on.page->findChild<EmptyState*>()->findChildren<QLabel*>()) texts << label->text();
            return texts.join(QLatin1Char(' '));
        };
        on.choose(RouterPage::View::scores);
        QVERIFY(on.page->findChild<EmptyState*>()->isVisible());
        QVERIFY2(said().contains(QStringLiteral("has nothing for this view")) && said().contains(QStringLiteral("number of gates")) &&
                     said().contains(QStringLiteral("results alone")),
                 qPrintable(said()));
        on.choose(RouterPage::View::maps);
        QVERIFY2(said().contains(QStringLiteral("none of the study's maps")), qPrintable(said()));
        QVERIFY(on.find<QLabel>("routerGatesStatus")->text().contains(QStringLiteral("results alone")));
    }

    void runs_without_a_router_say_what_would_be_here() {
        TemporaryDirectory folder;
        make_sample_project(folder.path(), 3);
        Opened on(folder.path());
        QVERIFY(on.opened);
        QVERIFY(on.find<QPushButton>("emptyStateButton")->isVisible());
    }
};

FACETER_TEST(TestRouterPage)
#include "test_router_page.moc"
