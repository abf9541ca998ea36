#include <QComboBox>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QScopeGuard>
#include <QScrollArea>
#include <QScrollBar>
#include <QSettings>
#include <QTableView>
#include <QTest>
#include <QWheelEvent>

#include "desktop/support/sample_project.h"
#include "desktop/support/save_dialog.h"
#include "figure/figure_view.h"
#include "pages/curriculum/batch_examples.h"
#include "pages/curriculum/batch_strip.h"
#include "pages/curriculum/curriculum_page.h"
#include "pages/curriculum/tour_ring.h"
#include "support/test.h"
#include "theme/theme.h"
#include "widgets/labels.h"
#include "window/main_window.h"
#include "window/screenshot.h"
#include "worker/worker_client.h"
#include "worker/worker_query.h"

using namespace faceter;
using namespace faceter::desktop;
using namespace faceter::testing;

namespace {

constexpr int patience_ms = 30000, num_steps = 120;
const std::vector<std::string> tasks{"retrieval", "clustering", "<b>sts & 1", "reranking", "classification"};

Figure heat_map() {
    Figure figure;
    figure.kind = FigureKind::heat_map;
    figure.name = "data_cube_similarity";
    figure.title = "Similarity of tasks in the order of the tour";
    figure.heat_map.rows = figure.heat_map.columns = tasks;
    for (std::size_t i = 0; i < tasks.size(); ++i)
        for (std::size_t j = 0; j < tasks.size(); ++j)
            figure.heat_map.values.push_back(i == j ? 1 : 0.9 - 0.1 * static_cast<double>(i + j) / 2);
    return figure;
}

Figure line(const std::string& name, const std::string& title) {
    Figure figure;
    figure.name = name;
    figure.title = title;
    figure.x.label = "swaps tried";
    figure.y.label = "sum of neighbouring similarities";
    Series series;
    series.name = "chain 1";
    for (int i = 0; i < 50; ++i) series.x.push_back(100.0 * i), series.y.push_back(4 - 2.0 / (i + 1));
    figure.series.push_back(series);
    return figure;
}

Table plan() {
    Table table;
    table.name = "data_cube_plan";
    table.caption = "Plan 0123456789ab: tasks in the order of the tour";
    table.add_column("task", ColumnKind::text);
    table.add_column("batches", ColumnKind::count);
    table.add_column("similarity to next", ColumnKind::number, 4);
    for (std::size_t i = 0; i < tasks.size(); ++i)
        table.add_row({Cell::of(tasks[i]), Cell::of(static_cast<double>(24 + i)), Cell::of(0.9 - 0.1 * static_cast<double>(i))});
    return table;
}

/// Steps of one task each, in rounds over the tour (data_cube), or of two at once (shuffled).
void train(const RunDirectory& run, bool mixed) {
    JournalWriter journal(run, run.begin_attempt(), {"", 0, Json::object(), 0});
    for (int step = 1; step <= num_steps; ++step) {
        Json fields{{"step", step}, {"total_steps", num_steps}, {"loss", 2.0 / step}};
        const auto place = static_cast<std::size_t>(step - 1) % tasks.size();
        fields["loss/" + tasks[place]] = 2.0 / step;
        if (mixed) fields["loss/" + tasks[(place + 2) % tasks.size()]] = 1.0 / step;
        journal.step(fields);
    }
    journal.event("finished", {{"step", num_steps}});
}

void make_project(const fs::path& project) {
    const Experiment experiment = parse_sample();
    for (const std::size_t i : {1U, 3U}) {  // EM with a curriculum, Mix without
        const RunDirectory run = RunDirectory::create(project, experiment, experiment.runs()[i], false);
        train(run, i == 3);
        if (i == 3) continue;
        run.write_figure("data_cube_similarity", heat_map().to_json());
        run.write_figure("data_cube_energy", line("data_cube_energy", "Simulated annealing").to_json());
        run.write_figure("data_cube_tour", line("data_cube_tour", "The tour against random orders").to_json());
        run.write_figure("data_cube_difficulty", line("data_cube_difficulty", "Difficulty of the training examples").to_json());
        run.write_table("data_cube_plan", plan().to_json());
        run.write_result("data_cube_report",
                         {{"plan", {{"hash", "0123456789abcdef"}, {"total", 3.5}, {"random_mean", 3.0}, {"random_std", 0.25}}}});
    }
}

/// In place of faceter-worker: `answer`, else two examples of a batch of "retrieval", whatever is asked.
void put_worker(const fs::path& folder, const std::string& answer = {}) {
    const char* script = R"SH(#!/bin/sh
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/^{"id":\([0-9]*\),.*/\1/p')
  printf '%s\n' "$line" >> "$0.log"
  one='{"set":"pairs","anchor":"<b>a query","positive":"a document","kept":true}'
  two='{"set":"pairs","anchor":"another","positive":"its document","kept":false}'
  echo '{"id":'$id',"result":{"step":1,"batches":[{"task":"retrieval","temperature":0.05,"examples":['$one','$two']}]}}'
done
)SH";
    std::string text = script;
    if (!answer.empty()) {
        const std::size_t begin = text.find("  echo '{"), end = text.find("\ndone");
        text.replace(begin, end - begin, "  echo '{\"id\":'$id',\"result\":" + answer + "}'");
    }
    write_file_atomic(folder / "worker", text);
    fs::permissions(folder / "worker", fs::perms::owner_all);
    qputenv("FACETER_WORKER", (folder / "worker").c_str());
    delete &WorkerClient::shared();  // one that an earlier test left goes on with its own answers
}

struct Opened {
    TemporaryDirectory folder;
    Workspace workspace;
    std::unique_ptr<CurriculumPage> page;
    explicit Opened() {
        make_project(folder.path());
        opened = open_and_wait(workspace, folder.path());
        page = std::make_unique<CurriculumPage>(workspace);
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
    void choose(CurriculumPage::View view) const {
        auto* box = find<QComboBox>("curriculumView");
        box->setFocus();
        QTest::keyClick(box, Qt::Key_Home);
        for (int i = 0; i < static_cast<int>(view); ++i) QTest::keyClick(box, Qt::Key_Down);
    }
    bool opened = false;
};

/// A run of two tasks that has not begun, on its page.
struct Unbegun {
    TemporaryDirectory folder;
    RunDirectory run = made(folder.path());
    Workspace workspace;
    std::unique_ptr<CurriculumPage> page;
    BatchStrip* strip = nullptr;
    bool opened = false;

