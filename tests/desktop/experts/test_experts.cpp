#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QSettings>
#include <QSlider>
#include <QTableView>
#include <QTest>

#include "desktop/support/sample_project.h"
#include "figure/figure_view.h"
#include "pages/experts/experts_page.h"
#include "pages/experts/text_view.h"
#include "pages/experts/token_strip.h"
#include "support/explored_project.h"
#include "support/test.h"
#include "widgets/labels.h"

using namespace faceter;
using namespace faceter::desktop;
using namespace faceter::testing;

namespace {

constexpr int patience_ms = 120000, num_steps = 100;

/// Two blocks of three experts; steps of "a" go to expert 0 of block 1 more and more, steps of "b" to expert 1; one step in five is of
/// both.
void train(const RunDirectory& run) {
    JournalWriter journal(run, run.begin_attempt(), {"", 0, Json::object(), 0});
    for (int step = 1; step <= num_steps; ++step) {
        const double share = 1.0 / 3 + 0.6 * step / num_steps, rest = (1 - share) / 2;
        const int favourite = step % 2;
        Json fields{{"step", step}, {"total_steps", num_steps}, {"loss", 2.0 / step}, {"dropped_assignments", step > 50 ? 3 : 0}};
        if (step % 5 == 0 || step % 2 == 0) fields["loss/a"] = 2.0 / step;
        if (step % 5 == 0 || step % 2 == 1) fields["loss/b"] = 2.0 / step;
        for (int expert = 0; expert < 3; ++expert) {
            fields[fmt::format("expert_load/block 1/expert {}", expert)] = expert == favourite ? share : rest;
            fields[fmt::format("expert_load/block 3/expert {}", expert)] = 1.0 / 3;
        }
        fields["router_entropy/block 1"] = 1.0 - 0.005 * step;
        fields["router_entropy/block 3"] = 1.09;
        journal.step(fields);
    }
    journal.event("finished", {{"step", num_steps}});
}

Table experts_table() {
    Table table;
    table.name = "mote_experts";
    table.caption = "Instructions and their experts: <b>Mix";
    table.add_column("task", ColumnKind::text);
    table.add_column("expert", ColumnKind::count);
    table.add_row({Cell::of("retrieval.query"), Cell::of(0.0)});
    return table;
}

void make_project(const fs::path& project) {
    const Experiment experiment = parse_sample();
    for (const std::size_t i : {1U, 3U}) {
        const RunDirectory run = RunDirectory::create(project, experiment, experiment.runs()[i], false);
        if (i == 1) {
            train(run);
            continue;
        }
        write_attempt(run, 1, 20, "finished", 2.0);
        run.write_table("mote_experts", experts_table().to_json());
    }
}

struct Opened {
    Workspace workspace;
    std::unique_ptr<ExpertsPage> page;
    bool opened = false;
    explicit Opened(const fs::path& project) {
        opened = open_and_wait(workspace, project);
        page = std::make_unique<ExpertsPage>(workspace);
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
    void choose(const char* name, int row) const {
        auto* box = find<QComboBox>(name);
        box->setFocus();
        QTest::keyClick(box, Qt::Key_Home);
        for (int i = 0; i < row; ++i) QTest::keyClick(box, Qt::Key_Down);
    }
    double cell(int row, int column) const {
        const HeatMap& map = find<FigureView>("expertsLoad")->figure().heat_map;
        return map.values[static_cast<std::size_t>(row) * map.columns.size() + static_cast<std::size_t>(column)];
    }
};

}  // namespace

class TestExperts : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void init() { QSettings().clear(); }

    void the_load_at_a_step_is_chosen_by_the_slider() {
        TemporaryDirectory folder;
        make_project(folder.path());
        Opened on(folder.path());
        QVERIFY(on.opened);
        QCOMPARE(on.page->view(), ExpertsPage::View::training);
        QCOMPARE(on.find<FigureView>("expertsLoad")->figure().heat_map.rows.size(), std::size_t{2});
        QVERIFY(on.find<QLabel>("expertsStepText")->text().startsWith(QStringLiteral("step 100 of 100")));
        on.choose("expertsTask", 1);  // a
        const double late = on.cell(0, 0);
        QVERIFY2(late > 0.75, qPrintable(QString::number(late)));
        auto* slider = on.find<QSlider>("expertsStep");
        slider->setFocus();
        QTest::keyClick(slider, Qt::Key_Home);
        QVERIFY2(on.cell(0, 0) < 0.4, qPrintable(QString::number(on.cell(0, 0))));
        QCOMPARE(on.cell(1, 2), 1.0 / 3);
        QVERIFY(on.find<QLabel>("expertsStepText")->text().startsWith(QStringLiteral("step 2 of 100")));  // the first of a alone
    }

