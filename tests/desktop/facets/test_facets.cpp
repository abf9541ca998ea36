#include <QComboBox>
#include <QDir>
#include <QListView>
#include <QProcess>
#include <QPushButton>
#include <QStyleOption>
#include <fstream>

#include "desktop/facets/facets_project.h"
#include "desktop/support/save_dialog.h"
#include "figure/figure_view.h"
#include "figure/heat_map_range.h"
#include "pages/facets/density_card.h"
#include "pages/facets/facets_bar.h"
#include "pages/facets/facets_page.h"
#include "pages/facets/pairs_view.h"
#include "pages/facets/plane_view.h"
#include "pages/facets/test_part.h"
#include "pages/facets/texts_view.h"
#include "support/checkout.h"
#include "support/test.h"
#include "widgets/labels.h"
#include "widgets/table_model.h"

using namespace faceter;
using namespace faceter::desktop;
using namespace faceter::testing;

namespace {

std::string file_text(const QString& path) {
    std::ifstream file(path.toStdString(), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

class TestFacets : public QObject {
    Q_OBJECT
  private:
    std::unique_ptr<TemporaryDirectory> m_folder;
    std::unique_ptr<Workspace> m_workspace;
    std::unique_ptr<FacetsPage> m_page;

    void open(const std::function<void(const fs::path&)>& fill = make_facets_project) {
        cleanup();
        m_workspace = std::make_unique<Workspace>();
        m_folder = std::make_unique<TemporaryDirectory>();
        fill(m_folder->path());
        QVERIFY(open_and_wait(*m_workspace, m_folder->path()));
        m_page = std::make_unique<FacetsPage>(*m_workspace);
        m_page->resize(840, 760);
        m_page->show();
        QTRY_VERIFY(m_page->isReady());
    }
    QComboBox* box(const char* name) const { return m_page->findChild<QComboBox*>(QLatin1String(name)); }
    TableModel* table() const {
        return qobject_cast<TableModel*>(m_page->findChild<QAbstractItemView*>(QStringLiteral("facetsTable"))->model());
    }
    const std::vector<DensityCard*>& cards() const { return m_page->findChild<PairsView*>()->cards(); }
    QString words() const { return qobject_cast<TestPart*>(m_page->inspector())->words(); }
    QString stars() const { return table()->index(0, 3).data().toString(); }
    /// By keys: the box's entry whose text begins so.
    void pick(const char* name, const QString& text) {
        QComboBox* combo = box(name);
        combo->setFocus();
        QTest::keyClick(combo, Qt::Key_Home);
        QTRY_VERIFY(m_page->isReady());
        for (int i = 0; i < combo->count() && !combo->currentText().startsWith(text); ++i) {
            QTest::keyClick(combo, Qt::Key_Down);
            QTRY_VERIFY(m_page->isReady());
        }
        QVERIFY2(combo->currentText().startsWith(text), qPrintable(combo->currentText()));
    }
    /// What core says of the mean over seeds of two variants.
    SimilarityComparison expected(const std::string& first, const std::string& second) const {
        const auto of = [&](const std::string& variant) {
            std::vector<SimilaritySet> seeds;
            std::vector<std::string> names, notes;
            const Project project(m_folder->path(), false);
            for (const std::string& id : project.run_ids()) {
                const RunDirectory run(project.runs_folder() / id);
                if (run.info().variant == variant) seeds.push_back(read_similarity(run)), names.push_back(id);
            }
            return average_over_seeds(seeds, names, notes);
        };
        return compare_similarity(first, of(first), second, of(second), Alternative::less);
    }
    QMenu* exportMenu() const {
        QMenu* menu = m_page->findChild<QPushButton*>(QStringLiteral("facetsExport"))->menu();
        Q_EMIT menu->aboutToShow();
        return menu;
    }

  private Q_SLOTS:
    void cleanup() {
        m_page.reset();
        m_workspace.reset();
    }
    void a_project_without_the_analysis_says_how_to_get_it() {
        open([](const fs::path& project) { write_attempt(sample_run(project, 1), 1, 3, "finished"); });
        bool said = false;
        for (const QLabel* label : m_page->findChildren<QLabel*>())
            said |= label->isVisible() && label->text().contains(QStringLiteral("method: inter_task_similarity"));
        QVERIFY(said);
    }
    void a_name_of_arabic_stands_beside_its_dot_in_a_wide_card() {
        ElidedLabel label(QString::fromUtf8("متغير"));
        label.resize(400, 24);
        const QImage image = label.grab().toImage();
        const double scale = image.width() / 400.0;
        int first = image.width();
        for (int y = 0; y < image.height(); ++y)
            for (int x = 0; x < first; ++x)
                if (image.pixel(x, y) != image.pixel(image.width() - 1, 0)) first = x;
        QVERIFY2(first < 40 * scale, qPrintable(QString::number(first)));
    }
    void the_baseline_is_written_whole_in_its_box() {
        open();
        pick("facetsBaseline", QStringLiteral("Mix"));
        const QComboBox* combo = box("facetsBaseline");
        QStyleOptionComboBox option;
        option.initFrom(combo);
        option.subControls = QStyle::SC_All;
        const QRect edit = combo->style()->subControlRect(QStyle::CC_ComboBox, &option, QStyle::SC_ComboBoxEditField, combo);
        const int icon = combo->iconSize().width() + 4, text = combo->fontMetrics().horizontalAdvance(combo->currentText());
        QVERIFY2(edit.width() >= icon + text + 2, qPrintable(QStringLiteral("%1 px of %2").arg(edit.width()).arg(icon + text + 2)));
    }
    void names_of_pairs_are_whole_and_the_bar_takes_one_row() {
        open();
        for (const int width : {792, 1000, 560}) {
            m_page->resize(width + 32, 760);
            for (const DensityCard* card : cards()) {
                const auto* title = card->findChild<ElidedLabel*>();
                if (title->fullText().contains(QLatin1Char('<'))) continue;  // longer than any card
                QTRY_VERIFY2(title->text() == title->fullText(), qPrintable(title->text()));
            }
            const QWidget *first = box("facetsBaseline"), *last = box("facetsTest");
            if (width >= 792)
                QCOMPARE(first->mapTo(m_page.get(), first->rect().center()).y(), last->mapTo(m_page.get(), last->rect().center()).y());
        }
    }
    void what_the_page_needs_at_least_shows_all_rows_of_its_bar() {
        open();
        const auto* bar = m_page->findChild<FacetsBar*>();
        m_page->resize(420, 760);
        QTRY_VERIFY(bar->height() > 2 * box("facetsTexts")->height());  // rows
        m_page->resize(420, m_page->minimumSizeHint().height());
        QCoreApplication::sendPostedEvents(nullptr, QEvent::LayoutRequest);
        QVERIFY2(bar->height() >= bar->heightForWidth(bar->width()), qPrintable(QString::number(bar->height())));
    }
    void the_first_trained_variants_are_compared_at_first() {
        const auto dataOf = [](const std::vector<std::string>& groups) {
            FacetsData data;
            data.texts = {{"t", "texts"}};
            for (const std::string& name : groups) {
                FacetGroup group;
                group.request.key = group.request.label = name;
                group.request.isStart = name == "start";
                group.sets.resize(1);
                group.sets[0].texts = "t";
                data.groups.push_back(std::move(group));
            }
            return data;
        };
        const FacetsData five = dataOf({"start", "EM", "SEM", "IC", "MoTE"});
        const FacetsChoice first = complete(five, {});
        QCOMPARE(first.baseline, std::string("EM"));
        QCOMPARE(first.compared, (std::vector<std::string>{"SEM", "IC"}));
        const FacetsChoice other = complete(five, {"t", "MoTE", {}});
        QCOMPARE(other.baseline, std::string("MoTE"));
        QCOMPARE(other.compared, (std::vector<std::string>{"EM", "SEM"}));
        const FacetsChoice one = complete(dataOf({"start", "EM"}), {});
        QCOMPARE(one.baseline, std::string("EM"));
        QCOMPARE(one.compared, std::vector<std::string>{"start"});
        const FacetsChoice alone = complete(dataOf({"start"}), {});
        QCOMPARE(alone.baseline, std::string("start"));
        QVERIFY(alone.compared.empty());
    }
    void what_nobody_chose_follows_the_runs_that_are_shown() {
        open();
        m_workspace->showOnly({m_workspace->groups().back().key});
        QTRY_VERIFY(m_page->isReady() && m_page->picture().groups.size() == 1);
        QCOMPARE(m_page->picture().groups[0].name, std::string("Mix"));
        for (const RunGroupRef& group : m_workspace->groups()) m_workspace->setShown(group.key, true);
        QTRY_VERIFY(m_page->isReady() && m_page->picture().comparisons.size() == 1);
        QCOMPARE(m_page->picture().comparisons[0].second, std::string("EM"));  // as at the first look
        QCOMPARE(m_page->picture().comparisons[0].first, std::string("Mix"));
    }
    void what_somebody_chose_is_there_again_with_its_runs() {
        open();
        pick("facetsTexts", QStringLiteral("debian"));
        pick("facetsBaseline", QStringLiteral("Mix"));
        for (const RunGroupRef& group : m_workspace->groups()) m_workspace->setShown(group.key, false);
        QTRY_VERIFY(m_page->isReady() && m_page->picture().groups.empty());
        for (const RunGroupRef& group : m_workspace->groups()) m_workspace->setShown(group.key, true);
        QTRY_VERIFY(m_page->isReady() && m_page->picture().comparisons.size() == 1);
        QVERIFY2(box("facetsTexts")->currentText().startsWith(QStringLiteral("debian")), qPrintable(box("facetsTexts")->currentText()));
        QCOMPARE(m_page->picture().comparisons[0].second, std::string("Mix"));
    }
    void the_second_variant_is_compared_with_the_first_seeds_averaged() {
        open();
        const SimilarityComparison core = expected("Mix", "EM");
        QCOMPARE(m_page->picture().comparisons.size(), std::size_t{1});
        QCOMPARE(similarity_json(m_page->picture().comparisons[0]).dump(), similarity_json(core).dump());
        QCOMPARE(cards().size(), std::size_t{3});
        for (const DensityCard* card : cards()) {
            QVERIFY(card->figure()->hasValues());
            QCOMPARE(card->figure()->grabData().size(), 2);
        }
        const Table shown = similarity_summary(std::vector{core}, SimilarityTestKind::paired);
        QCOMPARE(export_table(table()->table(), TableFormat::csv), export_table(shown, TableFormat::csv));
    }
    void names_of_a_sweep_fit_the_panel_of_the_test() {
        const std::string name = "EM · training.learning_rate=1e-05,training.batch_size=32";
        FacetsPicture picture;
        picture.groups = {{name, 0, {}}};
        picture.notes = {name + ": each text's mean over 5 seeds."};
        TestPart part;
        part.setPicture(picture, SimilarityTestKind::paired);
        const QString whole = QString::fromStdString(picture.notes.front());
        const QLabel* note = nullptr;
        for (const QLabel* label : part.findChildren<QLabel*>())
            if (label->text().contains(QStringLiteral("5 seeds"))) note = label;
        QVERIFY(note);
        QVERIFY2(note->text().contains(QStringLiteral("lr=1e-05,bs=32: each")), qPrintable(note->text()));
        QCOMPARE(note->toolTip(), whole.toHtmlEscaped());
    }
    void a_seed_that_was_run_twice_counts_once() {
        open();
        const std::string once = similarity_json(m_page->picture().comparisons.at(0)).dump();
        open([](const fs::path& project) {
            make_facets_project(project);
            const RunDirectory again = sample_run(project, 1);  // EM with seed 1
            write_attempt(again, 1, 5, "failed");
            again.write_result("inter_task_similarity", facets_json(0.5));
        });
        QCOMPARE(similarity_json(m_page->picture().comparisons.at(0)).dump(), once);
        int told = 0;
        for (const std::string& note : m_page->picture().notes) told += note == "EM-3 repeats EM-1 with the same seed and is left out.";
        QCOMPARE(told, 1);
    }
    void another_test_changes_stars_corners_and_words() {
        open();
        const SimilarityComparison core = expected("Mix", "EM");
        QVERIFY(core.tests[0].paired_holm < 0.001 && core.tests[0].one_sided.p > 0.001);  // else this test shows nothing
        QVERIFY(stars().endsWith(QStringLiteral("***")));
        QVERIFY(words().contains(QStringLiteral("Paired")));
        QCOMPARE(cards()[0]->p(), QStringLiteral("p < 0.001"));
        pick("facetsTest", QStringLiteral("Welch's t, one-sided"));
        QVERIFY(!stars().endsWith(QStringLiteral("***")));
        for (const char* part : {"as published", "mean(Mix) < mean(EM)", "Holm over 3 pairs", "n = 24 and 24", "paired test is stronger"})
            QVERIFY2(words().contains(QLatin1String(part)), qPrintable(words()));
        QVERIFY(cards()[0]->p() != QStringLiteral("p < 0.001"));
        auto* link = m_page->inspector()->findChild<QPushButton*>(QStringLiteral("facetsSwitchTest"));
        QCOMPARE(link->text(), QStringLiteral("show paired"));
        QTest::mouseClick(link, Qt::LeftButton);
        QVERIFY(words().contains(QStringLiteral("Paired")));
        QVERIFY(stars().endsWith(QStringLiteral("***")));
    }
    void a_baseline_that_is_chosen_here_is_the_workspaces() {
        open();
        pick("facetsBaseline", QStringLiteral("Mix"));
        QVERIFY(m_workspace->baseline().endsWith(QStringLiteral("Mix")));
        QCOMPARE(m_page->picture().comparisons[0].second, std::string("Mix"));
        m_workspace->setBaseline(m_workspace->groups().front().key);  // start, as from another page
        QTRY_VERIFY(m_page->isReady() && m_page->picture().comparisons[0].second == "start");
    }
    void a_further_run_adds_a_density_and_rows() {
        open();
        QMenu* more = m_page->findChild<QPushButton*>(QStringLiteral("facetsMore"))->menu();
        Q_EMIT more->aboutToShow();
        for (QAction* action : more->actions())
            if (action->text() == QStringLiteral("start")) {
                action->trigger();
                break;
            }
        QTRY_COMPARE(m_page->picture().groups.size(), std::size_t{3});
        QCOMPARE(cards()[0]->figure()->grabData().size(), 3);
        QCOMPARE(table()->rowCount(), 6);
    }
    void points_of_a_sweep_are_told_apart_in_the_table() {
        a_further_run_adds_a_density_and_rows();
        FacetsPicture picture = m_page->picture();
        QCOMPARE(picture.comparisons.size(), std::size_t{2});
        picture.comparisons[0].first = "EM · training.learning_rate=2e-05,training.batch_size=32";
        picture.comparisons[1].first = "EM · training.learning_rate=2e-05,training.batch_size=64";
        PairsView view;
        view.resize(700, 600);
        view.setPicture(picture);
        view.setTest(picture, SimilarityTestKind::paired);
        view.show();
        auto* rows = view.findChild<QTableView*>(QStringLiteral("facetsTable"));
        const auto drawn = [&](int row) {
            return rows->viewport()->grab(rows->visualRect(rows->model()->index(row, 1)).adjusted(2, 4, -2, -4)).toImage();
        };
        QTRY_VERIFY(!drawn(0).isNull() && drawn(0) != drawn(1));
        QVERIFY(rows->columnWidth(1) < 240);  // names give way before the columns of the test
    }
    void other_texts_are_other_numbers_and_leave_out_who_lacks_them() {
        open();
        const double before = table()->table().rows[0].cells[1].value;
        pick("facetsTexts", QStringLiteral("debian"));
        QVERIFY(table()->table().rows[0].cells[1].value < before - 0.1);
        QCOMPARE(box("facetsBaseline")->count(), 2);
    }
    void the_matrix_has_a_map_a_group() {
        open();
        pick("facetsView", QStringLiteral("Matrix"));
        const auto views = m_page->findChildren<FigureView*>(QStringLiteral("facetsMatrix"));
        QCOMPARE(views.size(), 2);
        for (const FigureView* view : views) QVERIFY(view->hasValues() && view->figure().kind == FigureKind::heat_map && view->isVisible());
    }
    void one_colour_is_one_similarity_in_all_matrices() {
        open();
        pick("facetsView", QStringLiteral("Matrix"));
        const auto views = m_page->findChildren<FigureView*>(QStringLiteral("facetsMatrix"));
        QCOMPARE(views.size(), 2);
        std::vector<Range> own, shown;
        for (const FigureView* view : views) {
            own.push_back(heat_map_ranges(view->figure().heat_map).colours);
            shown.push_back(heat_map_ranges(view->figure().heat_map, view->figure().y).colours);
        }
        QVERIFY(own[0].low != own[1].low);  // else this test shows nothing
        QCOMPARE(shown[0].low, std::min(own[0].low, own[1].low));
        QCOMPARE(shown[1].low, shown[0].low);
        QCOMPARE(shown[0].high, 1.0);
        QCOMPARE(shown[1].high, 1.0);
    }
    void a_text_is_marked_under_every_task_and_shown_with_its_similarities() {
        open();
        pick("facetsView", QStringLiteral("Texts"));
        auto* texts = m_page->findChild<TextsView*>();
        QCOMPARE(texts->planes().size(), std::size_t{2});
        PlaneView* plane = texts->planes()[0];
        QTRY_VERIFY(plane->isVisible() && plane->plot()->axisRect()->width() > 50 && plane->plot()->rect().contains(plane->pointOf(2, 3)));
        QTest::mouseClick(plane->plot(), Qt::LeftButton, {}, plane->pointOf(2, 3));
        QCOMPARE(texts->chosenText(), 3);
        for (const PlaneView* each : texts->planes()) {
            QCOMPARE(each->markedText(), 3);
            QCOMPARE(each->plot()->itemCount(), 5);  // three rings, two lines
        }
        const auto* shown = m_page->findChild<QLabel*>(QStringLiteral("facetsText"));
        QCOMPARE(shown->text(), QString::fromUtf8(hostile_task));
        QCOMPARE(shown->textFormat(), Qt::PlainText);
        const auto* similarities =
            qobject_cast<TableModel*>(m_page->findChild<QAbstractItemView*>(QStringLiteral("facetsTextTable"))->model());
        QCOMPARE(similarities->table().rows[1].cells[1].value, m_page->picture().groups[0].set.pairs[1].values[3]);
        auto* list = m_page->findChild<QListView*>(QStringLiteral("facetsTextList"));
        QCOMPARE(list->currentIndex().row(), 3);
        QTest::keyClick(list, Qt::Key_Down);
        QCOMPARE(texts->chosenText(), 4);
    }
    void exports_are_byte_for_byte_those_of_the_command_line() {
        open([](const fs::path& project) {  // one seed each: what the command line compares
            for (const std::size_t i : {1U, 3U}) {
                const RunDirectory run = sample_run(project, i);
                write_attempt(run, 1, 3, "finished");
                run.write_result("inter_task_similarity", facets_json(i == 1 ? 0.8 : 0.79));
            }
        });
        const std::pair<const char*, const char*> formats[] = {
            {"csv", "csv"}, {"tsv", "tsv"}, {"md", "md"}, {"tex", "latex"}, {"json", "json"}};
        for (const auto& [suffix, format] : formats) {
            const QString path = QString::fromStdString((m_folder->path() / ("similarity." + std::string(suffix))).string());
            answer_save_dialog(path);
            QVERIFY(trigger_in(exportMenu(), QStringLiteral("exportTable_") + QLatin1String(suffix)));
            QProcess faceter;
            faceter.start(QStringLiteral(FACETER_BINARY_DIR "/bin/faceter"),
                          {QStringLiteral("similarity"), QStringLiteral("Mix"), QStringLiteral("EM"), QStringLiteral("--project"),
                           QString::fromStdString(m_folder->path().string()), QStringLiteral("--format"), QLatin1String(format)});
            QVERIFY(faceter.waitForFinished());
            const QByteArray printed = faceter.readAllStandardOutput();
            QVERIFY2(!printed.isEmpty(), faceter.readAllStandardError().constData());
            QCOMPARE(QByteArray::fromStdString(file_text(path)), printed);
        }
    }
    void figures_whose_names_a_file_cannot_tell_apart_have_a_file_each() {
        open([](const fs::path& project) {
            const Experiment experiment = parse_sample(
                "name: quick\ntasks: {retrieval: {train: [{source: file, path: pairs.tsv}]}}\n"
                "variants: {größe: {method: dense}, grüße: {method: dense}}\nevaluation: {baseline: false}\n");
            for (const ResolvedRun& one : experiment.runs()) {
                const RunDirectory run = RunDirectory::create(project, experiment, one, false);
                write_attempt(run, 1, 3, "finished");
                run.write_result("inter_task_similarity", facets_json(0.8));
            }
        });
        pick("facetsView", QStringLiteral("Matrix"));
        const QDir folder(QString::fromStdString((m_folder->path() / "figures").string()));
        QVERIFY(folder.mkpath(QStringLiteral(".")));
        answer_save_dialog(folder.path());
        QVERIFY(trigger_in(exportMenu(), QStringLiteral("exportAll_csv")));
        QCOMPARE(folder.entryList({QStringLiteral("*.csv")}, QDir::Files).size(), 2);
    }
    void a_long_name_makes_the_page_no_wider() {
        open([](const fs::path& project) {
            const std::string name(96, 'x');
            const Experiment experiment = parse_sample(
                "name: quick\nseeds: [1, 2]\ntasks: {retrieval: {train: [{source: file, path: pairs.tsv}]}}\n"
                "variants: {EM: {method: dense}, " +
                name + ": {method: dense}}\nevaluation: {baseline: false}\n");
            for (const ResolvedRun& one : experiment.runs()) {
                const RunDirectory run = RunDirectory::create(project, experiment, one, false);
                write_attempt(run, 1, 3, "finished");
                run.write_result("inter_task_similarity", facets_json(0.8));
            }
        });
        m_page->resize(480, 760);
        const auto* pairs = m_page->findChild<PairsView*>();
        QTRY_COMPARE(pairs->widget()->width(), pairs->viewport()->width());
    }
    void broken_results_are_named_and_the_others_go_on() {
        open([](const fs::path& project) {
            make_facets_project(project);
            const Project opened(project, false);
            Json broken = facets_json(0.5);
            broken["pairs"][0]["values"] = "none";
            RunDirectory(opened.runs_folder() / opened.run_ids().front()).write_result("inter_task_similarity", broken);
        });
        const QString message = m_page->findChild<ErrorBar*>()->message();
        QVERIFY2(message.contains(QStringLiteral("inter_task_similarity.json")) && message.contains(QStringLiteral("values")),
                 qPrintable(message));
        QCOMPARE(cards().size(), std::size_t{3});
    }
    void names_from_outside_are_plain_text() {
        open();
        for (const QLabel* label : m_page->findChildren<QLabel*>())
            if (label->text().contains(QLatin1Char('<'))) QCOMPARE(label->textFormat(), Qt::PlainText);
        for (const QWidget* widget : m_page->findChildren<QWidget*>()) QVERIFY(!widget->toolTip().contains(QStringLiteral("<img")));
        for (int row = 0; row < table()->rowCount(); ++row)
            QVERIFY(!table()->index(row, 0).data(Qt::ToolTipRole).toString().contains(QStringLiteral("<img")));
    }
    void what_was_chosen_is_found_again() {
        open();
        pick("facetsTexts", QStringLiteral("debian"));
        pick("facetsTest", QStringLiteral("Welch's t, two-sided"));
        FacetsPage again(*m_workspace);
        again.restore(m_page->state());
        QTRY_VERIFY(again.isReady());
        QCOMPARE(again.state(), m_page->state());
        QCOMPARE(again.findChild<QComboBox*>(QStringLiteral("facetsTest"))->currentIndex(), 2);
    }
    void one_run_alone_has_densities_and_means() {
        open();
        m_workspace->showOnly({m_workspace->groups().back().key});
        QTRY_COMPARE(m_page->picture().groups.size(), std::size_t{1});
        QTRY_VERIFY(m_page->isReady());
        QCOMPARE(cards().size(), std::size_t{3});
        QCOMPARE(cards()[0]->p(), QString());
        QCOMPARE(table()->columnCount(), 3);
        QVERIFY(words().contains(QStringLiteral("nothing to test")));
        for (const RunGroupRef& group : m_workspace->groups()) m_workspace->setShown(group.key, false);
        QTRY_VERIFY(m_page->picture().groups.empty());
        QTRY_VERIFY2(words().contains(QStringLiteral("No run that is shown")), qPrintable(words()));
    }
};

FACETER_TEST(TestFacets)
#include "test_facets.moc"