    Unbegun() {
        opened = open_and_wait(workspace, folder.path());
        page = std::make_unique<CurriculumPage>(workspace);
        page->resize(800, 500);
        page->show();
        strip = page->findChild<BatchStrip*>();
        opened = opened && QTest::qWaitFor([&] { return page->isReady() && strip->isVisible(); }, patience_ms);
    }
    static RunDirectory made(const fs::path& project) {
        std::string text = sample_experiment();
        text.insert(text.find("variants:"),
                    "  other:\n    type: retrieval\n    train:\n      - {name: more, source: file, path: more.tsv, format: pairs}\n");
        const Experiment experiment = parse_sample(text);
        return RunDirectory::create(project, experiment, experiment.runs()[1], false);
    }
};

RunDirectory finished_run_of_one_task(const fs::path& project, int steps) {
    const Experiment experiment = parse_sample();
    RunDirectory run = RunDirectory::create(project, experiment, experiment.runs()[1], false);
    JournalWriter journal(run, run.begin_attempt(), {"", 0, Json::object(), 0});
    for (int step = 1; step <= steps; ++step)
        journal.step({{"step", step}, {"total_steps", steps}, {"loss", 1.0}, {"loss/retrieval", 1.0}});
    journal.event("finished", {{"step", steps}});
    return run;
}

}  // namespace

class TestCurriculum : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void init() { QSettings().clear(); }

