#include <QAbstractItemView>
#include <QComboBox>
#include <QCompleter>
#include <QFileDialog>
#include <QInputDialog>
#include <QLabel>
#include <QLineEdit>
#include <QListView>
#include <QListWidget>
#include <QMenu>
#include <QMessageBox>
#include <QPushButton>
#include <QSettings>
#include <QSignalSpy>
#include <QTabWidget>
#include <QTableView>
#include <QTextBlock>
#include <QTextLayout>
#include <QToolButton>
#include <QtTest/QAbstractItemModelTester>

#include "actions/run_actions.h"
#include "desktop/compose/fake_worker.h"
#include "pages/compose/compose_page.h"
#include "pages/compose/estimate_panel.h"
#include "pages/compose/example_model.h"
#include "pages/compose/form_panel.h"
#include "pages/compose/preview_panel.h"
#include "pages/compose/problem_list.h"
#include "pages/compose/run_list_model.h"
#include "pages/compose/yaml_editor.h"
#include "support/checkout.h"
#include "support/test.h"
#include "widgets/labels.h"
#include "worker/worker_client.h"

using namespace faceter;
using namespace faceter::desktop;
using namespace faceter::testing;

namespace {

constexpr int patience_ms = 20000;

const char* const written = R"(# what this is about
name: mine   # a name
model: minilm
tasks:
  retrieval:
    train:
      - {source: debian, view: synopsis_description}   # real data
variants:
  EM: {method: dense}   # plain
training:
  batch_size: 32   # pairs
  learning_rate: 2.0e-5
)";

/// The page with the methods of a plugin that lies in a folder of its own.
struct Fixture {
    Workspace workspace;
    ComposePage page{workspace};

    Fixture() {
        page.setObjectName(QStringLiteral("composePage"));
        page.resize(1000, 700);
        page.show();
        page.activateWindow();
        static_cast<void>(QTest::qWaitForWindowActive(&page));
        settle();
    }
    void settle() {
        static_cast<void>(QTest::qWaitFor([&] { return page.isReady(); }, patience_ms));
    }
    void write(const QString& text) {
        page.document().reset(text, {});
        settle();
    }
    template <typename Widget>
    Widget* find(const char* name) {
        return page.findChild<Widget*>(QString::fromLatin1(name));
    }
    YamlEditor& editor() { return *find<YamlEditor>("yamlEditor"); }
    QString text() { return page.document().plainText(); }
    int problems() { return find<QListView>("problems")->model()->rowCount(); }
    int runs() { return find<QTableView>("plannedRuns")->model()->rowCount(); }
    void open(const char* group) { QTest::mouseClick(find<QToolButton>(group), Qt::LeftButton); }
    /// Types lines as a person does: Return at each end.
    void type(const QStringList& lines) {
        for (const QString& line : lines) {
            QTest::keyClicks(&editor(), line);
            QTest::keyClick(&editor(), Qt::Key_Escape);
            QTest::keyClick(&editor(), Qt::Key_Return);
        }
    }
};

}  // namespace

