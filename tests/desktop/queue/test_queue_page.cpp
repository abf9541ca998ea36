#include <QDropEvent>
#include <QLabel>
#include <QMimeData>
#include <QPushButton>
#include <QSettings>
#include <QTableView>
#include <QTest>
#include <csignal>

#include "actions/run_actions.h"
#include "desktop/support/sample_project.h"
#include "launch/forecast.h"
#include "launch/queue_order.h"
#include "pages/queue/queue_data.h"
#include "pages/queue/queue_model.h"
#include "pages/queue/queue_page.h"
#include "record/launch.h"
#include "support/test.h"
#include "theme/theme.h"
#include "widgets/data_table.h"
#include "widgets/labels.h"
#include "window/main_window.h"
#include "window/screenshot.h"

using namespace faceter;
using namespace faceter::desktop;
using namespace faceter::testing;

namespace {

constexpr int patience_ms = 60000;

/// A worker that copies a journal of a run under way, then waits to be told to stop.
const char* const waiting_worker = R"sh(#!/bin/sh
here=$(dirname "$0")
mkdir -p "$2/journal/$FACETER_ATTEMPT"
trap 'cp "$here/stopped.jsonl" "$2/journal/$FACETER_ATTEMPT/rank-0.jsonl"; exit 6' TERM
cp "$here/running.jsonl" "$2/journal/$FACETER_ATTEMPT/rank-0.jsonl"
while :; do sleep 0.02; done
)sh";

void record(const fs::path& folder, const std::string& name, const std::string& ending) {
    const TemporaryDirectory project;
    const RunDirectory run = sample_run(project.path());
    write_attempt(run, 1, 40, ending);
    write_file_atomic(folder / name, read_file(run.attempt_journal(1)));
}

/// Four runs in a queue of one at a time whose supervisor really runs, one that waits elsewhere, and one that failed.
struct Opened {
    TemporaryDirectory folder;
    std::vector<std::string> queued;
    Workspace workspace;
    std::unique_ptr<QueuePage> page;
    bool opened = false;

    Opened() {
        const fs::path worker = folder.path() / "worker";
        make_directories(worker);
        record(worker, "running.jsonl", "");
        record(worker, "stopped.jsonl", "stopped");
        write_file_atomic(worker / "worker", waiting_worker);
        fs::permissions(worker / "worker", fs::perms::owner_all);
        qputenv("FACETER_WORKER", (worker / "worker").c_str());
        makeRuns();
        opened = open_and_wait(workspace, project());
        page = std::make_unique<QueuePage>(workspace);
        page->resize(1000, 600);
        page->show();
        opened = opened && until([&] { return textOf(0, QueueModel::state) == QStringLiteral("running") && table()->rowCount() == 6; });
    }
    ~Opened() {
        for (const QueueState& state : live_queues(Project(project(), false))) {
            for (const fs::path& run : state.queue.runs) RunDirectory(run).request("stop");
            set_paused(state.queue, false);
        }
        until([&] { return live_queues(Project(project(), false)).empty(); });
        page.reset();
        workspace.closeProject();
        qunsetenv("FACETER_WORKER");
    }
    fs::path project() const { return folder.path() / "project"; }
    void makeRuns() {
        const Project made(project(), true);
        const Experiment experiment = parse_sample();
        std::vector<RunDirectory> runs;
        for (std::size_t i = 0; i < 6; ++i)
            runs.push_back(RunDirectory::create(project(), experiment, experiment.runs()[i % experiment.runs().size()], false));
        write_attempt(runs[5], 1, 30, "failed");
        write_launch(runs[4], {"slurm", "cluster", "12_0", project() / "jobs/j"});
        write_job(runs[4], {"12_0", "PENDING", "Priority", "", 0});
        runs.erase(runs.begin() + 4, runs.end());
        write_forecast(runs[1], {600, 1.5});
        for (const RunDirectory& run : runs) queued.push_back(run.info().id);
        start_supervisor(Queue::create(made, runs, 1), runs);
    }
    template <typename Condition>
    bool until(Condition condition) const {
        return QTest::qWaitFor(condition, patience_ms);
    }
    QueueModel* table() const { return page->findChild<QueueModel*>(); }
    QTableView* view() const { return page->findChild<QTableView*>(QStringLiteral("queueTable")); }
    QPushButton* button(const char* name) const { return page->findChild<QPushButton*>(QString::fromLatin1(name)); }
    QString textOf(int row, int column) const { return table()->index(row, column).data().toString(); }
    QString idOf(int row) const { return table()->row(row) ? qs(table()->row(row)->run.info.id) : QString(); }
    void choose(const std::string& run) const {
        view()->setFocus();
        view()->selectRow(table()->rowOf(qs(run)));
    }
};

}  // namespace