    void the_tour_is_shown_as_a_ring_a_matrix_and_a_table() {
        Opened on;
        QVERIFY(on.opened);
        QVERIFY(on.find<QWidget>("curriculumRing")->isVisible());
        QVERIFY(on.find<FigureView>("curriculum:similarity")->isVisible() && on.find<FigureView>("curriculum:similarity")->hasValues());
        QVERIFY(on.find<FigureView>("curriculum:energy")->hasValues());
        QCOMPARE(on.find<QTableView>("curriculumTable:plan")->model()->rowCount(), static_cast<int>(tasks.size()));
        const QString summary = on.find<QLabel>("curriculumSubtitle")->text();
        QVERIFY2(summary.contains(QStringLiteral("plan 0123456789ab")) && summary.contains(QStringLiteral("2.0 standard deviations")),
                 qPrintable(summary));
    }

    void a_task_is_chosen_on_the_ring_by_mouse_and_keys_and_in_the_table() {
        Opened on;
        QVERIFY(on.opened);
        auto* ring = on.page->findChild<TourRing*>();
        auto* table = on.find<QTableView>("curriculumTable:plan");
        QTest::mouseClick(ring, Qt::LeftButton, {}, ring->placeOf(2).toPoint());
        QCOMPARE(ring->chosen(), 2);
        QCOMPARE(table->currentIndex().row(), 2);
        ring->setFocus();
        QTest::keyClick(ring, Qt::Key_Right);
        QCOMPARE(ring->chosen(), 3);
        QTest::keyClick(ring, Qt::Key_Left);
        QTest::keyClick(ring, Qt::Key_Left);
        QCOMPARE(table->currentIndex().row(), 1);
        QVERIFY(ring->accessibleDescription().startsWith(QStringLiteral("clustering\nthen <b>sts & 1")));
        table->setFocus();
        QTest::keyClick(table, Qt::Key_Down);
        QCOMPARE(ring->chosen(), 2);
    }

    void batches_are_zoomed_down_to_single_ones() {
        Opened on;
        QVERIFY(on.opened);
        on.choose(CurriculumPage::View::batches);
        auto* strip = on.page->findChild<BatchStrip*>();
        QTRY_VERIFY(strip->isVisible());
        QCOMPARE(strip->range(), std::make_pair(1.0, num_steps + 1.0));
        strip->setFocus();
        for (int i = 0; i < 20; ++i) QTest::keyClick(strip, Qt::Key_Plus);
        QCOMPARE(strip->range().second - strip->range().first, 8.0);  // no nearer than some batches
        QTest::keyClick(strip, Qt::Key_Home);
        QWheelEvent wheel(QPointF(0, 30), strip->mapToGlobal(QPointF(0, 30)), {}, {0, 120 * 20}, Qt::NoButton, {}, Qt::NoScrollPhase,
                          false);
        QApplication::sendEvent(strip, &wheel);
        QCOMPARE(strip->range(), std::make_pair(1.0, 9.0));
        // Eight steps over the width: step 3 is the third.
        const QPoint third(static_cast<int>(strip->width() * 2.5 / 8), 30);
        QVERIFY2(strip->textAt(third).startsWith(QStringLiteral("step 3 · <b>sts & 1, loss")), qPrintable(strip->textAt(third)));
        QCOMPARE(strip->sharesAt(0, third.x()).size(), std::size_t(1));
        QCOMPARE(strip->sharesAt(1, third.x()).size(), std::size_t(2));  // the other run's batches hold two tasks
        QTest::keyClick(strip, Qt::Key_Right);
        QVERIFY(strip->range().first > 1);
    }

