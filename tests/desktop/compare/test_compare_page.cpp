#include "pages/compare/compare_page.h"

#include <QAbstractItemModelTester>
#include <QClipboard>
#include <QComboBox>
#include <QFileDialog>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QPainter>
#include <QScrollBar>
#include <QSignalSpy>
#include <QStyledItemDelegate>
#include <QTableView>
#include <QToolButton>
#include <QWidgetAction>

#include "compare_project.h"
#include "figure/figure_view.h"
#include "pages/compare/compare_bar.h"
#include "pages/compare/compare_cards.h"
#include "pages/compare/compare_data.h"
#include "pages/compare/compare_header.h"
#include "store/sqlite.h"
#include "support/test.h"
#include "widgets/data_table.h"
#include "widgets/labels.h"
#include "widgets/name_box.h"

using namespace faceter;
using namespace faceter::desktop;
using namespace faceter::testing;

namespace {

/// A page of a project in a window of its own, ready to be driven.
struct Opened {
    explicit Opened(const ComparedShape& shape = {}) {
        make_compared_project(folder.path(), shape);
        opened = open_and_wait(workspace, folder.path());
        page = std::make_unique<ComparePage>(workspace);
        page->resize(1000, 700);
        page->show();
    }
    ~Opened() {
        page.reset();
        workspace.closeProject();
    }
    template <typename Widget>
    Widget* find(const char* name) const {
        return page->findChild<Widget*>(QString::fromLatin1(name));
    }
    bool wait() const {
        return QTest::qWaitFor([&] { return page->isReady() && page->view() != nullptr; }, 20000);
    }
    QString cell(int row, int column) const {
        const QAbstractItemModel* model = find<QTableView>("compareTable")->model();
        return model->index(row, column).data().toString();
    }
    /// Moves a list by keys until it says `text`, as a person without a mouse would.
    bool choose(const char* box, const QString& text) const {
        auto* combo = find<QComboBox>(box);
        combo->setFocus();
        QTest::keyClick(combo, Qt::Key_Home);
        for (int i = 0; i < combo->count() && !combo->currentText().contains(text); ++i) QTest::keyClick(combo, Qt::Key_Down);
        return combo->currentText().contains(text) && wait();
    }

    TemporaryDirectory folder;
    Workspace workspace;
    std::unique_ptr<ComparePage> page;
    bool opened = false;
};

}  // namespace