class TestQueuePage : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void init() { QSettings().clear(); }

    void what_runs_waits_and_is_elsewhere_stands_in_its_order() {
        Opened on;
        QVERIFY(on.opened);
        QCOMPARE(on.idOf(0), qs(on.queued[0]));
        for (int place = 1; place <= 3; ++place) {
            QCOMPARE(on.idOf(place), qs(on.queued[static_cast<std::size_t>(place)]));
            QCOMPARE(on.textOf(place, QueueModel::place), QString::number(place));
            QCOMPARE(on.textOf(place, QueueModel::state), QStringLiteral("waiting"));
        }
        QCOMPARE(on.textOf(1, QueueModel::memory), QStringLiteral("forecast 1.50 GiB"));
        QVERIFY(on.textOf(1, QueueModel::left).startsWith(QStringLiteral("forecast 10 min")));
        QCOMPARE(on.textOf(4, QueueModel::where), QStringLiteral("cluster"));
        QCOMPARE(on.textOf(5, QueueModel::state), QStringLiteral("failed"));
        QCOMPARE(on.page->findChild<QLabel*>(QStringLiteral("queueSummary"))->text(),
                 QStringLiteral("1 running · 3 waiting · 1 elsewhere · 1 that could go on"));
    }

    void an_archived_run_is_left_out_once_it_is_over() {
        Opened on;
        QVERIFY(on.opened);
        const QString running = on.idOf(0), failed = on.idOf(5);
        for (const QString& run : {running, failed})
            RunDirectory(on.project() / "runs" / run.toStdString()).append_user_event({{"archived", true}});
        on.workspace.session()->refresh();
        QVERIFY(on.until([&] { return on.table()->rowOf(failed) < 0; }));
        QCOMPARE(on.table()->rowOf(running), 0);
    }

    void a_sweeps_runs_keep_their_values_and_seed_in_sight() {
        auto data = std::make_shared<QueueData>();
        data->rows.resize(1);
        RunInfo& info = data->rows.front().run.info;
        info.variant = info.name = "EM";
        info.point = "training.learning_rate=1e-05,training.batch_size=32";
        info.seed = 2;
        QueueModel model;
        model.setData(data);
        const QModelIndex cell = model.index(0, QueueModel::run);
        QCOMPARE(cell.data().toString(), QString::fromUtf8("EM · lr=1e-05,bs=32 · seed 2"));
        QVERIFY(cell.data(Qt::ToolTipRole).toString().contains(QStringLiteral("training.batch_size=32 · seed 2")));
    }

    void runs_are_moved_by_keys_and_buttons_and_start_in_that_order() {
        Opened on;
        QVERIFY(on.opened);
        on.choose(on.queued[3]);
        QTest::keyClick(on.view(), Qt::Key_Up, Qt::AltModifier);
        QVERIFY(on.until([&] { return on.idOf(2) == qs(on.queued[3]); }));
        QTest::mouseClick(on.button("queueEarlier"), Qt::LeftButton);
        QVERIFY(on.until([&] { return on.idOf(1) == qs(on.queued[3]); }));
        on.choose(on.queued[0]);
        QTest::mouseClick(on.button("queueStop"), Qt::LeftButton);
        QVERIFY(on.until([&] { return on.idOf(0) == qs(on.queued[3]) && on.textOf(0, QueueModel::state) == QStringLiteral("running"); }));
    }

    void a_run_that_waits_is_dragged_to_another_place() {
        Opened on;
        QVERIFY(on.opened);
        const std::unique_ptr<QMimeData> data(on.table()->mimeData({on.table()->index(1, 0)}));
        on.table()->dropMimeData(data.get(), Qt::MoveAction, 4, 0, {});  // behind the last that waits
        QVERIFY(on.until([&] { return on.idOf(3) == qs(on.queued[1]); }));
        QCOMPARE(on.idOf(1), qs(on.queued[2]));
        QVERIFY(!(on.table()->flags(on.table()->index(0, 0)) & Qt::ItemIsDragEnabled));  // it runs
    }

    void the_last_that_waits_starts_no_later() {
        Opened on;
        QVERIFY(on.opened);
        on.choose(on.queued[3]);
        QVERIFY(on.button("queueEarlier")->isEnabled() && !on.button("queueLater")->isEnabled());
        on.choose(on.queued[1]);
        QVERIFY(!on.button("queueEarlier")->isEnabled() && on.button("queueLater")->isEnabled());
    }

    void a_place_is_among_those_that_wait_in_the_same_queue() {
        auto data = std::make_shared<QueueData>();
        for (int i = 0; i < 5; ++i) {  // A1 B1 A2 B2 A3
            QueueRow row;
            row.kind = QueueRow::Kind::waiting;
            row.run.info.id = fmt::format("run-{}", i);
            row.queue = i % 2 ? "B" : "A";
            row.place = i / 2 + 1;
            data->rows.push_back(std::move(row));
        }
        QueueModel model;
        model.setData(data);
        int place = -1;
        connect(&model, &QueueModel::moveAsked, this, [&](const QString&, int to) { place = to; });
        const std::unique_ptr<QMimeData> last(model.mimeData({model.index(4, 0)}));
        model.dropMimeData(last.get(), Qt::MoveAction, 2, 0, {});  // between B1 and A2
        QCOMPARE(place, 1);
    }

    void a_paused_queue_starts_nothing_until_it_goes_on() {
        Opened on;
        QVERIFY(on.opened);
        QTest::mouseClick(on.button("queuePause"), Qt::LeftButton);
        QVERIFY(on.until([&] { return on.textOf(1, QueueModel::state) == QStringLiteral("paused"); }));
        QCOMPARE(on.button("queuePause")->text(), QStringLiteral("Continue"));
        on.choose(on.queued[0]);
        QTest::mouseClick(on.button("queueStop"), Qt::LeftButton);
        QVERIFY(on.until([&] { return on.textOf(0, QueueModel::state) == QStringLiteral("paused"); }));  // nothing runs
        // One that waits is cancelled: it leaves, although nothing starts.
        on.choose(on.queued[1]);
        QCOMPARE(on.button("queueStop")->text(), QStringLiteral("Cancel"));
        QTest::mouseClick(on.button("queueStop"), Qt::LeftButton);
        QVERIFY(on.until([&] { return on.idOf(0) == qs(on.queued[2]); }));
        QCOMPARE(on.textOf(0, QueueModel::state), QStringLiteral("paused"));
        QTest::mouseClick(on.button("queuePause"), Qt::LeftButton);
        QVERIFY(on.until([&] { return on.textOf(0, QueueModel::state) == QStringLiteral("running"); }));
        QCOMPARE(on.idOf(0), qs(on.queued[2]));
    }

    void a_stopped_run_is_resumed() {
        Opened on;
        QVERIFY(on.opened);
        on.choose(on.queued[0]);
        QVERIFY(!on.button("queueResume")->isEnabled());
        QTest::mouseClick(on.button("queueStop"), Qt::LeftButton);
        QVERIFY(on.until([&] { return on.textOf(on.table()->rowOf(qs(on.queued[0])), QueueModel::state) == QStringLiteral("stopped"); }));
        on.choose(on.queued[0]);
        QVERIFY(on.button("queueResume")->isEnabled());
        QTest::mouseClick(on.button("queueResume"), Qt::LeftButton);
        QVERIFY(on.until([&] { return on.textOf(on.table()->rowOf(qs(on.queued[0])), QueueModel::state) != QStringLiteral("stopped"); }));
    }

    void an_import_that_was_cut_short_is_not_offered_to_go_on() {
        const TemporaryDirectory folder;
        write_attempt(sample_run(folder.path()), 1, 2, "failed");
        Store store(folder.path());
        store.ingest_all();
        RunRow run = store.runs().at(0);
        QVERIFY(isResumable(run));
        QCOMPARE(loadQueue(store, folder.path(), {run})->rows.size(), std::size_t{1});
        run.info.method = "imported";
        QVERIFY(!isResumable(run));
        QVERIFY(loadQueue(store, folder.path(), {run})->rows.empty());
    }

    void columns_get_as_wide_as_what_comes_later_and_leave_those_that_were_dragged() {
        Opened on;
        QVERIFY(on.opened);
        auto* view = qobject_cast<DataTable*>(on.view());
        const auto cut = [&] {
            QStringList texts;
            const QFontMetrics metrics(view->font());
            for (int row = 0; row < on.table()->rowCount(); ++row)
                for (int column = 0; column < on.table()->columnCount() - 1; ++column)  // the last has what is left
                    if (std::min(metrics.horizontalAdvance(on.textOf(row, column)) + 20, 300) > view->columnWidth(column))
                        texts << on.textOf(row, column);
            return texts;
        };
        QTRY_COMPARE(cut(), QStringList());
        QueueModel model;
        auto data = std::make_shared<QueueData>();
        data->rows.resize(1);
        data->rows.front().kind = QueueRow::Kind::waiting;
        model.setData(data);
        DataTable table;
        table.setModel(&model);
        table.fitColumns(300, true);
        table.setColumnWidth(QueueModel::rate, 40);
        const int before = table.columnWidth(QueueModel::progress);
        auto later = std::make_shared<QueueData>(*data);
        QueueRow& row = later->rows.front();
        row.kind = QueueRow::Kind::running;
        row.run.state.phase = RunPhase::running;
        row.run.state.step = 123456;
        row.run.state.total_steps = 1234567;
        row.run.state.steps_per_s = 12.5;
        model.setData(later);
        table.widenColumns(300);
        QVERIFY(table.columnWidth(QueueModel::progress) > before);
        QCOMPARE(table.columnWidth(QueueModel::rate), 40);
        on.choose(on.queued[0]);
        QTest::mouseClick(on.button("queueStop"), Qt::LeftButton);
        QVERIFY(on.until([&] { return on.textOf(on.table()->rowOf(qs(on.queued[0])), QueueModel::state) == QStringLiteral("stopped"); }));
        QTRY_COMPARE(cut(), QStringList());
    }

    void a_launch_says_what_it_does_and_since_when() {
        Opened on;
        QVERIFY(on.opened);
        on.workspace.actions().launch(std::make_shared<const Experiment>(parse_sample()), false,
                                      {QStringLiteral("no-such-profile"), 1, 1, {}});
        const auto* launches = on.page->findChild<QLabel*>(QStringLiteral("queueLaunches"));
        QVERIFY(launches->isVisible());
        QVERIFY2(launches->text().contains(QStringLiteral("runs through no-such-profile … 0")), qPrintable(launches->text()));
        QVERIFY(on.until([&] { return !launches->isVisible(); }));
    }

    void of_many_that_could_go_on_the_newest_stand_here_and_all_are_counted() {
        TemporaryDirectory project;
        const Experiment experiment = parse_sample();
        for (int i = 0; i < 53; ++i)
            write_attempt(RunDirectory::create(project.path(), experiment, experiment.runs()[1], false), 1, 2, "failed");
        Workspace workspace;
        QVERIFY(open_and_wait(workspace, project.path()));
        QTRY_COMPARE(workspace.runs()->runs.size(), std::size_t{53});
        QueuePage page(workspace);
        page.resize(1000, 600);
        page.show();
        QTRY_COMPARE(page.findChild<QueueModel*>()->rowCount(), 50);
        QCOMPARE(page.findChild<QLabel*>(QStringLiteral("queueSummary"))->text(),
                 QStringLiteral("0 running · 0 waiting · 0 elsewhere · 53 that could go on, "
                                "of which the newest 50 stand here: page Runs has all"));
    }

    void a_project_without_runs_says_what_would_be_here() {
        Opened on;
        QVERIFY(on.opened);
        TemporaryDirectory empty;
        make_directories(empty.path() / "runs");
        on.workspace.openProject(empty.path());
        QCOMPARE(on.table()->rowCount(), 0);
        QVERIFY(on.until([&] { return on.page->isReady() && on.page->findChild<EmptyState*>()->isVisible(); }));
        QVERIFY(!on.button("queueStop")->isEnabled() && !on.button("queuePause")->isVisible());
    }

    void pictures_to_look_at() {
        const QString folder = qEnvironmentVariable("FACETER_PICTURES");
        if (folder.isEmpty()) QSKIP("FACETER_PICTURES names no folder");
        Opened on;
        QVERIFY(on.opened);
        for (const bool dark : {false, true}) {
            Theme::instance().setMode(dark ? Theme::Mode::dark : Theme::Mode::light);
            Workspace workspace;
            MainWindow window(workspace);
            window.resize(1280, 800);
            window.show();
            window.openPath(QString::fromStdString(on.project().string()));
            QTRY_VERIFY(!workspace.runs()->runs.empty());
            QString error;
            const QString file = QStringLiteral("%1/queue-%2.png").arg(folder, dark ? QStringLiteral("dark") : QStringLiteral("light"));
            QVERIFY2(takeScreenshot(window, QStringLiteral("queue"), file, error), qPrintable(error));
        }
        Theme::instance().setMode(Theme::Mode::light);
    }
};

FACETER_TEST(TestQueuePage)
#include "test_queue_page.moc"