    void the_examples_of_a_batch_are_asked_for_by_mouse_and_keys() {
        const TemporaryDirectory programs;
        put_worker(programs.path());
        Opened on;
        QVERIFY(on.opened);
        on.choose(CurriculumPage::View::batches);
        auto* strip = on.page->findChild<BatchStrip*>();
        QTRY_VERIFY(strip->isVisible());
        strip->setRange(1, 9);
        auto* table = on.find<QTableView>("batchExamples");
        auto* status = on.find<QLabel>("batchExamplesStatus");
        QVERIFY(!table->isVisible());
        QTest::mouseClick(strip, Qt::LeftButton, {}, QPoint(static_cast<int>(strip->width() * 0.5 / 8), 30));
        QTRY_VERIFY_WITH_TIMEOUT(table->isVisible(), patience_ms);
        QCOMPARE(table->model()->rowCount(), 2);
        QCOMPARE(table->model()->index(0, 1).data().toString(), QStringLiteral("<b>a query"));
        QVERIFY2(status->text().endsWith(QStringLiteral("step 1: 2 examples of retrieval")), qPrintable(status->text()));
        strip->setFocus();
        QTest::keyClick(strip, Qt::Key_Return);
        const int middle = 1 + 8 * (strip->width() / 2) / strip->width();  // of another task
        QTRY_VERIFY_WITH_TIMEOUT(status->text().contains(QStringLiteral("step %1: 2 examples").arg(middle)), patience_ms);
        QVERIFY2(status->text().contains(QStringLiteral("have changed since")), qPrintable(status->text()));
        QTest::keyClick(strip, Qt::Key_Down);
        QTest::keyClick(strip, Qt::Key_Return);
        QTRY_VERIFY_WITH_TIMEOUT(status->text().startsWith(QStringLiteral("Mix")) && on.page->isReady(), patience_ms);
        const std::string asked = read_file(programs.path() / "worker.log");
        QVERIFY2(asked.find("batch_examples") != std::string::npos && asked.find("-mix-") != std::string::npos, asked.c_str());
        on.workspace.closeProject();
        QVERIFY(!table->isVisible());
    }

    void arrow_keys_bring_the_strip_that_they_go_to_into_sight() {
        Opened on;
        QVERIFY(on.opened);
        on.choose(CurriculumPage::View::batches);
        auto* strip = on.page->findChild<BatchStrip*>();
        on.page->resize(700, 280);
        QScrollArea* area = nullptr;
        for (auto* one : on.page->findChildren<QScrollArea*>())
            if (one->isAncestorOf(strip)) area = one;
        QVERIFY(area);
        QTRY_VERIFY(strip->isVisible() && area->verticalScrollBar()->maximum() > 0);
        strip->setFocus();
        QTest::keyClick(strip, Qt::Key_Down);
        QCOMPARE(area->verticalScrollBar()->value(), area->verticalScrollBar()->maximum());  // the second of two
        QTest::keyClick(strip, Qt::Key_Up);
        QCOMPARE(area->verticalScrollBar()->value(), 0);
    }

    void a_tour_through_the_data_sets_of_a_task_names_none_of_them_at_the_strips() {
        TemporaryDirectory folder;
        const RunDirectory run = finished_run_of_one_task(folder.path(), 8);
        Table leaves = plan();
        for (Row& row : leaves.rows) row.cells.front() = Cell::of("leaf/" + row.cells.front().text);
        run.write_table("data_cube_plan", leaves.to_json());
        Workspace workspace;
        QVERIFY(open_and_wait(workspace, folder.path()));
        CurriculumPage page(workspace);
        page.resize(900, 600);
        page.show();
        page.findChild<QComboBox*>(QStringLiteral("curriculumView"))->setCurrentIndex(2);
        QTRY_VERIFY_WITH_TIMEOUT(page.isReady() && page.findChild<QLabel*>(QStringLiteral("curriculumWithinTasks")), patience_ms);
        QStringList names;
        for (const QLabel* label : page.findChild<QWidget*>(QStringLiteral("curriculumLegend"))->findChildren<QLabel*>())
            names << label->text();
        QVERIFY2(names.contains(QStringLiteral("retrieval")), qPrintable(names.join(QLatin1Char('\n'))));
        QVERIFY2(names.filter(QStringLiteral("leaf/")).isEmpty(), qPrintable(names.join(QLatin1Char('\n'))));
    }