class TestComparePage : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void of_many_notes_the_first_are_shown_and_the_others_counted() {
        const TemporaryDirectory folder;
        make_sample_project(folder.path());
        const Experiment experiment = parse_sample();
        for (int i = 0; i < 40; ++i) {  // each is noted: it repeats a seed
            const RunDirectory run = RunDirectory::create(folder.path(), experiment, experiment.runs()[1], false);
            write_attempt(run, 1, 2, "finished");
            write_results(run, 1.0);
        }
        Workspace workspace;
        QVERIFY(open_and_wait(workspace, folder.path()));
        ComparePage page(workspace);
        page.show();
        QTRY_VERIFY_WITH_TIMEOUT(page.isReady() && page.view(), 20000);
        QStringList repeated, rest;
        for (const QLabel* label : page.inspector()->findChildren<QLabel*>()) {
            if (label->text().contains(QStringLiteral("with the same seed"))) repeated << label->text();
            if (label->text() == QStringLiteral("and 28 more")) rest << label->text();
        }
        QCOMPARE(repeated.size(), 12);
        QCOMPARE(rest.size(), 1);
    }

    void heads_of_neighbours_that_differ_at_their_ends_are_told_apart() {
        class Heads : public QAbstractTableModel {
          public:
            QStringList names;
            int rowCount(const QModelIndex&) const override { return 1; }
            int columnCount(const QModelIndex&) const override { return static_cast<int>(names.size()); }
            QVariant data(const QModelIndex&, int) const override { return {}; }
            QVariant headerData(int section, Qt::Orientation, int role) const override {
                return role == Qt::DisplayRole      ? QVariant(names[section])
                       : role == Qt::ForegroundRole ? QVariant(QColor(Qt::blue))
                                                    : QVariant();
            }
        } model;
        model.names = {QStringLiteral("IC curriculum=data_cube instance_level=false"),
                       QStringLiteral("IC curriculum=data_cube instance_level=true"), QStringLiteral("EM")};
        QTableView table;
        table.setModel(&model);
        auto* header = new CompareHeader(&table);
        table.setHorizontalHeader(header);
        for (int column = 0; column < 3; ++column) table.setColumnWidth(column, 120);
        QCOMPARE(header->linesOf(0).size(), 2);
        QVERIFY2(header->linesOf(0) != header->linesOf(1), qPrintable(header->linesOf(0).join(QLatin1Char('|'))));
        QVERIFY2(header->linesOf(0).last().endsWith(QStringLiteral("false")), qPrintable(header->linesOf(0).join(QLatin1Char('|'))));
        QCOMPARE(header->linesOf(2), QStringList{QStringLiteral("EM")});
        QVERIFY(header->sizeHint().height() >= 2 * header->fontMetrics().height());
    }

    void the_table_shows_groups_across_and_data_sets_down() {
        Opened opened;
        QVERIFY(opened.opened && opened.wait());
        const QAbstractItemModel* model = opened.find<QTableView>("compareTable")->model();
        QStringList heads;
        for (int column = 0; column < model->columnCount(); ++column) heads << model->headerData(column, Qt::Horizontal).toString();
        QCOMPARE(heads, (QStringList{"task", "data set", "start", "EM", "IC", "MoTE", "TLR MoE"}));
        QCOMPARE(opened.cell(0, 0), QStringLiteral("retrieval"));
        QCOMPARE(opened.cell(1, 0), QString());
        QCOMPARE(opened.cell(0, 1), QStringLiteral("name nDCG@10"));
        QVERIFY2(opened.cell(0, 5).contains(QStringLiteral(" +")), qPrintable(opened.cell(0, 5)));
        QVERIFY(model->headerData(3, Qt::Horizontal, Qt::ForegroundRole).isValid());
        QVERIFY(opened.find<FigureView>("compareGain")->hasValues());
        QVERIFY(opened.find<FigureView>("compareScatter")->hasValues());
    }
    void the_names_of_groups_have_their_colours() {
        Opened opened;
        QVERIFY(opened.wait());
        opened.page->resize(1000, 1600);
        QStringList plain;
        for (auto* name : opened.find<QWidget>("compareWins")->findChildren<ElidedLabel*>()) {
            QTRY_VERIFY(name->isVisible() && name->width() >= name->sizeHint().width());
            const QImage image = name->grab().toImage();
            bool coloured = false;
            for (int y = 0; y < image.height(); ++y)
                for (int x = 0; x < image.width(); ++x) coloured = coloured || image.pixelColor(x, y).hsvSaturation() > 60;
            if (!coloured) plain << name->fullText();
        }
        QVERIFY2(plain.isEmpty(), qPrintable(plain.join(QStringLiteral(", "))));
    }
    void many_long_names_leave_both_columns_their_width_and_every_line_its_height() {
        ComparedShape shape;
        shape.sets = 2, shape.seeds = 1, shape.variants.clear();
        for (int i = 0; i < 12; ++i) shape.variants.push_back("a_variant_whose_name_says_all_of_its_settings_" + std::to_string(i));
        Opened opened(shape);
        QVERIFY(opened.wait());
        opened.page->resize(1100, 1600);
        const QWidget *gain = opened.find<QWidget>("compareGain")->parentWidget(), *counts = opened.find<QWidget>("compareWins"),
                      *pair = opened.find<QWidget>("compareScatter")->parentWidget();
        const auto names = counts->findChildren<ElidedLabel*>();
        QCOMPARE(names.size(), qsizetype{12});
        QTRY_VERIFY(names.last()->isVisible() && std::abs(pair->width() - counts->parentWidget()->width()) <= 2);
        QVERIFY2(gain->width() > 2 * pair->width(), "the gains of so many groups take both columns");
        for (const ElidedLabel* name : names) QVERIFY(name->height() >= name->fontMetrics().height());
        QVERIFY(counts->parentWidget()->rect().contains(counts->geometry()));
        QVERIFY(opened.choose("compareBaseline", QStringLiteral("settings_11")));
        const QString shown = static_cast<NameBox*>(opened.find<QComboBox>("compareBaseline"))->shownText();
        QVERIFY2(shown.contains(QChar(0x2026)) && shown.endsWith(QStringLiteral("_11")), qPrintable(shown));
    }
    void the_baselines_box_keeps_its_word_and_the_variant_of_a_sweeps_point() {
        Opened opened;
        QVERIFY(opened.wait());
        Comparison comparison;
        comparison.groups.resize(1);
        comparison.groups.front().name = "EM training.learning_rate=1e-05,training.batch_size=32";
        opened.page->findChild<CompareBar*>()->setGroups(comparison, 0);
        auto* box = static_cast<NameBox*>(opened.find<QComboBox>("compareBaseline"));
        QTRY_VERIFY2(box->shownText().startsWith(QStringLiteral("Baseline: EM ")), qPrintable(box->shownText()));
        QTRY_VERIFY2(box->shownText().contains(QStringLiteral("1e-05")), qPrintable(box->shownText()));
        QCOMPARE(box->toolTip(), QStringLiteral("Baseline: EM training.learning_rate=1e-05,training.batch_size=32"));
        const QString value = opened.find<QComboBox>("compareValue")->toolTip();
        QVERIFY2(value.startsWith(QStringLiteral("Mean over seeds: ")), qPrintable(value));
    }
    void examples_that_could_not_be_read_are_asked_for_again() {
        Opened opened;
        QVERIFY(opened.wait());
        Store store(opened.folder.path());
        const auto hide = [&](const char* sql) { Database(store.file()).execute(sql); };
        hide("ALTER TABLE results RENAME TO results_away");
        auto* table = opened.find<QTableView>("compareTable");
        table->selectRow(0);
        QTRY_VERIFY(!opened.find<ErrorBar>("errorBar")->message().isEmpty());
        QVERIFY(opened.page->isReady());
        hide("ALTER TABLE results_away RENAME TO results");
        table->selectRow(1);
        QTRY_VERIFY(opened.find<FigureView>("compareExamples")->isVisible());
        QVERIFY(opened.find<ErrorBar>("errorBar")->message().isEmpty());
    }
    void the_head_of_a_group_counts_its_seeds() {
        Opened opened;
        QVERIFY(opened.wait());
        const QAbstractItemModel* model = opened.find<QTableView>("compareTable")->model();
        QCOMPARE(model->headerData(2, Qt::Horizontal, Qt::ToolTipRole).toString(), QStringLiteral("start, 1 seed"));
        QCOMPARE(model->headerData(3, Qt::Horizontal, Qt::ToolTipRole).toString(), QStringLiteral("EM, 3 seeds"));
    }
    void the_model_keeps_the_rules_of_models() {
        Opened opened;
        QVERIFY(opened.wait());
        const QAbstractItemModelTester tester(opened.find<QTableView>("compareTable")->model(),
                                              QAbstractItemModelTester::FailureReportingMode::QtTest);
        QVERIFY(opened.choose("compareTest", QStringLiteral("Welch")));
        QVERIFY(opened.choose("comparePublished", QStringLiteral("MoTE, Table 2")));
    }
    void another_baseline_by_keyboard_changes_the_deltas() {
        Opened opened;
        QVERIFY(opened.wait());
        QSignalSpy spy(&opened.workspace, &Workspace::baselineChanged);
        const QString before = opened.cell(0, 5);
        QVERIFY(opened.choose("compareBaseline", QStringLiteral(": IC")));
        QVERIFY(opened.cell(0, 5) != before);
        QVERIFY(!opened.cell(0, 4).contains(QLatin1Char('+')));
        QVERIFY(opened.cell(0, 2).contains(QStringLiteral(" -")));
        QVERIFY(spy.count() > 0 && opened.workspace.baseline().contains(QStringLiteral("IC")));
    }
    void the_test_that_is_chosen_is_named_and_stars_the_cells() {
        Opened opened;
        QVERIFY(opened.wait());
        auto* subtitle = opened.find<QLabel>("compareSubtitle");
        QVERIFY(subtitle->text().contains(QStringLiteral("Paired t over data sets")));
        QVERIFY(!opened.cell(0, 6).contains(QLatin1Char('*')));
        QVERIFY(opened.choose("compareTest", QStringLiteral("Paired bootstrap")));
        QVERIFY(subtitle->text().contains(QStringLiteral("Paired bootstrap over examples")) &&
                subtitle->text().contains(QStringLiteral("Holm")));
        QVERIFY2(opened.cell(0, 6).contains(QLatin1Char('*')), qPrintable(opened.cell(0, 6)));
        QVERIFY(subtitle->text().contains(QStringLiteral("No test on mean over data sets: same source")));
        QCOMPARE(opened.page->view()->choice.test, CompareTest::bootstrap);
    }
    void a_newer_choice_stops_the_test_before_it() {
        Opened opened;
        QVERIFY(opened.wait());
        auto* test = opened.find<QComboBox>("compareTest");
        for (const int index : {2, 3, 2, 3, 4}) test->setCurrentIndex(index);
        QVERIFY(opened.wait());
        QCOMPARE(opened.page->view()->choice.test, CompareTest::welch_seeds);
    }
    void exports_are_the_bytes_of_the_core_exporters() {
        Opened opened;
        QVERIFY(opened.wait());
        Store store(opened.folder.path());
        const Comparison comparison = compare_runs(store, store.runs(), "");
        for (const std::string_view name : {"csv", "tsv", "md", "latex"}) {
            const TableFormat format = parse_table_format(name);
            QCOMPARE(opened.page->exportText(ComparisonLayout::groups_down, format), export_table(comparison_table(comparison), format));
        }
        QCOMPARE(opened.page->exportText(ComparisonLayout::groups_down, TableFormat::json), comparison_json(comparison).dump(2) + "\n");
        const Table shown = comparison_by_set_table(comparison, view_comparison(comparison, {}));
        for (const std::string_view name : {"csv", "tsv", "md", "latex", "json"})
            QCOMPARE(opened.page->exportText(ComparisonLayout::sets_down, parse_table_format(name)),
                     export_table(shown, parse_table_format(name)));
    }
    void the_halves_of_the_export_menu_say_what_they_are() {
        Opened opened;
        QMenu* menu = opened.find<QToolButton>("compareExport")->menu();
        menu->popup(QPoint(0, 0));
        QStringList headings;
        for (const QAction* action : menu->actions())
            if (const auto* heading = qobject_cast<const QWidgetAction*>(action)) {
                const auto* label = qobject_cast<const QLabel*>(heading->defaultWidget());
                QVERIFY(label && label->isVisible() && label->width() >= label->sizeHint().width() && !heading->isEnabled());
                headings << label->text();
            }
        menu->close();
        QCOMPARE(headings, (QStringList{QStringLiteral("As shown, data sets down"), QStringLiteral("As faceter compare, groups down")}));
    }
    void the_menu_writes_an_export_into_a_file() {
        Opened opened;
        QVERIFY(opened.wait());
        auto* action = opened.find<QToolButton>("compareExport")->menu()->findChild<QAction*>(QStringLiteral("compareExport-groups-latex"));
        QVERIFY(action);
        QCoreApplication::setAttribute(Qt::AA_DontUseNativeDialogs);
        action->trigger();
        auto* dialog = opened.page->findChild<QFileDialog*>();
        QVERIFY(dialog);
        const QString proposed = dialog->findChild<QLineEdit*>(QStringLiteral("fileNameEdit"))->text();
        QVERIFY2(proposed.endsWith(QStringLiteral("-comparison.tex")), qPrintable(proposed));
        const fs::path file = opened.folder.path() / "out.tex";
        Q_EMIT dialog->fileSelected(qs(file.string()));
        QTRY_VERIFY(fs::exists(file));
        QCOMPARE(read_file(file), opened.page->exportText(ComparisonLayout::groups_down, TableFormat::latex));
        QVERIFY(read_file(file).find("\\toprule") != std::string::npos);
    }
    void copy_puts_the_table_on_the_clipboard() {
        Opened opened;
        QVERIFY(opened.wait());
        const auto actions = opened.find<QToolButton>("compareCopy")->menu()->actions();
        actions.at(1)->trigger();
        QCOMPARE(QApplication::clipboard()->text(), qs(opened.page->exportText(ComparisonLayout::sets_down, TableFormat::md)));
    }
    void the_figure_of_gains_is_written_as_pdf() {
        Opened opened;
        QVERIFY(opened.wait());
        auto* gain = opened.find<FigureView>("compareGain");
        QCOMPARE(gain->figure().series.size(), std::size_t{4});
        QVERIFY(!gain->figure().series[3].low.empty());
        const fs::path file = opened.folder.path() / "gain.pdf";
        gain->exportTo(qs(file.string()), ExportFormat::pdf);
        QVERIFY(read_file(file).starts_with("%PDF-"));
    }
    void a_data_set_shows_its_seeds_and_the_differences_of_its_examples() {
        Opened opened;
        QVERIFY(opened.wait());
        auto* table = opened.find<QTableView>("compareTable");
        table->setFocus();
        table->selectRow(0);
        QTest::keyClick(table, Qt::Key_Down);
        QVERIFY(opened.wait());
        QTRY_VERIFY(opened.find<FigureView>("compareExamples")->isVisible());
        QVERIFY(opened.find<FigureView>("compareSeeds")->figure().title.starts_with("synopsis"));
        QCOMPARE(opened.find<FigureView>("compareExamples")->figure().series.size(), std::size_t{4});
        QCOMPARE(opened.find<FigureView>("compareExamples")->figure().series[0].y.size(), std::size_t{60});
        for (int i = 0; i < 6; ++i) QTest::keyClick(table, Qt::Key_Down);
        QTRY_VERIFY(opened.find<FigureView>("compareSeeds")->figure().title.starts_with("same source,"));
        QVERIFY(!opened.find<FigureView>("compareExamples")->isVisible());
    }
    void buttons_and_filter_are_whole_in_a_narrow_window() {
        Opened opened;
        QVERIFY(opened.wait());
        opened.page->setMinimumWidth(420);  // what a window of 640 leaves
        opened.page->resize(420, 700);
        QTRY_COMPARE(opened.page->width(), 420);
        for (const char* name : {"compareView", "compareCopy", "compareExport", "compareSeries", "compareOrder", "compareFilter"}) {
            const auto* widget = opened.find<QWidget>(name);
            QTRY_VERIFY2(widget->width() >= std::min(200, widget->sizeHint().width()), name);
            QTRY_VERIFY2(widget->mapTo(opened.page.get(), QPoint(widget->width(), 0)).x() <= 420, name);
        }
    }
    void no_digit_of_a_score_of_a_hundred_is_cut() {
        ComparedShape shape;
        shape.sets = 13;  // the last are scored so
        Opened opened(shape);
        QVERIFY(opened.wait());
        opened.page->resize(600, 700);
        auto* table = opened.find<QTableView>("compareTable");
        const QAbstractItemModel* model = table->model();
        QTRY_VERIFY(table->horizontalScrollBar()->maximum() > 0);  // no column has more than it needs
        const auto painted = [&](const QModelIndex& cell, int width) {
            QImage image(width, 24, QImage::Format_RGB32);
            image.fill(Qt::white);
            QPainter painter(&image);
            QStyleOptionViewItem option;
            option.initFrom(table);
            option.rect = image.rect();
            option.widget = table;
            table->itemDelegate()->paint(&painter, option, cell);
            return image;
        };
        int hundreds = 0;
        for (int row = 0; row < model->rowCount(); ++row)
            for (int column = 2; column < model->columnCount(); ++column) {
                const QModelIndex cell = model->index(row, column);
                if (!cell.data().toString().startsWith(QStringLiteral("10"))) continue;
                ++hundreds;
                constexpr int more = 40, padding = 7;  // would hold what is cut
                const QImage image = painted(cell, table->columnWidth(column) + more);
                for (int y = 0; y < image.height(); ++y)
                    for (int x = 1; x < more + padding; ++x) QCOMPARE(image.pixel(x, y), image.pixel(0, y));
            }
        QVERIFY(hundreds > 0);
    }
    void many_groups_scroll_beside_the_names_of_the_rows() {
        ComparedShape shape;
        shape.variants = {"EM", "IC", "MoTE", "TLR MoE", "averaged", "wide", "narrow", "other"};
        shape.seeds = 1;
        Opened opened(shape);
        QVERIFY(opened.wait());
        opened.page->resize(800, 700);
        auto* table = opened.find<QTableView>("compareTable");
        auto* names = opened.find<QTableView>("frozenColumns");
        QTRY_VERIFY(table->horizontalScrollBar()->maximum() > 0);
        QVERIFY(!names->isVisible());
        table->horizontalScrollBar()->setValue(table->horizontalScrollBar()->maximum());
        QVERIFY(names->isVisible());
        QCOMPARE(names->width(), table->columnWidth(0) + table->columnWidth(1));
        for (int row = 0; row < table->model()->rowCount(); ++row) {
            const QRect there = table->visualRect(table->model()->index(row, 2)), here = names->visualRect(names->model()->index(row, 1));
            QCOMPARE(table->viewport()->mapToGlobal(there.topLeft()).y(), names->viewport()->mapToGlobal(here.topLeft()).y());
        }
        QTest::mouseClick(names->viewport(), Qt::LeftButton, {}, names->visualRect(names->model()->index(1, 1)).center());
        QCOMPARE(table->currentIndex().row(), 1);
    }
    void published_columns_stand_at_the_means() {
        Opened opened;
        QVERIFY(opened.wait());
        QVERIFY(opened.choose("comparePublished", QStringLiteral("MoTE, Table 2")));
        const QAbstractItemModel* model = opened.find<QTableView>("compareTable")->model();
        QCOMPARE(model->columnCount(), 2 + 5 + 4);
        for (int row = 0; row < model->rowCount(); ++row) {
            if (opened.cell(row, 1) == QStringLiteral("over 8 data sets")) QCOMPARE(opened.cell(row, 10), QStringLiteral("+3.23"));
            if (opened.cell(row, 0) == QStringLiteral("mean, retrieval")) QCOMPARE(opened.cell(row, 7), QStringLiteral("42.31"));
        }
        QVERIFY(opened.find<FigureView>("compareGain")->figure().series.size() == 4);
    }
    void names_from_outside_stay_text() {
        ComparedShape shape;
        shape.variants = {"EM", hostile_name()};
        shape.sets = 2;
        Opened opened(shape);
        QVERIFY(opened.wait());
        const QAbstractItemModel* model = opened.find<QTableView>("compareTable")->model();
        QCOMPARE(model->headerData(4, Qt::Horizontal).toString(), QString::fromLatin1(hostile_name()));
        QVERIFY(!model->headerData(4, Qt::Horizontal, Qt::ToolTipRole).toString().contains(QLatin1Char('<')));
        for (const QLabel* label : opened.page->findChildren<QLabel*>()) QVERIFY(label->textFormat() == Qt::PlainText);
        QVERIFY(opened.page->exportText(ComparisonLayout::sets_down, TableFormat::csv).find("'=1+<b>") != std::string::npos);
        QVERIFY(opened.page->exportText(ComparisonLayout::sets_down, TableFormat::latex).find("\\&") != std::string::npos);
    }
    /// An answer about examples that came when less than two groups were left was compared with a baseline that is none of them.
    void groups_that_go_while_examples_are_read_end_in_no_comparison() {
        Opened opened;
        QVERIFY(opened.wait());
        const QString last = opened.workspace.groups().back().key;
        auto* table = opened.find<QTableView>("compareTable");
        for (const QStringList& left : {QStringList(), QStringList(last)}) {
            QStringList all;
            for (const RunGroupRef& group : opened.workspace.groups()) all << group.key;
            for (const QString& group : all) opened.workspace.setShown(group, true);
            QVERIFY(opened.wait());
            table->selectRow(0);
            QTest::keyClick(table, Qt::Key_Down);
            for (const QString& group : all) {
                if (!left.contains(group)) opened.workspace.setShown(group, false);
                QCoreApplication::processEvents();  // each is a change by itself
            }
            QTRY_VERIFY(opened.page->isReady() && opened.workspace.session()->isIdle());
            QVERIFY(!opened.page->view());
        }
    }
    void one_group_or_none_says_what_is_missing() {
        ComparedShape alone;
        alone.variants = {"EM"};
        Opened opened(alone);
        QTRY_VERIFY(opened.page->isReady());
        opened.workspace.showOnly({opened.workspace.groups().back().key});
        QTRY_VERIFY(opened.page->isReady() && !opened.page->view());
        const auto texts = [&] {
            QStringList all;
            for (const QLabel* label : opened.page->findChildren<QLabel*>())
                if (label->isVisible()) all << label->text();
            return all.join(QLatin1Char('\n'));
        };
        QVERIFY2(texts().contains(QStringLiteral("One group has scores")), qPrintable(texts()));
        opened.workspace.showOnly({});
        QTRY_VERIFY(opened.page->isReady() && texts().contains(QStringLiteral("Nothing to compare yet")));
    }
    void values_of_series_are_rows_that_order_the_groups() {
        Opened opened;
        QVERIFY(opened.opened && opened.wait());
        QTest::mouseClick(opened.find<QToolButton>("compareSeries"), Qt::LeftButton);
        auto* list = opened.page->window()->findChild<QListWidget*>(QStringLiteral("compareSeriesList"));
        auto* search = opened.page->window()->findChild<QLineEdit*>(QStringLiteral("compareSeriesSearch"));
        QVERIFY(list && search);
        const auto tick = [&](const QString& name) {
            for (int i = 0; i < list->count(); ++i)
                if (list->item(i)->data(Qt::UserRole).toString() == name) list->item(i)->setCheckState(Qt::Checked);
        };
        QTest::keyClicks(search, QStringLiteral("loss:10"));
        tick(QStringLiteral("loss:10"));
        tick(QStringLiteral("loss:best"));
        QTest::keyClick(search, Qt::Key_Escape);
        const auto heads = [&] {
            QStringList all;
            const QAbstractItemModel* model = opened.find<QTableView>("compareTable")->model();
            for (int column = 2; column < model->columnCount(); ++column) all << model->headerData(column, Qt::Horizontal).toString();
            return all;
        };
        const auto lastName = [&] { return opened.cell(opened.find<QTableView>("compareTable")->model()->rowCount() - 1, 1); };
        QTRY_COMPARE(lastName(), QStringLiteral("loss at step 10"));
        QCOMPARE(heads(), (QStringList{"start", "EM", "IC", "MoTE", "TLR MoE"}));
        QVERIFY(opened.choose("compareOrder", QStringLiteral("loss (best), least first")));
        QTRY_COMPARE(heads(), (QStringList{"start", "TLR MoE", "MoTE", "IC", "EM"}));
        QVERIFY(opened.find<QComboBox>("compareBaseline")->currentText().contains(QStringLiteral("start")));
        auto* filter = opened.find<QLineEdit>("compareFilter");
        filter->setFocus();
        QTest::keyClicks(filter, QStringLiteral("loss:best > 0.135"));
        QTest::keyClick(filter, Qt::Key_Return);
        QTRY_COMPARE(heads(), (QStringList{"IC", "EM"}));
        const QJsonObject state = opened.page->state();
        ComparePage next(opened.workspace);
        next.restore(state);
        next.show();
        QTRY_VERIFY(next.isReady() && next.view() && next.view()->rows.back().values.size() == 2);
        QCOMPARE(next.view()->rows.back().name, std::string("loss:10"));
        filter->setText(QStringLiteral("loss:best > 100"));
        QTest::keyClick(filter, Qt::Key_Return);
        QTRY_VERIFY(opened.page->isReady() && !opened.page->view());
        QVERIFY(filter->isVisible());  // it can be taken back
        filter->clear();
        QTRY_COMPARE(heads().size(), 5);
    }
    void a_filter_by_tag_follows_the_tags() {
        Opened opened({4, 1, {"EM", "IC"}});
        QVERIFY(opened.wait());
        const auto directory = [&](const char* name) { return Project(opened.folder.path(), false).find_run(name); };
        directory("EM").append_user_event({{"tag", "paper"}});
        opened.workspace.session()->refresh();
        auto* filter = opened.find<QLineEdit>("compareFilter");
        filter->setText(QStringLiteral("tag = paper"));
        QTest::keyClick(filter, Qt::Key_Return);
        QTRY_VERIFY(opened.page->isReady() && !opened.page->view());  // one alone is compared with nothing
        directory("IC").append_user_event({{"tag", "paper"}});
        opened.workspace.session()->refresh();
        QTRY_VERIFY(opened.page->isReady() && opened.page->view() && opened.page->view()->rows.front().values.size() == 2);
    }
    void choices_are_found_again_at_the_next_start() {
        Opened opened;
        QVERIFY(opened.wait());
        QVERIFY(opened.choose("compareBaseline", QStringLiteral(": IC")));
        QVERIFY(opened.choose("compareTest", QStringLiteral("Welch")));
        const QJsonObject state = opened.page->state();
        ComparePage next(opened.workspace);
        next.restore(state);
        next.show();
        QTRY_VERIFY(next.isReady() && next.view());
        QCOMPARE(next.view()->choice.test, CompareTest::welch_seeds);
        QCOMPARE(next.findChild<QComboBox*>(QStringLiteral("compareBaseline"))->currentText(), QStringLiteral("Baseline: IC"));
    }
    void the_inspector_names_settings_test_and_overlap() {
        Opened opened;
        QVERIFY(opened.wait());
        QWidget* part = opened.page->inspector();
        QStringList texts;
        for (const QLabel* label : part->findChildren<QLabel*>())
            texts << (qobject_cast<const ElidedLabel*>(label) ? static_cast<const ElidedLabel*>(label)->fullText() : label->text());
        const QString all = texts.join(QLatin1Char('\n'));
        for (const char* piece : {"Differences in settings", "placement", "other settings equal", "Speaks for other data sets", "n = 8",
                                  "Test data seen in training"})
            QVERIFY2(all.contains(QString::fromLatin1(piece)), qPrintable(all));
        QVERIFY2(!all.contains(QString::fromUtf8("— → —")), qPrintable(all));  // EM has no placement, as the start model
    }

    void titles_name_a_point_of_a_sweep_with_short_keys() {
        Comparison comparison;
        comparison.groups.resize(2);
        comparison.groups[0].name = "EM training.learning_rate=1e-05,training.batch_size=32";
        comparison.groups[1].name = "EM training.learning_rate=2e-05,training.batch_size=32";
        comparison.baseline = 0;
        ComparisonView view;
        view.baseline = 0;
        view.gains.resize(2);
        const Figure figure = gainFigure(comparison, view, {0, 1});
        QCOMPARE(figure.title, std::string("Mean gain over EM lr=1e-05,bs=32, 95 % interval"));
        const Figure seeds = seedsFigure(comparison, "synopsis", {0, 1});
        QCOMPARE(seeds.x.categories, (std::vector<std::string>{"EM lr=1e-05,bs=32", "EM lr=2e-05,bs=32"}));
        QCOMPARE(scatterFigure(comparison, view, 0, 1).y.label, std::string("EM lr=2e-05,bs=32"));
    }
};

FACETER_TEST(TestComparePage)
#include "test_compare_page.moc"