    void steps_of_one_task_are_those_that_were_of_it_alone() {
        TemporaryDirectory folder;
        make_project(folder.path());
        Opened on(folder.path());
        QVERIFY(on.opened);
        QCOMPARE(on.find<QComboBox>("expertsTask")->count(), 3);  // all, a, b
        QCOMPARE(on.find<FigureView>("expertsCurves")->figure().series.front().x.size(), std::size_t{num_steps});
        on.choose("expertsTask", 2);
        const Series& own = on.find<FigureView>("expertsCurves")->figure().series[1];
        QCOMPARE(own.x.size(), std::size_t{40});  // odd steps but each fifth
        QCOMPARE(own.raw.back(), 1.0 / 3 + 0.6 * 99 / 100);
        QVERIFY(on.find<FigureView>("expertsDropped")->isVisible());
        on.choose("expertsBlock", 1);
        QCOMPARE(on.find<FigureView>("expertsCurves")->figure().title, std::string("Load of the experts of block 3"));
    }

    void a_run_without_routers_shows_what_it_has() {
        TemporaryDirectory folder;
        make_project(folder.path());
        Opened on(folder.path());
        QVERIFY(on.opened);
        on.choose("expertsRun", 1);
        QCOMPARE(on.page->view(), ExpertsPage::View::moves);
        QVERIFY(on.find<QTableView>("expertsTable:mote_experts")->isVisible());
        on.choose("expertsView", 0);
        QVERIFY(on.find<QPushButton>("emptyStateButton")->isVisible());
        ExpertsPage again(on.workspace);
        again.restore(on.page->state());
        QCOMPARE(again.state(), on.page->state());
    }

    void the_run_that_was_chosen_is_shown_again_when_its_group_is() {
        TemporaryDirectory folder;
        make_project(folder.path());
        Opened on(folder.path());
        QVERIFY(on.opened);
        const auto* box = on.find<QComboBox>("expertsRun");
        on.choose("expertsRun", 1);
        const QString chosen = box->currentText();
        QString group;
        for (const RunGroupRef& one : on.workspace.groups())
            if (qs(one.runs.front()->info.id) == box->currentData().toString()) group = one.key;
        on.workspace.setShown(group, false);
        QTRY_VERIFY_WITH_TIMEOUT(on.page->isReady() && box->count() == 1, patience_ms);
        QVERIFY(box->currentText() != chosen);
        on.workspace.setShown(group, true);
        QTRY_VERIFY_WITH_TIMEOUT(on.page->isReady() && box->count() == 2, patience_ms);
        QCOMPARE(box->currentText(), chosen);
    }

    void of_more_runs_than_are_read_those_with_a_model_are() {
        TemporaryDirectory folder;
        for (int i = 0; i < 26; ++i) write_attempt(sample_run(folder.path(), 1), 1, 2, "failed");
        train(sample_run(folder.path(), 3));
        Opened on(folder.path());
        QVERIFY(on.opened);
        QVERIFY(!on.find<QPushButton>("emptyStateButton")->isVisible());
        const auto* box = on.find<QComboBox>("expertsRun");
        QCOMPARE(box->count(), 2);
        QVERIFY2(box->itemText(0).startsWith(QStringLiteral("Mix")), qPrintable(box->itemText(0)));
        QVERIFY2(box->itemText(1).startsWith(QStringLiteral("3 more")), qPrintable(box->itemText(1)));
        QVERIFY(!box->model()->flags(box->model()->index(1, 0)).testFlag(Qt::ItemIsEnabled));
    }

    void a_failed_run_and_its_successor_are_told_apart_and_the_one_with_a_model_comes_first() {
        TemporaryDirectory folder;
        const RunDirectory failed = sample_run(folder.path(), 3);
        write_attempt(failed, 1, 5, "failed");
        failed.write_table("mote_experts", experts_table().to_json());
        train(sample_run(folder.path(), 3));
        Opened on(folder.path());
        QVERIFY(on.opened);
        const auto* box = on.find<QComboBox>("expertsRun");
        QCOMPARE(box->count(), 2);
        QVERIFY2(box->itemText(0) != box->itemText(1), qPrintable(box->itemText(0)));
        QCOMPARE(box->currentIndex(), 1);
    }