    void a_point_of_a_sweep_stands_over_its_strip_with_short_keys() {
        const auto runs = std::make_shared<std::vector<CurriculumRun>>(1);
        runs->front().request.label = "EM · training.learning_rate=1e-05,training.batch_size=32 · seed 1";
        runs->front().isUnbegun = true;
        BatchStrip strip;
        strip.resize(900, 100);
        strip.setRuns(runs, {});
        QCOMPARE(strip.nameOf(0), QStringLiteral("EM · lr=1e-05,bs=32 · seed 1"));
        QCOMPARE(strip.textAt({50, 5}), QString::fromStdString(runs->front().request.label));  // at the pointer it is whole
    }

    void a_task_may_have_the_sign_of_a_later_stage_in_its_name() {
        TemporaryDirectory folder;
        const RunDirectory run = sample_run(folder.path(), 3);
        {
            JournalWriter journal(run, run.begin_attempt(), {"", 0, Json::object(), 0});
            for (int step = 1; step <= 4; ++step)
                journal.step({{"step", step}, {"total_steps", 4}, {"loss", 1.0}, {step % 2 ? "loss/user@host" : "loss/retrieval", 1.0}});
            for (int step = 1; step <= 9; ++step)
                journal.step({{"step", step}, {"total_steps", 9}, {"loss", 1.0}, {"loss/retrieval", 1.0}, {"stage", 1}});
            journal.event("finished", {{"step", 9}});
        }
        Workspace workspace;
        QVERIFY(open_and_wait(workspace, folder.path()));
        CurriculumPage page(workspace);
        page.resize(800, 500);
        page.show();
        const auto* strip = page.findChild<BatchStrip*>();
        QTRY_VERIFY_WITH_TIMEOUT(page.isReady() && strip->isVisible(), patience_ms);
        QCOMPARE(strip->range(), std::make_pair(1.0, 5.0));  // of the first stage alone
        QVERIFY2(strip->textAt({5, 30}).startsWith(QStringLiteral("step 1 · user@host, loss")), qPrintable(strip->textAt({5, 30})));
    }

    void the_order_of_a_run_that_has_not_begun_is_planned_by_the_worker() {
        const TemporaryDirectory programs;
        put_worker(programs.path(), R"({"tasks":["retrieval","other"],"steps":[[0],[1],[0,1]]})");
        Unbegun on;
        QVERIFY(on.opened);
        BatchStrip* strip = on.strip;
        QVERIFY2(strip->textAt({50, 30}).startsWith(QStringLiteral("not begun")), qPrintable(strip->textAt({50, 30})));
        QTest::mouseClick(strip, Qt::LeftButton, {}, {50, 30});
        QTRY_COMPARE_WITH_TIMEOUT(strip->range(), std::make_pair(1.0, 4.0), patience_ms);
        const int width = strip->width();
        QCOMPARE(strip->textAt({width / 6, 30}), QStringLiteral("step 1 · retrieval, planned"));
        QCOMPARE(strip->sharesAt(0, width * 5 / 6).size(), std::size_t(2));
        const std::string asked = read_file(programs.path() / "worker.log");
        QVERIFY2(asked.find("planned_order") != std::string::npos && asked.find(on.run.info().id) != std::string::npos, asked.c_str());
    }