class TestComposePage : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;

  private Q_SLOTS:
    void initTestCase() {
        Manifest manifest;
        manifest.id = "demo";
        manifest.version = "1";
        manifest.summary = "Two methods.";
        manifest.variants = {
            {"dense", "A plain encoder.", {"dense", "", {}}},
            {"instruction", "The instruction stands in front.", {"instruction", "", {}}},
            {"mixture",
             "Experts.",
             {"mixture",
              "",
              {choice("placement", {"every", "every_other"}, "every", "Which blocks have experts.").from("MoTE, section 3.1")}}}};
        make_directories(folder_.path() / "plugins");
        QCOMPARE(write_manifest(manifest, folder_.path() / "plugins/demo.json"), 0);
        qputenv("FACETER_PLUGIN_DIR", (folder_.path() / "plugins").c_str());
        qputenv("FACETER_WORKER", write_fake_worker(folder_.path()).c_str());
    }
    void init() { QSettings().clear(); }

    void a_prompt_of_the_start_model_is_chosen_for_an_instruction() {
        make_directories(folder_.path() / "prompted");
        const auto write = [&](const char* name, const Json& json) { write_file_atomic(folder_.path() / "prompted" / name, json.dump()); };
        write("config.json", {{"model_type", "bert"}});
        write("model.safetensors", {});
        Fixture f;
        f.write(QString::fromUtf8(written).replace(QStringLiteral("model: minilm"),
                                                   QStringLiteral("model: %1/prompted").arg(folder_.path().c_str())));
        f.find<FormPanel>("composeForm")->reveal({"tasks", "retrieval", "instructions", "query"}, false);
        auto* prompts = f.find<QToolButton>("prompts:tasks.retrieval.instructions.query");
        QVERIFY(prompts && prompts->isHidden());  // it has none
        write("config_sentence_transformers.json", {{"prompts", {{"query", "find & tell: "}}}});
        f.page.document().set({"name"}, "other");
        f.settle();
        QVERIFY(!prompts->isHidden());
        Q_EMIT prompts->menu()->aboutToShow();
        QCOMPARE(prompts->menu()->actions().size(), 1);
        prompts->menu()->actions().first()->trigger();
        f.settle();
        QCOMPARE(f.find<QLineEdit>("field:tasks.retrieval.instructions.query")->text(), QStringLiteral("find & tell: "));
        QVERIFY2(f.text().contains(QStringLiteral("\"find & tell: \"")), qPrintable(f.text()));
    }

    void a_new_experiment_is_valid_and_lists_its_runs() {
        Fixture f;
        QVERIFY2(f.page.isReady(), "the page did not settle");
        QVERIFY(f.text().startsWith(QStringLiteral("# A first experiment")));
        QCOMPARE(f.problems(), 0);
        QCOMPARE(f.runs(), 3);
        const QAbstractItemModelTester runs(f.find<QTableView>("plannedRuns")->model()), problems(f.find<QListView>("problems")->model());
        QCOMPARE(f.find<QPushButton>("launch")->text(), QStringLiteral("Launch 3 runs"));
        QTest::mouseClick(f.find<QAbstractButton>("smoke"), Qt::LeftButton);
        f.settle();
        f.write(QString::fromUtf8(written) + QStringLiteral("seeds: [1, 2]\nsweep: {training.learning_rate: [1e-5, 2e-5]}\n"));
        QCOMPARE(f.runs(), 2);  // a trial run has one seed and one point
        QTest::mouseClick(f.find<QAbstractButton>("smoke"), Qt::LeftButton);
        f.settle();
        QCOMPARE(f.runs(), 5);
    }

    void an_experiment_is_composed_by_keyboard() {
        Fixture f;
        f.editor().setFocus();
        QTest::keyClick(&f.editor(), Qt::Key_A, Qt::ControlModifier);
        QTest::keyClick(&f.editor(), Qt::Key_Delete);
        f.type({QStringLiteral("name: typed"), QStringLiteral("tasks:"), QStringLiteral("retrieval:"), QStringLiteral("train:"),
                QStringLiteral("- {source: debian, view: synopsis_description}")});
        for (int i = 0; i < 3; ++i) QTest::keyClick(&f.editor(), Qt::Key_Backspace);
        f.type({QStringLiteral("variants:"), QStringLiteral("EM: {method: dense}")});
        f.settle();
        QVERIFY2(f.problems() == 0 && f.runs() == 2, qPrintable(f.text()));
    }

    void what_is_wrong_shows_at_its_line_and_its_field_and_goes_when_it_is_mended() {
        Fixture f;
        f.write(QString::fromUtf8(written));
        f.open("open:training");
        QVERIFY(!f.find<QLabel>("problem:training.batch_size")->isVisible());
        QTextCursor cursor = f.page.document().text().find(QStringLiteral("32"));
        f.editor().setTextCursor(cursor);
        QTest::keyClicks(&f.editor(), QStringLiteral("many"));
        f.settle();
        QCOMPARE(f.problems(), 1);
        const QModelIndex row = f.find<QListView>("problems")->model()->index(0, 0);
        QVERIFY2(row.data().toString().startsWith(QStringLiteral("line 11")), qPrintable(row.data().toString()));
        QTRY_VERIFY(f.find<QLabel>("problem:training.batch_size")->isVisible());
        QVERIFY(f.find<QLineEdit>("field:training.batch_size")->property("invalid").toBool());
        QVERIFY(!f.find<QPushButton>("launch")->isEnabled());
        const auto formats = f.page.document().text().findBlockByNumber(10).layout()->formats();
        QVERIFY(std::any_of(formats.begin(), formats.end(), [](const auto& range) {
            return range.format.underlineStyle() == QTextCharFormat::WaveUnderline && range.start == 14;
        }));

        f.editor().moveCursor(QTextCursor::Start);
        auto* list = f.find<QListView>("problems");
        QTest::mouseClick(list->viewport(), Qt::LeftButton, {}, list->visualRect(row).center());
        QCOMPARE(f.editor().textCursor().blockNumber(), 10);
        QCOMPARE(f.editor().textCursor().positionInBlock(), 14);

        auto* field = f.find<QLineEdit>("field:training.batch_size");
        field->setFocus();
        field->selectAll();
        QTest::keyClicks(field, QStringLiteral("16"));
        f.settle();
        QCOMPARE(f.problems(), 0);
        QVERIFY(!field->property("invalid").toBool());
        QVERIFY(f.text().contains(QStringLiteral("batch_size: 16   # pairs")));
    }

    void the_form_changes_only_its_place_in_the_text_and_both_are_undone() {
        Fixture f;
        f.write(QString::fromUtf8(written));
        f.open("open:training");
        auto* rate = f.find<QLineEdit>("field:training.learning_rate");
        QCOMPARE(rate->text(), QStringLiteral("2.0e-5"));
        rate->setFocus();
        rate->selectAll();
        QTest::keyClicks(rate, QStringLiteral("1e-4"));
        QCOMPARE(f.text(), QString::fromUtf8(written).replace(QStringLiteral("2.0e-5"), QStringLiteral("1e-4")));
        f.settle();
        QTest::keyClick(rate, Qt::Key_Z, Qt::ControlModifier);
        QCOMPARE(f.text(), QString::fromUtf8(written));
        f.settle();
        QCOMPARE(rate->text(), QStringLiteral("2.0e-5"));

        auto* warmup = f.find<QLineEdit>("field:training.warmup_ratio");
        QCOMPARE(warmup->placeholderText(), QStringLiteral("0.1"));
        QVERIFY(warmup->parentWidget()->toolTip().contains(QStringLiteral("paper-silent")));
        QTest::keyClicks(warmup, QStringLiteral("0.2"));
        QCOMPARE(f.text(), QString::fromUtf8(written) + QStringLiteral("  warmup_ratio: 0.2\n"));
        warmup->selectAll();
        QTest::keyClick(warmup, Qt::Key_Delete);
        QCOMPARE(f.text(), QString::fromUtf8(written));

        auto* schedule = f.find<QComboBox>("field:training.schedule");
        schedule->setFocus();
        QTest::keyClick(schedule, Qt::Key_Down);
        QTest::keyClick(schedule, Qt::Key_Down);
        Q_EMIT schedule->activated(schedule->currentIndex());
        QVERIFY(f.text().endsWith(QStringLiteral("  schedule: linear\n")));
    }

    void the_editor_changes_the_form() {
        Fixture f;
        f.write(QString::fromUtf8(written));
        f.open("open:training");
        QTextCursor cursor = f.page.document().text().find(QStringLiteral("32"));
        cursor.insertText(QStringLiteral("64"));
        f.settle();
        QCOMPARE(f.find<QLineEdit>("field:training.batch_size")->text(), QStringLiteral("64"));
        cursor = f.page.document().text().find(QStringLiteral("dense"));
        cursor.insertText(QStringLiteral("mixture"));
        f.settle();
        f.open("open:variants.EM");
        QVERIFY(f.find<QComboBox>("field:variants.EM.placement"));
    }

    void a_chosen_method_brings_its_settings_and_a_new_variant_is_a_run() {
        Fixture f;
        f.write(QString::fromUtf8(written));
        f.open("open:variants.EM");
        auto* method = f.find<QComboBox>("field:variants.EM.method");
        QVERIFY(method && method->findData(QStringLiteral("mixture")) > 0);
        QVERIFY(!f.find<QComboBox>("field:variants.EM.placement"));
        method->setCurrentIndex(method->findData(QStringLiteral("mixture")));
        Q_EMIT method->activated(method->currentIndex());
        f.settle();
        QVERIFY(f.text().contains(QStringLiteral("EM: {method: mixture}   # plain")));
        auto* placement = f.find<QComboBox>("field:variants.EM.placement");
        QVERIFY(placement && placement->parentWidget()->toolTip().contains(QStringLiteral("MoTE, section 3.1")));

        const int before = f.runs();
        QTest::mouseClick(f.find<QPushButton>("add:variants"), Qt::LeftButton);
        auto* dialog = f.page.findChild<QInputDialog*>(QStringLiteral("nameDialog"));
        QVERIFY(dialog);
        dialog->setTextValue(QStringLiteral("Second"));
        dialog->accept();
        f.settle();
        QCOMPARE(f.runs(), before + 1);
        QVERIFY(f.text().contains(QStringLiteral("\n  Second: {method: dense}\n")));
        QTest::mouseClick(f.find<QToolButton>("remove:variants.Second"), Qt::LeftButton);
        f.settle();
        QCOMPARE(f.runs(), before);
    }

    void the_search_leaves_only_what_matches() {
        Fixture f;
        f.write(QString::fromUtf8(written));
        QTest::keyClicks(f.find<QLineEdit>("searchSettings"), QStringLiteral("warmup"));
        auto* warmup = f.find<QLineEdit>("field:training.warmup_ratio");
        QVERIFY(warmup && warmup->isVisible());
        QVERIFY(!f.find<QLineEdit>("field:training.batch_size")->isVisible());
        QVERIFY(!f.find<QLineEdit>("field:model")->isVisible());
        f.find<QLineEdit>("searchSettings")->clear();
        QVERIFY(f.find<QLineEdit>("field:model")->isVisible());
        f.write(QString::fromUtf8(written).replace(QStringLiteral("EM:"), QStringLiteral("Q&A:")));
        const auto* named = f.find<QToolButton>("open:variants.Q&A");  // no mnemonic
        QVERIFY(named && named->text() == QStringLiteral("Q&&A") && named->accessibleName() == QStringLiteral("Q&A"));
    }

    void keys_and_values_are_completed() {
        Fixture f;
        f.write(QString::fromUtf8(written));
        f.editor().setFocus();
        f.editor().moveCursor(QTextCursor::End);
        QTest::keyClicks(&f.editor(), QStringLiteral("  "));
        QTest::keyClick(&f.editor(), Qt::Key_Space, Qt::ControlModifier);
        QAbstractItemView* popup = f.editor().completer()->popup();
        QVERIFY(popup->isVisible());
        QVERIFY(popup->model()->rowCount() > 5);
        QTest::keyClick(popup, Qt::Key_Escape);
        QTest::keyClicks(&f.editor(), QStringLiteral("sch"));
        QVERIFY(popup->isVisible());
        QTest::keyClick(popup, Qt::Key_Return);
        QVERIFY2(f.text().endsWith(QStringLiteral("  schedule: ")), qPrintable(f.text()));
        QTest::keyClick(&f.editor(), Qt::Key_Space, Qt::ControlModifier);
        QVERIFY(popup->isVisible());
        QTest::keyClick(popup, Qt::Key_Down);
        QTest::keyClick(popup, Qt::Key_Return);
        QVERIFY2(f.text().endsWith(QStringLiteral("  schedule: linear")), qPrintable(f.text()));
    }

    void a_text_that_is_no_yaml_leaves_the_form_as_it_was() {
        Fixture f;
        f.write(QString::fromUtf8(written));
        f.editor().moveCursor(QTextCursor::End);
        QTest::keyClicks(&f.editor(), QStringLiteral("oops: [1"));
        f.settle();
        QCOMPARE(f.problems(), 1);
        QVERIFY(f.find<QLabel>("formNotice")->isVisible());
        QCOMPARE(f.find<QLineEdit>("field:name")->text(), QStringLiteral("mine"));
        QVERIFY(!f.find<QLineEdit>("field:name")->isEnabled());
        QTest::keyClicks(&f.editor(), QStringLiteral("]"));
        f.settle();
        QVERIFY(!f.find<QLabel>("formNotice")->isVisible());
    }

    void examples_and_estimate_come_from_the_live_worker() {
        Fixture f;
        f.write(QString::fromUtf8(written));
        auto* tabs = f.find<QTabWidget>("composePanels");
        tabs->setCurrentIndex(2);
        QTest::mouseClick(f.find<QPushButton>("showExamples"), Qt::LeftButton);
        auto* sets = f.find<QListWidget>("previewSets");
        QTRY_COMPARE_WITH_TIMEOUT(sets->count(), 2, patience_ms);
        QVERIFY(sets->item(0)->text().contains(QStringLiteral("60")));
        QVERIFY(sets->item(1)->text().contains(QStringLiteral("not here")));
        auto* examples = f.find<QTableView>("previewExamples");
        const QAbstractItemModelTester tester(examples->model());
        QCOMPARE(examples->model()->index(0, ExampleModel::text).data().toString(), QStringLiteral("search query: a text that is cut"));
        QCOMPARE(examples->model()->index(0, ExampleModel::tokens).data().toString(), QStringLiteral("8 of 12"));
        QCOMPARE(examples->model()->index(0, ExampleModel::label).data().toString(), QStringLiteral("admin"));
        tabs->setCurrentIndex(3);
        QTest::mouseClick(f.find<QPushButton>("estimate"), Qt::LeftButton);
        QTRY_COMPARE_WITH_TIMEOUT(f.find<QTableView>("estimateTable")->model()->rowCount(), 2, patience_ms);
        QTRY_VERIFY(f.find<QLabel>("estimateTotal")->text().contains(QStringLiteral("2 min")));
    }

    void in_a_small_window_examples_get_up_to_half_of_the_height() {
        Fixture f;
        f.page.resize(815, 560);  // what a window of 1024x700 leaves
        QTRY_COMPARE(f.page.height(), 560);
        auto* tabs = f.find<QTabWidget>("composePanels");
        const int before = tabs->height();
        QVERIFY(before < 190);
        tabs->setCurrentIndex(2);
        QTRY_VERIFY2(tabs->height() >= 190, qPrintable(QString::number(tabs->height())));
        QVERIFY(f.editor().height() >= 150);
    }

    void what_is_unticked_is_neither_launched_nor_counted() {
        NEED_MINILM();
        Fixture f;
        f.write(QString::fromUtf8(written) + QStringLiteral("seeds: [1, 2]\n"));
        auto* list = f.find<QTableView>("plannedRuns");
        auto* button = f.find<QPushButton>("launch");
        QCOMPARE(button->text(), QStringLiteral("Launch 3 runs"));
        auto* tabs = f.find<QTabWidget>("composePanels");
        tabs->setCurrentIndex(3);
        QTest::mouseClick(f.find<QPushButton>("estimate"), Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(f.find<QLabel>("estimateTotal")->text().contains(QStringLiteral("3 min")), patience_ms);
        tabs->setCurrentIndex(0);
        list->setFocus();
        list->selectRow(0);  // the start model
        QTest::keyClick(list, Qt::Key_Space);
        QCOMPARE(button->text(), QStringLiteral("Launch 2 of 3 runs"));
        QCOMPARE(tabs->tabText(0), QStringLiteral("Runs (2 of 3)"));
        QCOMPARE(list->currentIndex().row(), 0);
        QVERIFY2(f.find<QLabel>("estimateTotal")->text().contains(QStringLiteral("2 min")),
                 qPrintable(f.find<QLabel>("estimateTotal")->text()));
        const QModelIndex second = list->model()->index(1, RunListModel::number);
        QStyleOptionViewItem option;
        option.rect = list->visualRect(second);
        option.features = QStyleOptionViewItem::HasCheckIndicator | QStyleOptionViewItem::HasDisplay;
        option.widget = list;
        QTest::mouseClick(list->viewport(), Qt::LeftButton, {},
                          list->style()->subElementRect(QStyle::SE_ItemViewItemCheckIndicator, &option, list).center());
        QCOMPARE(second.data(Qt::CheckStateRole).toInt(), static_cast<int>(Qt::Unchecked));
        f.page.document().set({"training", "batch_size"}, "16");  // an edit leaves the ticks with their runs
        f.settle();
        QCOMPARE(button->text(), QStringLiteral("Launch 1 of 3 runs"));
        QSignalSpy launched(&f.workspace.actions(), &RunActions::launched);
        Project(folder_.path() / "ticked", true);
        f.workspace.openProject(folder_.path() / "ticked");
        QTest::mouseClick(button, Qt::LeftButton);
        QTRY_COMPARE_WITH_TIMEOUT(launched.count(), 1, patience_ms);
        QCOMPARE(launched.first().first().toStringList().size(), 1);
        QTRY_COMPARE_WITH_TIMEOUT(f.workspace.runs()->runs.size(), std::size_t{1}, patience_ms);
        QCOMPARE(f.workspace.runs()->runs.front().info.seed, std::uint64_t{2});
        list->selectAll();
        QTest::keyClick(list, Qt::Key_Space);  // not all were ticked: now they are
        QCOMPARE(button->text(), QStringLiteral("Launch 3 runs"));
        QTest::keyClick(list, Qt::Key_Space);
        QVERIFY(!button->isEnabled());
        QVERIFY(f.find<ElidedLabel>("launchSummary")->fullText().contains(QStringLiteral("No run is ticked")));
        f.write(QString::fromUtf8(written));
        QVERIFY(!button->isEnabled());
    }

    void the_negatives_of_a_batch_stand_in_the_estimate() {
        Fixture f;
        f.write(QString::fromUtf8(written));
        auto* negatives = f.find<QLabel>("estimateNegatives");
        QVERIFY2(negatives->text().contains(QStringLiteral("retrieval: 31 in-batch; batches of 32 pairs of a data set")),
                 qPrintable(negatives->text()));
        f.page.document().set({"training", "batch_size"}, "8");
        f.settle();
        QVERIFY2(negatives->text().contains(QStringLiteral("7 in-batch")), qPrintable(negatives->text()));
    }

    void a_launch_without_a_project_makes_one_and_the_run_is_there() {
        NEED_MINILM();
        Fixture f;
        f.write(QString::fromUtf8(written));
        QSignalSpy launched(&f.workspace.actions(), &RunActions::launched);
        QStringList complaints;
        connect(&f.workspace, &Workspace::complained, this, [&](const QString& text) { complaints << text; });
        QTest::mouseClick(f.find<QPushButton>("launch"), Qt::LeftButton);
        auto* dialog = f.page.findChild<QDialog*>(QStringLiteral("projectDialog"));
        QVERIFY(dialog);
        const QString project = QString::fromStdString((folder_.path() / "a project").string());
        dialog->findChild<QLineEdit*>(QStringLiteral("projectFolder"))->setText(project);
        QTest::keyClick(dialog, Qt::Key_Return);
        QTRY_VERIFY2_WITH_TIMEOUT(launched.count() == 1 || !complaints.isEmpty(), qPrintable(complaints.join(QLatin1Char('\n'))),
                                  patience_ms);
        QVERIFY2(complaints.isEmpty(), qPrintable(complaints.join(QLatin1Char('\n'))));
        QCOMPARE(launched.first().first().toStringList().size(), 2);
        QTRY_COMPARE_WITH_TIMEOUT(f.workspace.runs()->runs.size(), std::size_t{2}, patience_ms);
        QCOMPARE(QString::fromStdString(f.workspace.runs()->runs.front().info.experiment), QStringLiteral("mine"));
        QVERIFY(QFile::exists(project + QStringLiteral("/runs")));
    }

    void a_file_is_opened_changed_and_saved_and_a_draft_is_found_again() {
        const fs::path file = folder_.path() / "saved.yaml";
        write_file_atomic(file, written);
        QJsonObject state;
        {
            Fixture f;
            f.workspace.requestCompose(QString::fromStdString(file.string()));
            QTRY_COMPARE_WITH_TIMEOUT(f.text(), QString::fromUtf8(written), patience_ms);
            f.editor().moveCursor(QTextCursor::End);
            f.editor().setFocus();
            QTest::keyClicks(&f.editor(), QStringLiteral("seeds: [1, 2]"));
            QVERIFY(f.find<QLabel>("experimentFile")->accessibleName().contains(QStringLiteral("edited")));
            QTest::keyClick(&f.editor(), Qt::Key_S, Qt::ControlModifier);
            QTRY_VERIFY_WITH_TIMEOUT(!f.page.document().text().isModified(), patience_ms);
            QCOMPARE(read_file(file), std::string(written) + "seeds: [1, 2]");
            QTest::keyClicks(&f.editor(), QStringLiteral("  # not saved"));
            state = f.page.state();
            f.workspace.requestCompose({});
            auto* asked = f.page.findChild<QMessageBox*>(QStringLiteral("unsavedDialog"));
            QVERIFY(asked);
            QTest::mouseClick(asked->button(QMessageBox::Cancel), Qt::LeftButton);
            QVERIFY(f.text().endsWith(QStringLiteral("# not saved")));
        }
        Fixture next;
        next.page.restore(state);
        next.settle();
        QVERIFY(next.text().endsWith(QStringLiteral("seeds: [1, 2]  # not saved")));
        QVERIFY(next.page.document().text().isModified());
        QCOMPARE(next.page.document().file(), QString::fromStdString(file.string()));
    }

    void a_file_that_another_program_writes_is_noticed_and_reloaded_or_kept() {
        const fs::path file = folder_.path() / "shared.yaml";
        const std::string theirs = std::string(written) + "seeds: [5]\n";
        write_file_atomic(file, written);
        Fixture f;
        f.workspace.requestCompose(QString::fromStdString(file.string()));
        QTRY_COMPARE_WITH_TIMEOUT(f.text(), QString::fromUtf8(written), patience_ms);
        auto* notice = f.find<QWidget>("diskNotice");
        QVERIFY(!notice->isVisible());
        f.editor().moveCursor(QTextCursor::End);
        f.editor().setFocus();
        QTest::keyClicks(&f.editor(), QStringLiteral("# mine"));
        write_file_atomic(file, theirs);  // by renaming, as editors do
        QTRY_VERIFY_WITH_TIMEOUT(notice->isVisible(), patience_ms);
        QTest::keyClick(&f.editor(), Qt::Key_S, Qt::ControlModifier);
        auto* ask = f.page.findChild<QMessageBox*>(QStringLiteral("theirsDialog"));
        QVERIFY(ask && ask->text().contains(QStringLiteral("shared.yaml was changed by another program")));
        QTest::mouseClick(ask->button(QMessageBox::Cancel), Qt::LeftButton);
        QCOMPARE(read_file(file), theirs);
        f.page.window()->activateWindow();
        QTest::mouseClick(f.find<QPushButton>("keepMine"), Qt::LeftButton);
        QVERIFY(!notice->isVisible());
        QVERIFY(f.text().endsWith(QStringLiteral("# mine")) && f.page.document().text().isModified());
        OutputFile(file, OutputFile::Mode::truncate).write(theirs + "# again\n");  // in place
        QTRY_VERIFY_WITH_TIMEOUT(notice->isVisible(), patience_ms);
        QTest::mouseClick(f.find<QPushButton>("reloadFromDisk"), Qt::LeftButton);
        QTRY_COMPARE_WITH_TIMEOUT(f.text(), QString::fromStdString(theirs + "# again\n"), patience_ms);
        QVERIFY(!f.page.document().text().isModified());
        QTRY_VERIFY_WITH_TIMEOUT(!notice->isVisible(), patience_ms);
        f.page.document().text().undo();
        QVERIFY(f.text().endsWith(QStringLiteral("# mine")));
        QTest::keyClick(&f.editor(), Qt::Key_S, Qt::ControlModifier);
        QTRY_VERIFY_WITH_TIMEOUT(read_file(file).ends_with("# mine"), patience_ms);
        f.settle();
        QVERIFY(!notice->isVisible());  // what is written here is no surprise
        fs::remove(file);
        QTRY_VERIFY_WITH_TIMEOUT(notice->isVisible(), patience_ms);
        QVERIFY(f.find<ElidedLabel>("diskNoticeText")->fullText().contains(QStringLiteral("gone")));
    }

    void a_draft_knows_when_its_file_changed_while_the_program_was_closed() {
        const fs::path file = folder_.path() / "draft.yaml";
        write_file_atomic(file, written);
        QJsonObject state;
        {
            Fixture f;
            f.workspace.requestCompose(QString::fromStdString(file.string()));
            QTRY_COMPARE_WITH_TIMEOUT(f.text(), QString::fromUtf8(written), patience_ms);
            f.editor().setFocus();
            QTest::keyClicks(&f.editor(), QStringLiteral("# draft "));
            state = f.page.state();
        }
        Fixture same;
        same.page.restore(state);
        same.settle();
        QTest::qWait(50);
        QVERIFY(!same.find<QWidget>("diskNotice")->isVisible());
        write_file_atomic(file, std::string(written) + "seeds: [5]\n");
        Fixture next;
        next.page.restore(state);
        QTRY_VERIFY_WITH_TIMEOUT(next.find<QWidget>("diskNotice")->isVisible(), patience_ms);
        QVERIFY2(next.text().contains(QStringLiteral("# draft")), qPrintable(next.text()));
    }

    void a_path_is_chosen_as_a_file_or_as_a_folder() {
        const fs::path file = folder_.path() / "paths.yaml";
        make_directories(folder_.path() / "texts");
        write_file_atomic(folder_.path() / "texts/pairs.tsv", "a\tb\n");
        write_file_atomic(file,
                          "name: p\nmodel: minilm\ntasks:\n  retrieval:\n    train:\n      - {source: file, path: x.tsv}\nvariants: {A: "
                          "{method: dense}}\n");
        Fixture f;
        f.workspace.requestCompose(QString::fromStdString(file.string()));
        f.settle();
        QTRY_VERIFY_WITH_TIMEOUT(f.text().contains(QStringLiteral("x.tsv")), patience_ms);
        f.settle();
        f.find<FormPanel>("composeForm")->reveal({"tasks", "retrieval", "train", YamlStep::item(0), "path"}, true);
        const auto choose = [&](const char* kind, const fs::path& chosen) {
            auto* browse = f.find<QToolButton>("browse:tasks.retrieval.train[0].path");
            browse->menu()->findChild<QAction*>(QString::fromLatin1(kind))->trigger();
            auto* dialog = f.page.findChild<QFileDialog*>(QStringLiteral("pathDialog"));
            Q_EMIT dialog->fileSelected(QString::fromStdString(chosen.string()));
            const auto mode = dialog->fileMode();
            delete dialog;
            return mode;
        };
        QCOMPARE(choose("chooseFile", folder_.path() / "texts/pairs.tsv"), QFileDialog::ExistingFile);
        QVERIFY2(f.text().contains(QStringLiteral("path: texts/pairs.tsv}")), qPrintable(f.text()));
        f.settle();
        QCOMPARE(choose("chooseFolder", folder_.path() / "texts"), QFileDialog::Directory);
        QVERIFY2(f.text().contains(QStringLiteral("path: texts}")), qPrintable(f.text()));
    }

    void the_quick_start_typed_character_by_character_breaks_nothing() {
        Fixture f;
        f.write({});
        const QString text = QString::fromStdString(read_file(fs::path(FACETER_SOURCE_DIR) / "experiments/quickstart.yaml"));
        f.open("open:training");
        for (qsizetype i = 0; i < text.size(); ++i) {
            if (text[i] == QLatin1Char('\n'))
                f.editor().insertPlainText(QStringLiteral("\n"));
            else
                QTest::keyClick(&f.editor(), text[i].toLatin1());
            if (i % 150 == 0) f.settle();
        }
        f.settle();
        QVERIFY(f.page.isReady());
        QCOMPARE(f.text().size(), text.size());
    }
};

FACETER_TEST(TestComposePage)
#include "test_compose_page.moc"
