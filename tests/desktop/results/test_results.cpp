#include <QAbstractItemModelTester>
#include <QContextMenuEvent>
#include <QLineEdit>
#include <QListView>
#include <QPushButton>
#include <QTimer>
#include <fstream>

#include "common/file.h"
#include "desktop/support/sample_project.h"
#include "desktop/support/save_dialog.h"
#include "figure/figure_view.h"
#include "figure/table_export.h"
#include "pages/results/result_list_model.h"
#include "pages/results/results_page.h"
#include "support/test.h"
#include "widgets/labels.h"
#include "widgets/run_label.h"

using namespace faceter;
using namespace faceter::desktop;
using namespace faceter::testing;

namespace {

const char* const hostile = "<img src=x onerror=1> & \"q\" =1+1|%1\n\xE2\x80\xAE";

Figure lines_figure(double level) {
    Figure figure;
    figure.kind = FigureKind::lines;
    figure.name = "recall";
    figure.title = hostile;
    figure.x.label = "k";
    figure.y.label = "recall";
    figure.series.push_back({"first", {1, 2, 3}, {level, level + 1, level + 2}});
    figure.series.push_back({"second", {1, 2, 3}, {level + 3, level + 2, level + 1}});
    return figure;
}

Table small_table(double value) {
    Table table;
    table.name = "load";
    table.caption = hostile;
    table.add_column("expert", ColumnKind::text);
    table.add_column("share", ColumnKind::number, 3);
    table.add_row({Cell::of(hostile), Cell::of(value)});
    table.add_row({Cell::of("two"), Cell::of(1 - value)});
    return table;
}

/// Documents of an analysis that no line of the desktop knows, in all runs; one of them broken.
void add_documents(const fs::path& project) {
    int i = 0;
    const Json source = {{"analysis", "novel"}, {"name", "novel"}};
    const Project opened(project, false);
    for (const std::string& id : opened.run_ids()) {
        const RunDirectory run(opened.runs_folder() / id);
        Json figure = lines_figure(i).to_json(), table = small_table(0.25).to_json();
        figure["source"] = table["source"] = source;
        if (i == 1) figure["series"][0]["x"] = {1, 2};
        run.write_figure("recall", figure);
        run.write_table("load", table);
        ++i;
    }
}

/// A figure without series, of the same analysis.
void add_empty_figure(const fs::path& project, const std::string& name) {
    Figure figure;
    figure.name = name;
    Json json = figure.to_json();
    json["source"] = {{"analysis", "novel"}, {"name", "novel"}};
    const Project opened(project, false);
    for (const std::string& id : opened.run_ids()) RunDirectory(opened.runs_folder() / id).write_figure(name, json);
}

std::string file_text(const QString& path) {
    std::ifstream file(path.toStdString(), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

class TestResults : public QObject {
    Q_OBJECT
  private:
    std::unique_ptr<TemporaryDirectory> m_folder;
    std::unique_ptr<Workspace> m_workspace;
    std::unique_ptr<ResultsPage> m_page;

    void make() {
        m_page.reset();
        m_workspace = std::make_unique<Workspace>();
        m_folder = std::make_unique<TemporaryDirectory>();
        make_sample_project(m_folder->path(), 3);
    }
    void show() {
        QVERIFY(open_and_wait(*m_workspace, m_folder->path()));
        m_page = std::make_unique<ResultsPage>(*m_workspace);
        m_page->resize(1000, 700);
        m_page->show();
        QTRY_VERIFY(m_page->isReady());
    }
    void open(bool documents, bool torn = false, bool emptyFirst = false) {
        make();
        if (documents) add_documents(m_folder->path());
        if (emptyFirst) add_empty_figure(m_folder->path(), "a_first");
        const Project project(m_folder->path(), false);
        if (torn) overwrite(project.runs_folder() / project.run_ids().front() / "tables" / "load.json", "{\"type\": \"tab");
        show();
    }
    QListView* list() const { return m_page->findChild<QListView*>(QStringLiteral("resultsList")); }
    static QString nameAt(const QListView* list, const QModelIndex& index) {
        const ResultEntry* entry = qobject_cast<const ResultListModel*>(list->model())->entryAt(index);
        return entry ? qs(entry->name) : QString();
    }
    QString currentName() const { return nameAt(list(), list()->currentIndex()); }
    QModelIndex named(const QString& name) const {
        for (int row = 0; row < list()->model()->rowCount(); ++row)
            if (const QModelIndex index = list()->model()->index(row, 0); nameAt(list(), index) == name) return index;
        return {};
    }
    void click(const QString& name) {
        const QModelIndex index = named(name);
        QVERIFY(index.isValid());
        QTest::mouseClick(list()->viewport(), Qt::LeftButton, {}, list()->visualRect(index).center());
        QTRY_VERIFY(m_page->isReady());
    }
    QMenu* exportMenu() const {
        QMenu* menu = m_page->findChild<QPushButton*>(QStringLiteral("resultsExport"))->menu();
        Q_EMIT menu->aboutToShow();
        return menu;
    }
    int count(const char* name) const { return static_cast<int>(m_page->findChildren<QWidget*>(QLatin1String(name)).size()); }

  private Q_SLOTS:
    void cleanup() {
        m_page.reset();
        m_workspace.reset();
    }
    void a_project_without_documents_says_what_would_be_here() {
        open(false);
        const auto* empty = m_page->findChild<EmptyState*>();
        QVERIFY(empty->isVisible());
        bool named = false;
        for (const QLabel* label : empty->findChildren<QLabel*>()) named |= label->text().contains(QStringLiteral("inter_task_similarity"));
        QVERIFY(named);
        QSignalSpy wanted(m_workspace.get(), &Workspace::pageRequested);
        QTest::mouseClick(empty->findChild<QPushButton*>(), Qt::LeftButton);
        QCOMPARE(wanted.size(), 1);
    }
    void documents_of_an_unknown_analysis_stand_under_its_name() {
        open(true);
        QAbstractItemModelTester tester(list()->model(), QAbstractItemModelTester::FailureReportingMode::QtTest);
        QCOMPARE(list()->model()->rowCount(), 3);
        QVERIFY(list()->model()->index(0, 0).data().toString().contains(QStringLiteral("novel")));
        QVERIFY(!(list()->model()->index(0, 0).flags() & Qt::ItemIsSelectable));
        QVERIFY(named(QStringLiteral("recall")).isValid());
        QVERIFY(named(QStringLiteral("load")).isValid());
    }
    void figures_are_listed_by_their_titles_without_the_names_of_runs() {
        make();
        const Project project(m_folder->path(), false);
        for (const std::string& id : project.run_ids()) {
            const RunDirectory run(project.runs_folder() / id);
            Figure shared = lines_figure(1), own = lines_figure(2);
            shared.name = "inter_task_projection";
            shared.title = "The same texts under each task, " + run.info().variant;
            own.name = "told_apart";
            own.title = "Of " + run.info().variant + " alone";
            for (const Figure& figure : {shared, own}) {
                Json json = figure.to_json();
                json["source"] = {{"analysis", "novel"}, {"name", "novel"}};
                run.write_figure(figure.name, json);
            }
        }
        show();
        QCOMPARE(named(QStringLiteral("inter_task_projection")).data().toString(), QStringLiteral("The same texts under each task"));
        QCOMPARE(named(QStringLiteral("told_apart")).data().toString(), QStringLiteral("told_apart"));  // runs call it differently
        click(QStringLiteral("inter_task_projection"));
        QCOMPARE(m_page->findChild<QLabel*>(QStringLiteral("resultTitle"))->text(), QStringLiteral("The same texts under each task"));
    }
    void runs_of_one_seed_are_told_apart() {
        make();
        write_attempt(sample_run(m_folder->path(), 1), 1, 5, "finished");  // EM with seed 1 once more
        add_documents(m_folder->path());
        show();
        click(QStringLiteral("recall"));
        QSet<QString> names;
        for (const QWidget* card : m_page->findChildren<QWidget*>(QStringLiteral("resultCard")))
            names << card->findChild<ElidedLabel*>()->fullText();
        QCOMPARE(names.size(), qsizetype{4});  // start, EM's two of seed 1, and that of seed 2
    }
    void only_labels_that_several_runs_share_have_the_runs_names_behind() {
        RunRow first, second, other;
        first.info.name = "EM-1", second.info.name = "EM-3", other.info.name = "EM-2";
        const QString one = seedLabel(QStringLiteral("EM"), 1), two = seedLabel(QStringLiteral("EM"), 2);
        QCOMPARE(toldApart({one, two, one}, {&first, &other, &second}),
                 (QStringList{one + QString::fromUtf8(" · EM-1"), two, one + QString::fromUtf8(" · EM-3")}));
    }
    void a_broken_document_shows_its_error_and_the_others_go_on() {
        open(true);
        click(QStringLiteral("recall"));
        QCOMPARE(count("resultCard"), 3);
        QCOMPARE(count("resultFigure"), 2);
        QCOMPARE(count("resultError"), 1);
        const QString error = m_page->findChild<QLabel*>(QStringLiteral("resultError"))->text();
        QVERIFY2(error.contains(QStringLiteral("2 x and 3 y")), qPrintable(error));
        QSet<QString> spoken;
        for (const FigureView* view : m_page->findChildren<FigureView*>(QStringLiteral("resultFigure"))) spoken << view->accessibleName();
        QCOMPARE(spoken.size(), qsizetype{2});  // each is of its run
        for (const FigureView* view : m_page->findChildren<FigureView*>()) {
            QVERIFY(view->hasValues());
            QCOMPARE(view->grabData().size(), 2);
        }
    }
    void a_torn_file_shows_its_error_in_its_place() {
        open(true, true);
        QCOMPARE(list()->model()->rowCount(), 3);  // no entry beside the one that the other runs have
        click(QStringLiteral("load"));
        QCOMPARE(count("resultCard"), 3);
        QCOMPARE(count("resultTable"), 2);
        QCOMPARE(count("resultError"), 1);
        const QString error = m_page->findChild<QLabel*>(QStringLiteral("resultError"))->text();
        QVERIFY2(error.contains(QStringLiteral("tables/load.json")), qPrintable(error));
        const auto cards = m_page->findChildren<QWidget*>(QStringLiteral("resultCard"));
        QVERIFY(cards.at(1)->findChild<QLabel*>(QStringLiteral("resultError")));  // start, EM seed 1 (the first by name), EM seed 2
    }
    void cards_have_their_places_at_once_and_are_filled_one_a_turn() {
        open(true);
        click(QStringLiteral("load"));
        list()->setCurrentIndex(named(QStringLiteral("recall")));
        const auto cards = m_page->findChildren<QWidget*>(QStringLiteral("resultCard"));
        QCOMPARE(cards.size(), 3);
        QCOMPARE(count("resultFigure"), 0);
        QList<QRect> places;
        for (const QWidget* card : cards) {
            QVERIFY(card->isVisible());
            QVERIFY2(card->height() > 300, qPrintable(QString::number(card->height())));
            places << card->geometry();
        }
        QTRY_COMPARE(count("resultFigure"), 1);
        QTRY_VERIFY(m_page->isReady());
        QCoreApplication::sendPostedEvents(nullptr, QEvent::LayoutRequest);
        for (qsizetype i = 0; i < cards.size(); ++i) QCOMPARE(cards[i]->y(), places[i].y());
    }
    void what_is_shown_unasked_is_a_figure_with_values() {
        open(true, false, true);
        QCOMPARE(list()->model()->index(1, 0).data().toString(), QStringLiteral("a_first"));
        QCOMPARE(currentName(), QStringLiteral("recall"));
    }
    void a_figure_without_values_is_a_sentence_and_no_empty_plot() {
        open(true, false, true);
        click(QStringLiteral("a_first"));
        QCOMPARE(count("resultCard"), 3);
        QCOMPARE(count("resultFigure"), 0);
        QCOMPARE(count("resultEmpty"), 3);
    }
    void runs_are_laid_over_each_other_in_their_colours() {
        open(true);
        click(QStringLiteral("recall"));
        auto* overlay = m_page->findChild<QPushButton*>(QStringLiteral("resultsOverlay"));
        QVERIFY(overlay->isEnabled());
        QTest::keyClick(overlay, Qt::Key_Space);
        QTRY_VERIFY(m_page->isReady());
        const auto views = m_page->findChildren<FigureView*>();
        QCOMPARE(views.size(), 2);  // "first" and "second"
        for (const FigureView* view : views) {
            QCOMPARE(view->figure().series.size(), std::size_t{2});  // of the two runs that can be read
            QVERIFY(view->figure().series[0].colour.value() != view->figure().series[1].colour.value() ||
                    view->figure().series[0].name != view->figure().series[1].name);
        }
        click(QStringLiteral("load"));
        QVERIFY(!overlay->isEnabled());
    }
    void the_search_leaves_what_matches_and_keys_walk_through_it() {
        open(true);
        list()->setFocus();
        QTest::keyClick(list(), Qt::Key_F, Qt::ControlModifier);
        auto* search = m_page->findChild<QLineEdit*>(QStringLiteral("resultsSearch"));
        QTest::keyClicks(search, QStringLiteral("table novel"));
        QCOMPARE(list()->model()->rowCount(), 2);
        QCOMPARE(currentName(), QStringLiteral("load"));
        QTRY_COMPARE(count("resultTable"), 3);
        search->clear();
        QCOMPARE(list()->model()->rowCount(), 3);
        QTest::keyClick(list(), Qt::Key_Home);
        QTest::keyClick(list(), Qt::Key_Down);
        QTest::keyClick(list(), Qt::Key_Up);
        QVERIFY(!list()->currentIndex().data().toString().isEmpty());
        QTest::keyClicks(search, QStringLiteral("nothing of that name"));
        QCOMPARE(list()->model()->rowCount(), 0);
        QCOMPARE(count("resultCard"), 0);
    }
    void a_tables_file_is_what_the_exporters_write() {
        open(true);
        m_workspace->showOnly({m_workspace->groups().front().key});
        QTRY_VERIFY(m_page->isReady());
        click(QStringLiteral("load"));
        QTRY_COMPARE(count("resultTable"), 1);
        const std::pair<const char*, TableFormat> formats[] = {{"csv", TableFormat::csv},
                                                               {"tsv", TableFormat::tsv},
                                                               {"md", TableFormat::md},
                                                               {"tex", TableFormat::latex},
                                                               {"json", TableFormat::json}};
        for (const auto& [suffix, format] : formats) {
            const QString path = QString::fromStdString((m_folder->path() / ("load." + std::string(suffix))).string());
            answer_save_dialog(path);
            QVERIFY(trigger_in(exportMenu(), QStringLiteral("exportTable_") + QLatin1String(suffix)));
            QCOMPARE(file_text(path), export_table(Table::from_json(small_table(0.25).to_json(), "t"), format));
        }
    }
    void a_figure_leaves_as_pdf_svg_png_and_csv() {
        open(true);
        m_workspace->showOnly({m_workspace->groups().front().key});
        QTRY_VERIFY(m_page->isReady());
        click(QStringLiteral("recall"));
        QTRY_COMPARE(count("resultFigure"), 1);
        const std::pair<const char*, const char*> starts[] = {{"pdf", "%PDF-"}, {"svg", "<?xml"}, {"png", "\x89PNG"}, {"csv", "series,"}};
        for (const auto& [suffix, start] : starts) {
            const QString path = QString::fromStdString((m_folder->path() / ("recall." + std::string(suffix))).string());
            answer_save_dialog(path);
            QVERIFY(trigger_in(exportMenu(), QStringLiteral("exportFigure_") + QLatin1String(suffix)));
            const std::string text = file_text(path);
            QVERIFY2(text.starts_with(start), text.substr(0, 80).c_str());
        }
    }
    void a_table_that_goes_while_its_menu_is_open_takes_the_menu_along() {
        open(true);
        click(QStringLiteral("load"));
        auto* table = m_page->findChild<QAbstractScrollArea*>(QStringLiteral("resultTable"));
        QTimer::singleShot(0, this, [this] { m_page.reset(); });  // as the card goes when a run ends
        QContextMenuEvent event(QContextMenuEvent::Keyboard, QPoint(4, 4), table->viewport()->mapToGlobal(QPoint(4, 4)));
        QApplication::sendEvent(table->viewport(), &event);
        QTRY_VERIFY(!m_page);
        QVERIFY(!QApplication::activePopupWidget());
    }
    void names_from_outside_are_plain_text() {
        open(true);
        click(QStringLiteral("load"));
        for (const QLabel* label : m_page->findChildren<QLabel*>())
            QVERIFY(label->textFormat() == Qt::PlainText || !label->text().contains(QLatin1Char('<')));
        for (int row = 0; row < list()->model()->rowCount(); ++row)
            QVERIFY(!list()->model()->index(row, 0).data(Qt::ToolTipRole).toString().contains(QStringLiteral("<img")));
    }
    void what_was_chosen_is_found_again() {
        open(true);
        click(QStringLiteral("load"));
        const QJsonObject state = m_page->state();
        ResultsPage again(*m_workspace);
        again.restore(state);
        again.show();
        QTRY_VERIFY(again.isReady());
        const auto* found = again.findChild<QListView*>(QStringLiteral("resultsList"));
        QCOMPARE(nameAt(found, found->currentIndex()), QStringLiteral("load"));
    }
};

FACETER_TEST(TestResults)
#include "test_results.moc"