    void the_order_of_data_sets_within_a_task_is_drawn_again_where_the_run_keeps_a_plan() {
        const TemporaryDirectory programs, folder;
        put_worker(programs.path(), R"({"tasks":["web","mail"],"steps":[[0],[1]]})");
        const RunDirectory run = finished_run_of_one_task(folder.path(), 2);
        make_directories(run.folder() / "curriculum");
        write_file_atomic(run.folder() / "curriculum" / "train.plan", "a plan");
        Workspace workspace;
        QVERIFY(open_and_wait(workspace, folder.path()));
        CurriculumPage page(workspace);
        page.resize(900, 600);
        page.show();
        page.findChild<QComboBox*>(QStringLiteral("curriculumView"))->setCurrentIndex(2);
        auto* strip = page.findChild<BatchStrip*>();
        QTRY_VERIFY_WITH_TIMEOUT(page.isReady() && strip->isVisible(), patience_ms);
        QVERIFY2(strip->textAt({50, 30}).contains(QStringLiteral("by data set")), qPrintable(strip->textAt({50, 30})));
        QTest::mouseClick(strip, Qt::LeftButton, {}, {50, 30});
        QTRY_COMPARE_WITH_TIMEOUT(strip->range(), std::make_pair(1.0, 3.0), patience_ms);
        QCOMPARE(strip->textAt({strip->width() / 4, 30}), QStringLiteral("step 1 · web, planned"));
        const std::string asked = read_file(programs.path() / "worker.log");
        QVERIFY2(asked.find("\"data_sets\":true") != std::string::npos, asked.c_str());
    }

    /// It said "not begun" of a run that trained, until another was ticked.
    void the_strip_of_a_run_grows_while_it_trains() {
        Unbegun on;
        QVERIFY(on.opened);
        const BatchStrip* strip = on.strip;
        QVERIFY(strip->textAt({50, 30}).startsWith(QStringLiteral("not begun")));
        JournalWriter journal(on.run, on.run.begin_attempt(), {"", 0, Json::object(), 0});
        const auto step = [&](int number, const char* task) {
            journal.step({{"step", number}, {"total_steps", 9}, {"loss", 1.0}, {std::string("loss/") + task, 1.0}});
            journal.flush();
        };
        step(1, "retrieval");
        step(2, "other");
        QTRY_COMPARE_WITH_TIMEOUT(strip->range(), std::make_pair(1.0, 3.0), patience_ms);
        step(3, "retrieval");
        QTRY_COMPARE_WITH_TIMEOUT(strip->range(), std::make_pair(1.0, 4.0), patience_ms);
    }

    void strips_that_are_not_there_are_counted() {
        TemporaryDirectory folder;
        for (int i = 0; i < 26; ++i) train(sample_run(folder.path(), 3), false);
        Workspace workspace;
        QVERIFY(open_and_wait(workspace, folder.path()));
        CurriculumPage page(workspace);
        page.show();
        QTRY_VERIFY_WITH_TIMEOUT(page.isReady() && page.findChild<BatchStrip*>()->isVisible(), patience_ms);
        const QString said = page.findChild<QLabel*>(QStringLiteral("curriculumSubtitle"))->text();
        QVERIFY2(said.contains(QStringLiteral("2 more are ticked")), qPrintable(said));
    }

    void what_a_run_is_called_may_have_the_signs_of_places() {
        const TemporaryDirectory programs;
        put_worker(programs.path());
        BatchExamples examples;
        examples.ask(QString::fromStdString(programs.path().string()), QStringLiteral("noise %2"), 7, {});
        const QString said = examples.findChild<QLabel*>(QStringLiteral("batchExamplesStatus"))->text();
        QVERIFY2(said.startsWith(QStringLiteral("noise %2, step 7")), qPrintable(said));
    }

    void without_runs_of_several_tasks_no_view_is_named_that_cannot_be_chosen() {
        Opened on;
        QVERIFY(on.opened);
        on.workspace.showOnly({});
        QTRY_VERIFY_WITH_TIMEOUT(on.page->findChild<EmptyState*>()->isVisible() && on.page->isReady(), patience_ms);
        QVERIFY(!on.find<QComboBox>("curriculumView")->isVisible());
        QStringList texts;
        for (const QLabel* label : on.page->findChild<EmptyState*>()->findChildren<QLabel*>()) texts << label->text();
        const QString said = texts.join(QLatin1Char('\n'));
        QVERIFY2(said.contains(QStringLiteral("has trained several tasks")), qPrintable(said));
        QVERIFY2(!said.contains(QStringLiteral("view")), qPrintable(said));
    }