    void runs_without_experts_say_what_would_be_here() {
        TemporaryDirectory folder;
        make_sample_project(folder.path(), 3);
        Opened on(folder.path());
        QVERIFY(on.opened);
        QVERIFY(on.find<QPushButton>("emptyStateButton")->isVisible());
    }

    /// The real worker on tiny trained runs: the load is logged by training, and a typed text is asked.
    void tokens_of_a_typed_text_are_coloured_by_expert() {
        NEED_SHARED();
        TemporaryDirectory folder;
        const std::string problem = make_explored_project(
            folder.path(),
            "  TLR: {method: token_routed_moe, experts: 3, placement: every}\n  MoTE: {method: mote, placement: every}\n"
            "analyses: [{method: expert_moves}]\n");
        QVERIFY2(problem.empty(), problem.c_str());
        Opened on(folder.path() / "project");
        QVERIFY(on.opened);
        const int tlr = on.find<QComboBox>("expertsRun")->findText(QStringLiteral("TLR"), Qt::MatchStartsWith);
        on.choose("expertsRun", tlr);
        QVERIFY(on.find<FigureView>("expertsLoad")->figure().heat_map.columns.size() == 3);
        on.choose("expertsView", 2);
        auto* text = on.find<QLineEdit>("expertsText");
        text->setFocus();
        text->selectAll();
        QTest::keyClicks(text, QStringLiteral("what is a cat"));
        QTest::keyClick(text, Qt::Key_Return);
        QVERIFY(on.ready());
        auto* strip = on.page->findChild<TokenStrip*>();
        QVERIFY2(on.page->findChild<ErrorBar*>()->message().isEmpty(), qPrintable(on.page->findChild<ErrorBar*>()->message()));
        QVERIFY(strip->tokens().pieces.size() >= 6);  // instruction and special tokens are among them
        QCOMPARE(strip->tokens().by, QStringLiteral("token"));
        QCOMPARE(strip->tokens().numExperts, 3);
        const Table written = on.page->findChild<ExpertTextView*>()->tokenTable();
        QCOMPARE(written.rows.size(), static_cast<std::size_t>(strip->tokens().pieces.size()) * strip->tokens().blocks.size());
        auto* menu = on.find<QMenu>("expertsExportMenu");
        Q_EMIT menu->aboutToShow();
        QCOMPARE(menu->actions().size(), qsizetype{1});
        QCOMPARE(menu->actions().front()->text(), QStringLiteral("Tokens of the text"));
        QTest::mouseClick(strip, Qt::LeftButton, {}, strip->placeOf(2).center());
        QCOMPARE(strip->chosen(), 2);
        QVERIFY(on.find<QLabel>("expertsChosenToken")->text().startsWith(strip->tokens().pieces[2]));
        strip->setFocus();
        QTest::keyClick(strip, Qt::Key_Down);
        QCOMPARE(on.find<QComboBox>("expertsTextBlock")->currentIndex(), 1);
        on.choose("expertsRun", 1 - tlr);
        QVERIFY(on.ready());  // asked again of the other
        QCOMPARE(strip->tokens().by, QStringLiteral("instruction"));
        QVERIFY(strip->tokens().blocks.front().probabilities.empty());
        text->setText(QStringLiteral("cat ").repeated(20000));
        QCOMPARE(text->text().size(), qsizetype{80000});
        QTest::keyClick(text, Qt::Key_Return);
        QVERIFY(on.ready());
        const QString said = on.find<QLabel>("expertsTextStatus")->text();
        QVERIFY2(said.startsWith(QStringLiteral("the first 32 of 200")), qPrintable(said));
        text->clear();
        QTest::keyClick(text, Qt::Key_Return);
        QVERIFY(strip->tokens().pieces.isEmpty());  // they were of another text
        on.choose("expertsView", 3);
        QVERIFY(on.find<FigureView>("experts:mote_moved")->hasValues());
        QVERIFY(on.find<FigureView>("experts:mote_between")->hasValues());
    }
};

FACETER_TEST(TestExperts)
#include "test_experts.moc"
