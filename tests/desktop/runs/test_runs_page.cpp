#include "pages/runs/runs_page.h"

#include <QCheckBox>
#include <QComboBox>
#include <QHeaderView>
#include <QInputDialog>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScrollBar>
#include <QSignalSpy>
#include <QToolButton>
#include <QTreeWidget>

#include "actions/run_actions.h"
#include "desktop/runs/opened_runs_page.h"
#include "figure/figure_view.h"
#include "widgets/filter_edit.h"
#include "widgets/labels.h"

using namespace faceter;
using namespace faceter::desktop;
using namespace faceter::testing;

namespace {

using Opened = OpenedRunsPage;

}  // namespace

class TestRunsPage : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void a_column_gets_wider_for_what_comes_later() {
        Opened on;
        on.page->resize(1600, 700);
        on.page->setGrouping(GroupBy::fromId(QStringLiteral("seeds")));
        const auto cut = [&] {
            QStringList texts;
            const QFontMetrics metrics(on.table->font());
            for (int row = 0; row < on.model->rowCount(); ++row)
                if (RunsDelegate::wantedWidth(on.model->index(row, 0), metrics, true) > on.table->columnWidth(0))
                    texts << on.model->index(row, 0).data().toString();
            return texts;
        };
        QCOMPARE(cut(), QStringList());
        int group = 0;
        while (group < on.model->rowCount() && !on.model->line(group).isGroup()) ++group;
        on.clickLine(group);
        QTest::keyClick(on.table, Qt::Key_Right);
        QVERIFY(on.model->line(group + 1).isMember());
        QCOMPARE(cut(), QStringList());
    }

    void the_best_value_has_the_room_of_its_own_font() {
        Opened on;
        on.page->setGrouping({});
        const QFontMetrics usual(on.table->font());
        int measured = 0;
        for (int row = 0; row < on.model->rowCount(); ++row)
            for (int column = 0; column < on.model->columnCount(); ++column) {
                const QModelIndex cell = on.model->index(row, column);
                const QVariant own = cell.data(Qt::FontRole);
                if (!own.isValid()) continue;
                ++measured;
                const QString text = cell.data().toString();
                const int more = QFontMetrics(own.value<QFont>()).horizontalAdvance(text) - usual.horizontalAdvance(text);
                QVERIFY(RunsDelegate::wantedWidth(cell, usual, true) >= usual.horizontalAdvance(text) + 2 * 6 + 8 + more);
            }
        QVERIFY(measured > 0);
    }

    void the_default_columns_fit_a_window_of_1280() {
        Opened on;
        on.page->resize(824, 560);  // what navigator and inspector leave
        for (const char* group : {"seeds", "none"}) {
            on.page->setGrouping(GroupBy::fromId(QLatin1String(group)));
            QVERIFY(on.settled());
            QTRY_COMPARE(on.table->horizontalScrollBar()->maximum(), 0);
            const int last = on.model->columnCount() - 1;
            QCOMPARE(on.model->columns()[static_cast<std::size_t>(last)].kind, RunColumn::Kind::time);
            QVERIFY(on.table->columnWidth(last) >= 100);
        }
        on.table->horizontalHeader()->resizeSection(0, 700);  // a width that somebody chose is kept
        on.page->resize(900, 560);
        QCOMPARE(on.table->columnWidth(0), 700);
    }

    void the_filter_and_its_buttons_are_whole_in_a_narrow_window() {
        Opened on;
        on.page->setMinimumWidth(420);  // what a window of 640 leaves
        on.page->resize(420, 560);
        QTRY_COMPARE(on.page->width(), 420);
        QTRY_VERIFY(on.find<QLineEdit>("runsFilter")->width() >= 200);
        for (const char* name : {"runsFacets", "runsGroup", "runsColumns"}) {
            const auto* button = on.find<QToolButton>(name);
            QTRY_VERIFY2(button->width() >= button->sizeHint().width(), name);
            QTRY_VERIFY2(button->mapTo(on.page.get(), QPoint(button->width(), 0)).x() <= 420, name);
        }
        on.page->resize(1200, 560);
        const auto* last = on.find<QToolButton>("runsColumns");
        QTRY_VERIFY(last->mapTo(on.page.get(), QPoint(last->width(), 0)).x() > 1100);  // the field takes what is left of the row
        QCOMPARE(last->mapTo(on.page.get(), QPoint()).y(), on.find<QToolButton>("runsFacets")->mapTo(on.page.get(), QPoint()).y());
    }

    void a_series_value_is_a_column_to_sort_and_to_filter_by() {
        Opened on;
        QTest::mouseClick(on.find<QToolButton>("runsColumns"), Qt::LeftButton);
        auto* list = on.page->window()->findChild<QListWidget*>(QStringLiteral("columnList"));
        auto* search = on.page->window()->findChild<QLineEdit*>(QStringLiteral("columnSearch"));
        QVERIFY(list && search);
        const auto itemOf = [&](const QString& id) -> QListWidgetItem* {
            for (int i = 0; i < list->count(); ++i)
                if (list->item(i)->data(Qt::UserRole).toString() == id) return list->item(i);
            return nullptr;
        };
        QVERIFY(itemOf(QStringLiteral("series:loss:min"))->isHidden());  // hundreds of them would hide the others
        QTest::keyClicks(search, QStringLiteral("loss:10"));
        QVERIFY(itemOf(QStringLiteral("series:loss:10")) && !itemOf(QStringLiteral("series:loss:10"))->isHidden());
        itemOf(QStringLiteral("series:loss:10"))->setCheckState(Qt::Checked);
        QVERIFY(on.settled());
        QTest::keyClick(search, Qt::Key_Escape);
        on.page->setGrouping(GroupBy::fromId(QStringLiteral("none")));
        const RunColumn column{RunColumn::Kind::series, "loss:10"};
        on.page->setSort({column, Qt::AscendingOrder});
        QVERIFY(on.settled());
        // Made as 3.0, 2.8, ... divided by the step: the last run has the least.
        QCOMPARE(on.column(column.kind, column.key), QStringList({QStringLiteral("0.22"), QStringLiteral("0.24"), QStringLiteral("0.26"),
                                                                  QStringLiteral("0.28"), QStringLiteral("0.3")}));
        // The best of a loss is its least, and marked as the best of a score is.
        QVERIFY(itemOf(QStringLiteral("series:loss:best")) && !itemOf(QStringLiteral("series:lr:best")));
        const RunColumn best{RunColumn::Kind::series, "loss:best"};
        QCOMPARE(best.direction(), -1);
        QCOMPARE(column.direction(), 0);
        on.type(QStringLiteral("loss:10 < 0.25 and loss:last > 0 and loss:best < 1"));
        QTRY_COMPARE(on.model->rowCount(), 2);
        const QJsonObject state = on.page->state();
        on.open(state);
        QCOMPARE(on.column(column.kind, column.key).size(), 2);
    }
    void seeds_stand_together_until_their_group_is_opened() {
        Opened on;
        QCOMPARE(on.model->rowCount(), 3);  // start alone, EM and Mix of two seeds
        QVERIFY(on.column(RunColumn::Kind::task_type, "retrieval").join(QString()).contains(QStringLiteral("±")));
        const int group = on.model->line(0).isGroup() ? 0 : 1;
        on.clickLine(group);
        QTest::keyClick(on.table, Qt::Key_Right);
        QCOMPARE(on.model->rowCount(), 5);
        QVERIFY(on.model->line(group + 1).isMember());
        QTest::keyClick(on.table, Qt::Key_Down);
        QTest::keyClick(on.table, Qt::Key_Left);  // from a run to its group
        QTest::keyClick(on.table, Qt::Key_Left);
        QCOMPARE(on.model->rowCount(), 3);
        QTest::keyClick(on.table, Qt::Key_Plus, Qt::ShiftModifier);  // as most layouts have it
        QCOMPARE(on.model->rowCount(), 5);
        QTest::keyClick(on.table, Qt::Key_Minus);
        QCOMPARE(on.model->rowCount(), 3);
        const QRect name = on.table->visualRect(on.model->index(group, 0));
        QTest::mouseClick(on.table->viewport(), Qt::LeftButton, {}, RunsDelegate::arrowRect(name).center());
        QCOMPARE(on.model->rowCount(), 5);
    }
    void lines_that_a_setting_puts_together_are_called_by_its_value() {
        Opened on;
        const std::string key = "training.learning_rate";  // the same for all runs
        on.page->setGrouping({GroupBy::Kind::setting, key});
        QVERIFY(on.settled());
        QCOMPARE(on.model->rowCount(), 1);
        const std::string value = on.model->runsData().setting(0, key);
        QVERIFY(!value.empty());
        QCOMPARE(on.model->groupOf(0)->label, qs(value));
    }
    void an_expression_filters_and_its_errors_stand_at_the_field() {
        Opened on;
        on.page->setGrouping({});
        QCOMPARE(on.model->rowCount(), 5);
        const auto drawn = [&] { return on.find<FigureView>("runsCurves")->figure().series.size(); };
        QTRY_COMPARE(drawn(), std::size_t(2));
        on.type(QStringLiteral("variant = em and seed = 2"));
        QTRY_COMPARE(on.model->rowCount(), 1);
        QVERIFY(on.runs().first().contains(QStringLiteral("-em-s2")));
        QTRY_COMPARE(drawn(), std::size_t(1));
        on.type(QStringLiteral("variannt = em"));
        auto* error = on.find<QLabel>("runsFilterError");
        QTRY_VERIFY(error->isVisible());
        QVERIFY2(error->text().contains(QStringLiteral("did you mean 'variant'")), qPrintable(error->text()));
        QVERIFY(on.find<QLineEdit>("runsFilter")->property("invalid").toBool());
        QCOMPARE(on.model->rowCount(), 1);  // what could be read last still holds
        on.type(QStringLiteral("retrieval > 0.4"));
        QTRY_VERIFY(!error->isVisible());
        on.find<QLineEdit>("runsFilter")->clear();
        QTRY_COMPARE(on.model->rowCount(), 5);
    }
    void words_complete_the_expression() {
        Opened on;
        auto* field = on.find<QLineEdit>("runsFilter");
        field->setFocus();
        QTest::keyClicks(field, QStringLiteral("vari"));
        auto* words = on.page->findChild<FilterEdit*>()->findChild<QAbstractItemView*>(QStringLiteral("runsFilterWords"));
        if (!words)
            for (QWidget* top : QApplication::topLevelWidgets())
                if (top->objectName() == QStringLiteral("runsFilterWords")) words = qobject_cast<QAbstractItemView*>(top);
        QVERIFY(words);
        QTRY_VERIFY(words->isVisible());
        QCOMPARE(words->model()->index(0, 0).data().toString(), QStringLiteral("variant"));
        QTest::keyClick(words, Qt::Key_Down);
        QTest::keyClick(words, Qt::Key_Return);
        QCOMPARE(field->text(), QStringLiteral("variant "));
        QTest::keyClicks(field, QStringLiteral("= m"));
        QTRY_VERIFY(words->isVisible());
        QTest::keyClick(words, Qt::Key_Down);
        QTest::keyClick(words, Qt::Key_Return);
        QCOMPARE(field->text(), QStringLiteral("variant = Mix "));
    }

    void a_tick_in_the_list_of_values_composes_the_expression() {
        Opened on;
        on.page->setGrouping({});
        on.find<QToolButton>("runsFacets")->click();
        auto* tree = on.find<QTreeWidget>("facetTree");
        QTreeWidgetItem* em = nullptr;
        for (QTreeWidgetItem* item : tree->findItems(QStringLiteral("EM"), Qt::MatchExactly | Qt::MatchRecursive)) em = item;
        QVERIFY(em);
        QCOMPARE(em->text(1), QStringLiteral("2"));
        em->setCheckState(0, Qt::Checked);
        QCOMPARE(on.find<QLineEdit>("runsFilter")->text(), QStringLiteral("variant = EM"));
        QTRY_COMPARE(on.model->rowCount(), 2);
        em->setCheckState(0, Qt::Unchecked);
        QTRY_COMPARE(on.model->rowCount(), 5);
    }

    void a_header_sorts_and_the_selection_stays() {
        Opened on;
        on.page->setGrouping({});
        on.clickLine(2);
        const QStringList selected = on.table->selectedRuns();
        QCOMPARE(selected.size(), 1);
        int retrieval = -1;
        for (int i = 0; i < on.model->columnCount(); ++i)
            if (on.model->columns()[static_cast<std::size_t>(i)].key == "retrieval") retrieval = i;
        QVERIFY(retrieval > 0);
        QHeaderView* header = on.table->horizontalHeader();
        const QPoint place(header->sectionViewportPosition(retrieval) + header->sectionSize(retrieval) / 2, header->height() / 2);
        QTest::mouseClick(header->viewport(), Qt::LeftButton, {}, place);
        const auto descends = [&](bool down) {
            for (int row = 1; row < on.model->rowCount(); ++row) {
                const double above = on.model->index(row - 1, retrieval).data(RunsModel::numberRole).toDouble(),
                             here = on.model->index(row, retrieval).data(RunsModel::numberRole).toDouble();
                if (down ? above < here : above > here) return false;
            }
            return true;
        };
        QVERIFY(descends(true));
        QCOMPARE(on.table->selectedRuns(), selected);
        QTest::mouseClick(header->viewport(), Qt::LeftButton, {}, place);
        QVERIFY(descends(false));
        QCOMPARE(on.table->selectedRuns(), selected);
    }

    void keys_pin_tag_note_and_archive() {
        Opened on;
        on.page->setGrouping({});
        on.clickLine(3);
        const QString run = on.table->selectedRuns().value(0), name = qs(on.run(run).info.shown_name());
        QVERIFY(name != run);
        QSignalSpy said(&on.workspace, &Workspace::said);
        QTest::keyClick(on.table, Qt::Key_P);
        QTRY_VERIFY(on.run(run).pinned);
        QCOMPARE(said.first().first().toString(), name + QStringLiteral(" pinned"));
        QTRY_COMPARE(on.runs().first(), run);  // pinned ones stand first
        QCOMPARE(on.table->selectedRuns(), QStringList{run});
        QTest::keyClick(on.table, Qt::Key_T);
        auto* dialog = on.table->findChild<QInputDialog*>(QStringLiteral("tagDialog"));
        QVERIFY(dialog);
        QCOMPARE(dialog->labelText(), QStringLiteral("Tag for %1:").arg(name));
        QTest::keyClicks(dialog->findChild<QLineEdit*>(), QStringLiteral("paper"));
        QTest::keyClick(dialog, Qt::Key_Return);
        QTRY_COMPARE(on.run(run).tags, std::vector<std::string>{"paper"});
        on.focusTable();
        QTest::keyClick(on.table, Qt::Key_N);
        auto* note = on.table->findChild<QInputDialog*>(QStringLiteral("noteDialog"));
        QVERIFY(note);
        auto* text = note->findChild<QPlainTextEdit*>();
        QTest::keyClicks(text, QStringLiteral("the one"));
        QTest::keyClick(text, Qt::Key_Tab);
        QCOMPARE(note->textValue(), QStringLiteral("the one"));
        QVERIFY(qobject_cast<QPushButton*>(note->focusWidget()));
        note->setTextValue(QStringLiteral("the one to keep"));
        note->accept();
        QTRY_COMPARE(on.run(run).note, std::string("the one to keep"));
        on.focusTable();
        QTest::keyClick(on.table, Qt::Key_A);
        QTRY_COMPARE(on.model->rowCount(), 4);
        on.find<QToolButton>("runsFacets")->click();
        on.find<QCheckBox>("showArchived")->setChecked(true);
        QTRY_COMPARE(on.model->rowCount(), 5);
    }

    void a_note_on_several_runs_is_put_behind_what_each_says() {
        Opened on;
        on.page->setGrouping({});
        on.clickLine(1);
        const QString first = on.table->selectedRuns().value(0);
        on.workspace.actions().setNote({first}, QStringLiteral("its own"));
        QTRY_COMPARE(on.run(first).note, std::string("its own"));
        on.clickLine(2, Qt::ControlModifier);
        QStringList runs = on.table->selectedRuns();
        QCOMPARE(runs.size(), 2);
        on.focusTable();
        QTest::keyClick(on.table, Qt::Key_N);
        auto* note = on.table->findChild<QInputDialog*>(QStringLiteral("noteDialog"));
        QVERIFY(note);
        note->setTextValue(QStringLiteral("of both"));
        note->accept();
        runs.removeAll(first);
        QTRY_COMPARE(on.run(runs.first()).note, std::string("of both"));
        QTRY_VERIFY(on.run(first).note != "its own");
        QCOMPARE(on.run(first).note, std::string("its own\nof both"));
    }

    void an_archived_run_is_shown_on_its_own_when_it_is_asked_for() {
        Opened on;
        const QString archived = on.runs().isEmpty() ? QString() : qs(on.workspace.runs()->runs[0].info.id);
        on.workspace.actions().setArchived({archived}, true);
        QTRY_VERIFY(on.run(archived).archived);
        on.page->setGrouping({});
        on.find<QToolButton>("runsFacets")->click();
        on.find<QCheckBox>("showArchived")->setChecked(true);
        QTRY_VERIFY(on.settled() && on.runs().contains(archived));
        on.focusTable();
        on.clickLine(static_cast<int>(on.runs().indexOf(archived)));
        QTest::keyClick(on.table, Qt::Key_Return);
        const RunsSnapshotPtr hold = on.workspace.runs();
        QCOMPARE(on.workspace.shownGroups().size(), std::size_t(1));
        QCOMPARE(qs(on.workspace.shownGroups().front().runs.front()->info.id), archived);
    }
    void a_column_is_sorted_by_the_keyboard() {
        Opened on;
        on.page->setGrouping({});
        on.clickLine(1);
        const auto& columns = on.model->columns();
        const auto seed = std::find(columns.begin(), columns.end(), RunColumn{RunColumn::Kind::seed, {}}) - columns.begin();
        QTest::keyClick(on.table, Qt::Key_Home);
        while (on.table->currentIndex().column() < seed) QTest::keyClick(on.table, Qt::Key_Right);
        QTest::keyClick(on.table, Qt::Key_S);
        QCOMPARE(on.column(RunColumn::Kind::seed), (QStringList{"1", "1", "1", "2", "2"}));
        QTest::keyClick(on.table, Qt::Key_S);
        QCOMPARE(on.column(RunColumn::Kind::seed), (QStringList{"2", "2", "1", "1", "1"}));
    }

    void what_was_deleted_comes_back() {
        Opened on;
        on.page->setGrouping({});
        on.clickLine(1);
        on.clickLine(2, Qt::ControlModifier);
        const QStringList runs = on.table->selectedRuns();
        QCOMPARE(runs.size(), 2);
        QTest::keyClick(on.table, Qt::Key_Delete);
        QTRY_COMPARE(on.model->rowCount(), 3);
        for (const QString& run : runs) QVERIFY(!on.runs().contains(run));
        QTRY_VERIFY(on.find<QPushButton>("runsUndo")->isVisible());
        QTest::keyClick(on.table, Qt::Key_Z, Qt::ControlModifier);
        QTRY_COMPARE(on.model->rowCount(), 5);
        for (const QString& run : runs) QVERIFY(on.runs().contains(run));
        QTRY_VERIFY(!on.find<QPushButton>("runsUndo")->isVisible());
    }

    void a_run_that_grows_keeps_the_selection_and_shows_its_step() {
        Opened on(1);
        const RunDirectory run = sample_run(on.project.path(), 1);
        JournalWriter journal(run, run.begin_attempt(), {"", 0, Json::object(), 0});
        journal.event("stage_started", {{"stage", "train"}, {"total_steps", 100}});
        for (int step = 1; step <= 10; ++step) journal.step({{"step", step}, {"total_steps", 100}, {"loss", 1.0 / step}, {"lr", 1e-5}});
        on.workspace.session()->refresh();
        const QString id = qs(run.info().id);
        QTRY_VERIFY(on.runs().contains(id));
        on.clickLine(static_cast<int>(on.runs().indexOf(id)));
        QCOMPARE(on.table->selectedRuns(), QStringList{id});
        QCOMPARE(on.workspace.currentRun(), id);
        const auto steps = [&] { return on.run(id).state.step; };
        QTRY_COMPARE(steps(), 10);
        QSignalSpy reset(on.model, &QAbstractItemModel::modelReset);
        for (int step = 11; step <= 50; ++step) journal.step({{"step", step}, {"total_steps", 100}, {"loss", 1.0 / step}, {"lr", 1e-5}});
        on.workspace.session()->refresh();
        QTRY_COMPARE_WITH_TIMEOUT(steps(), 50, 10000);
        const int row = static_cast<int>(on.runs().indexOf(id));
        QTRY_COMPARE(on.model->index(row, 0).data(RunsModel::progressRole).toDouble(), 0.5);
        QVERIFY(on.column(RunColumn::Kind::time)[row].contains(QStringLiteral("step 50 / 100")));
        QCOMPARE(on.table->selectedRuns(), QStringList{id});
        QCOMPARE(reset.size(), 0);
        QTRY_VERIFY(on.find<FigureView>("runsCurves")->isVisible());
        const auto drawn = [&] { return on.find<FigureView>("runsCurves")->figure().series.front().x.back(); };
        QTRY_COMPARE(drawn(), 50.0);
        for (int step = 51; step <= 100; ++step) journal.step({{"step", step}, {"total_steps", 100}, {"loss", 1.0 / step}, {"lr", 1e-5}});
        journal.event("finished", {{"step", 100}});
        on.workspace.session()->refresh();
        QTRY_VERIFY_WITH_TIMEOUT(on.run(id).state.phase == RunPhase::done, 10000);
        QTRY_COMPARE(drawn(), 100.0);
    }

    void a_failed_run_tells_its_cause_and_offers_to_resume() {
        Opened on(1);
        const RunDirectory run = sample_run(on.project.path(), 1);
        write_attempt(run, 1, 20, "failed");
        on.workspace.session()->refresh();
        const QString id = qs(run.info().id);
        QTRY_VERIFY(on.runs().contains(id));
        const int row = static_cast<int>(on.runs().indexOf(id));
        QTRY_VERIFY(on.column(RunColumn::Kind::time)[row].contains(QStringLiteral("the reason")));
        QVERIFY(on.model->index(row, 0).data(RunsModel::resumableRole).toBool());
        QSignalSpy resumed(on.table, &RunsView::resumeRequested);
        on.clickResume(row);
        QCOMPARE(resumed.size(), 1);
        QCOMPARE(resumed.first().first().toStringList(), QStringList{id});
    }

    void resume_beside_a_group_resumes_those_of_its_runs_that_can_go_on() {
        Opened on(1);
        QStringList ended;
        for (const char* state : {"failed", "finished", "failed"}) {
            const RunDirectory run = sample_run(on.project.path(), 1);
            write_attempt(run, 1, 20, state);
            if (QLatin1String(state) == QStringLiteral("failed")) ended << qs(run.info().id);
        }
        on.workspace.session()->refresh();
        QTRY_COMPARE(on.workspace.runs()->runs.size(), std::size_t(4));
        const auto groupRow = [&] {
            for (int row = 0; row < on.model->rowCount(); ++row)
                if (on.model->groupOf(row) && on.model->index(row, 0).data(RunsModel::resumableRole).toBool()) return row;
            return -1;
        };
        QTRY_VERIFY(groupRow() >= 0);
        QSignalSpy resumed(on.table, &RunsView::resumeRequested);
        on.clickResume(groupRow());
        QCOMPARE(resumed.size(), 1);
        QStringList runs = resumed.first().first().toStringList();
        runs.sort();
        ended.sort();
        QCOMPARE(runs, ended);
    }

    void enter_shows_the_chosen_runs_on_curves_and_compare_does_on_compare() {
        Opened on;
        on.page->setGrouping({});
        int mix = -1;
        for (int row = 0; row < on.model->rowCount(); ++row)
            if (on.runs()[row].contains(QStringLiteral("-mix-"))) mix = row;
        on.clickLine(mix);
        QSignalSpy pages(&on.workspace, &Workspace::pageRequested);
        QTest::keyClick(on.table, Qt::Key_Return);
        QCOMPARE(pages.size(), 1);
        QCOMPARE(pages.first().first().toString(), QStringLiteral("curves"));
        const RunsSnapshotPtr hold = on.workspace.runs();
        QCOMPARE(on.workspace.shownGroups().size(), 1u);
        QVERIFY(on.workspace.shownGroups().front().key.contains(QStringLiteral("Mix")));
        on.find<QPushButton>("runsCompare")->click();
        QCOMPARE(pages.last().first().toString(), QStringLiteral("compare"));
        QTest::mouseDClick(on.table->viewport(), Qt::LeftButton, {}, on.table->visualRect(on.model->index(mix, 1)).center());
        QCOMPARE(pages.last().first().toString(), QStringLiteral("curves"));
    }

    void columns_are_chosen_moved_and_found_again_at_the_next_start() {
        Opened on;
        on.find<QToolButton>("runsColumns")->click();
        auto* list = on.find<QListWidget>("columnList");
        for (int i = 0; i < list->count(); ++i) {
            if (list->item(i)->data(Qt::UserRole).toString() == QStringLiteral("set:set0")) list->item(i)->setCheckState(Qt::Checked);
            if (list->item(i)->data(Qt::UserRole).toString() == QStringLiteral("key")) list->item(i)->setCheckState(Qt::Unchecked);
        }
        QVERIFY(on.table->shownOrder().contains(QStringLiteral("set:set0")));
        QVERIFY(!on.table->shownOrder().contains(QStringLiteral("key")));
        on.table->horizontalHeader()->moveSection(on.model->columnCount() - 1, 1);
        on.table->setColumnWidth(0, 311);
        on.page->setSort({{RunColumn::Kind::set, "set0"}, Qt::AscendingOrder});
        on.page->setGrouping({GroupBy::Kind::variant, {}});
        on.type(QStringLiteral("variant = mix"));
        QTRY_COMPARE(on.model->rowCount(), 1);
        const QStringList order = on.table->shownOrder();
        QCOMPARE(order[1], QStringLiteral("set:set0"));
        const QJsonObject state = on.page->state();
        on.open(state);
        QTRY_COMPARE(on.model->rowCount(), 1);
        QTRY_COMPARE(on.find<FigureView>("runsCurves")->figure().series.size(), std::size_t(1));
        QCOMPARE(on.table->shownOrder(), order);
        QCOMPARE(on.table->columnWidth(0), 311);
        QCOMPARE(on.page->grouping(), (GroupBy{GroupBy::Kind::variant, {}}));
        QCOMPARE(on.page->state()[QStringLiteral("filter")], state[QStringLiteral("filter")]);
        QCOMPARE(on.page->state()[QStringLiteral("sort")], state[QStringLiteral("sort")]);
    }

    void a_small_page_keeps_heads_whole_and_lines_in_sight() {
        Opened on;
        const auto& columns = on.model->columns();
        const auto key = std::find(columns.begin(), columns.end(), RunColumn{RunColumn::Kind::key_settings, {}});
        const int column = static_cast<int>(key - columns.begin()), before = on.table->columnWidth(column);
        on.page->resize(440, 300);  // what a display of 1280x800 at 200 % leaves
        QTRY_VERIFY(on.table->columnWidth(column) < before && !on.find<QWidget>("curveCard")->isVisible());
        const QFontMetrics head(on.table->horizontalHeader()->font());
        for (const int at : {column, on.model->columnCount() - 1})  // settings and times; 20: what stands beside a head's text
            QVERIFY(on.table->columnWidth(at) >= head.horizontalAdvance(on.model->headerData(at, Qt::Horizontal).toString()) + 20);
        QTRY_VERIFY(on.table->viewport()->height() >= on.table->rowHeight(0));
        on.page->resize(1000, 700);
        QTRY_VERIFY(on.find<QWidget>("curveCard")->isVisible());
    }

    void an_empty_project_says_so_and_leads_to_the_composer() {
        TemporaryDirectory project;
        Project made(project.path(), true);
        Workspace workspace;
        workspace.openProject(project.path());
        QTRY_VERIFY(workspace.session()->isLoaded());
        RunsPage page(workspace);
        page.show();
        auto* button = page.findChild<QPushButton*>(QStringLiteral("emptyStateButton"));
        QTRY_VERIFY(button->isVisible());
        QSignalSpy compose(&workspace, &Workspace::composeRequested);
        button->click();
        QCOMPARE(compose.size(), 1);
    }
    void a_selection_is_copied_as_it_stands() {
        Opened on;
        on.page->setGrouping({});
        on.clickLine(0);
        const QStringList lines = on.table->selectionAsTsv().split(QLatin1Char('\n'));
        QCOMPARE(lines.size(), 2);
        QVERIFY(lines[0].startsWith(QStringLiteral("run\tstate\t")));
        QCOMPARE(lines[1].split(QLatin1Char('\t')).size(), on.model->columnCount());
    }
};
FACETER_TEST(TestRunsPage)
#include "test_runs_page.moc"