    void what_is_cancelled_in_activity_is_said_to_be() {
        const TemporaryDirectory programs;
        put_worker(programs.path());
        BatchExamples examples;
        examples.ask(QString::fromStdString(programs.path().string()), QStringLiteral("Mix"), 7, {});
        auto* query = examples.findChild<WorkerQuery*>();
        Q_EMIT query->progressed({QStringLiteral("reading"), 1, 2});
        query->cancel();
        QVERIFY(!examples.isBusy());
        const QString said = examples.findChild<QLabel*>(QStringLiteral("batchExamplesStatus"))->text();
        QCOMPARE(said, QStringLiteral("Mix, step 7: cancelled"));
    }

    void names_over_the_strips_have_the_height_of_the_users_font() {
        Opened on;
        QVERIFY(on.opened);
        const auto* strip = on.page->findChild<BatchStrip*>();
        const int before = strip->sizeHint().height(), line = QFontMetrics(Theme::plotFont()).height();
        QFont font;
        font.setPixelSize(22);
        Theme::instance().setUserFont(font);
        font.setPixelSize(12);
        const auto restore = qScopeGuard([font] { Theme::instance().setUserFont(font); });
        const int more = QFontMetrics(Theme::plotFont()).height() - line;
        QVERIFY(more > 0);
        QVERIFY(strip->sizeHint().height() >= before + 3 * more);  // two runs and the axis
    }

    void where_a_pixel_holds_many_batches_each_task_has_its_share() {
        Opened on;
        QVERIFY(on.opened);
        on.choose(CurriculumPage::View::batches);
        auto* strip = on.page->findChild<BatchStrip*>();
        strip->resize(12, strip->height());  // ten steps a pixel: two rounds over five tasks
        const std::map<int, double> shares = strip->sharesAt(0, 6);
        QCOMPARE(shares.size(), tasks.size());
        double sum = 0;
        for (const auto& [place, share] : shares) sum += share;
        QVERIFY(std::abs(sum - 1) < 1e-9);
    }

    void a_figure_of_nothing_takes_no_room() {
        TemporaryDirectory folder;
        make_project(folder.path());
        const Project project(folder.path(), false);
        const RunDirectory run(project.runs_folder() / project.run_ids().front());
        Figure energy = line("data_cube_energy", "Simulated annealing"), tour = line("data_cube_tour", "The tour against random orders");
        energy.series.clear();
        for (Series& series : tour.series) series.x.clear(), series.y.clear();
        run.write_figure(energy.name, energy.to_json());
        run.write_figure(tour.name, tour.to_json());
        Workspace workspace;
        QVERIFY(open_and_wait(workspace, folder.path()));
        CurriculumPage page(workspace);
        page.show();
        QTRY_VERIFY_WITH_TIMEOUT(page.isReady() && page.findChild<FigureView*>(QStringLiteral("curriculum:similarity"))->isVisible(),
                                 patience_ms);
        for (const char* name : {"curriculum:energy", "curriculum:tour"}) {
            const auto* figure = page.findChild<FigureView*>(QLatin1String(name));
            QVERIFY2(!figure->isVisible() && !figure->parentWidget()->isVisible(), name);
        }
    }

    void a_document_that_cannot_be_read_costs_itself_only() {
        TemporaryDirectory folder;
        make_project(folder.path());
        const Project project(folder.path(), false);
        const RunDirectory run(project.runs_folder() / project.run_ids().front());
        overwrite(run.figures() / "data_cube_energy.json", "{\"kind\": \"lin");
        Workspace workspace;
        QVERIFY(open_and_wait(workspace, folder.path()));
        CurriculumPage page(workspace);
        page.show();
        QTRY_VERIFY_WITH_TIMEOUT(page.isReady() && !page.findChild<ErrorBar*>()->message().isEmpty(), patience_ms);
        QVERIFY(page.findChild<FigureView*>(QStringLiteral("curriculum:similarity"))->isVisible());
        QVERIFY(!page.findChild<FigureView*>(QStringLiteral("curriculum:energy"))->isVisible());
    }

    void runs_without_a_curriculum_say_what_would_be_here() {
        TemporaryDirectory folder;
        make_sample_project(folder.path(), 3);
        Workspace workspace;
        QVERIFY(open_and_wait(workspace, folder.path()));
        CurriculumPage page(workspace);
        page.show();
        QTRY_VERIFY_WITH_TIMEOUT(page.isReady() && page.findChild<QPushButton*>(QStringLiteral("emptyStateButton"))->isVisible(),
                                 patience_ms);
    }

    void runs_without_a_report_show_their_batches() {
        TemporaryDirectory folder;
        train(sample_run(folder.path(), 3), false);
        Workspace workspace;
        QVERIFY(open_and_wait(workspace, folder.path()));
        CurriculumPage page(workspace);
        page.show();
        QTRY_VERIFY_WITH_TIMEOUT(page.isReady() && page.findChild<BatchStrip*>()->isVisible(), patience_ms);
        QCOMPARE(page.view(), CurriculumPage::View::batches);
    }

    void what_was_chosen_is_found_again() {
        Opened on;
        QVERIFY(on.opened);
        on.choose(CurriculumPage::View::difficulty);
        QVERIFY(on.find<FigureView>("curriculum:difficulty")->isVisible());
        CurriculumPage again(on.workspace);
        again.restore(on.page->state());
        QCOMPARE(again.view(), CurriculumPage::View::difficulty);
        QCOMPARE(again.state(), on.page->state());
    }

    void the_order_of_batches_is_exported() {
        Opened on;
        QVERIFY(on.opened);
        on.choose(CurriculumPage::View::batches);
        const QString file = QString::fromStdString((on.folder.path() / "batches.csv").string());
        auto* menu = on.find<QMenu>("curriculumExportMenu");
        Q_EMIT menu->aboutToShow();
        answer_save_dialog(file);
        QVERIFY(trigger_in(menu, QStringLiteral("exportBatches")));
        const QStringList lines = QString::fromStdString(read_file(file.toStdString())).split(QStringLiteral("\r\n"), Qt::SkipEmptyParts);
        QCOMPARE(lines.first(), QStringLiteral("run,step,task,loss"));
        QCOMPARE(lines.size(), 1 + 3 * num_steps);
    }

    void pictures_to_look_at() {
        const QString folder = qEnvironmentVariable("FACETER_PICTURES");
        if (folder.isEmpty()) QSKIP("FACETER_PICTURES names no folder");
        TemporaryDirectory project;
        make_project(project.path());
        for (int view = 0; view < 3; ++view)
            for (const bool dark : {false, true}) {
                QSettings().setValue(QStringLiteral("pages/curriculum"), QStringLiteral("{\"view\": %1}").arg(view).toUtf8());
                Theme::instance().setMode(dark ? Theme::Mode::dark : Theme::Mode::light);
                Workspace workspace;
                MainWindow window(workspace);
                window.resize(1280, 800);
                window.show();
                window.openPath(QString::fromStdString(project.path().string()));
                QTRY_VERIFY(!workspace.runs()->runs.empty());
                QString error;
                const QString file = QStringLiteral("%1/curriculum-%2-%3.png").arg(folder).arg(view).arg(dark ? "dark" : "light");
                QVERIFY2(takeScreenshot(window, QStringLiteral("curriculum"), file, error), qPrintable(error));
            }
        Theme::instance().setMode(Theme::Mode::light);
    }
};

FACETER_TEST(TestCurriculum)
#include "test_curriculum.moc"
