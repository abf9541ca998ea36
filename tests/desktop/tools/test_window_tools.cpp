#include <QAbstractSpinBox>
#include <QApplication>
#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QDialog>
#include <QDropEvent>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMimeData>
#include <QPlainTextEdit>
#include <QProcess>
#include <QProgressBar>
#include <QScopeGuard>
#include <QSettings>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTableView>
#include <QThreadPool>

#include "actions/run_actions.h"
#include "desktop/tools/tools_project.h"
#include "dialogs/evaluate_dialog.h"
#include "pages/page.h"
#include "support/checkout.h"
#include "support/test.h"
#include "widgets/labels.h"
#include "window/start_page.h"
#include "window/window_tools.h"

using namespace faceter;
using namespace faceter::desktop;
using namespace faceter::testing;

namespace {

constexpr int patience_ms = 60'000;

void type(QLineEdit* edit, const QString& text) {
    edit->selectAll();
    QTest::keyClicks(edit, text);
}

void drop(QWidget* window, const QUrl& url) {
    QMimeData data;
    data.setUrls({url});
    QDragEnterEvent enter(QPoint(400, 300), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(window, &enter);
    QDropEvent event(QPointF(400, 300), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(window, &event);
}

void drop(QWidget* window, const fs::path& path) { drop(window, QUrl::fromLocalFile(QString::fromStdString(path.string()))); }

}  // namespace

/// Commands of the menus as jobs: what a terminal would run, driven by keyboard and mouse.
class TestWindowTools : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void init() { QSettings().clear(); }

    void a_report_on_all_runs_is_written_as_a_job_and_can_be_opened() {
        ToolsWindow on;
        QVERIFY(on.choose("report"));
        QTRY_VERIFY(on.find<QDialog>("reportDialog"));
        auto* runs = on.find<QComboBox>("reportRuns");
        QTest::keyClick(runs, Qt::Key_End);
        QVERIFY(runs->currentData().toStringList().isEmpty());
        const fs::path file = on.folder.path() / "my report.html";
        type(on.find<QLineEdit>("reportFile"), QString::fromStdString(file.string()));
        QTest::keyClicks(on.find<QLineEdit>("reportTitle"), "What <came> out");
        QTest::keyClick(on.find<QLineEdit>("reportTitle"), Qt::Key_Return);
        QTRY_VERIFY(on.find<QWidget>("jobLine"));
        QTRY_VERIFY(on.find<QPushButton>("jobAct")->text() != "Cancel");
        QVERIFY2(fs::exists(file), qPrintable(on.find<ElidedLabel>("jobStatus")->fullText()));
        QCOMPARE(on.find<QPushButton>("jobAct")->text(), QString("Open"));
        QVERIFY(read_file(file).find("What &lt;came&gt; out") != std::string::npos);
        QVERIFY(on.find<ElidedLabel>("jobStatus")->fullText().contains(QString::fromStdString(file.string())));
        on.click("jobDismiss");
        QTRY_VERIFY(!on.find<QWidget>("jobLine"));
    }

    void a_report_needs_a_file_of_a_kind_that_it_can_be_and_its_command_can_be_copied() {
        ToolsWindow on;
        QTest::keyClick(on.window.get(), Qt::Key_R, Qt::ControlModifier | Qt::AltModifier);
        QTRY_VERIFY(on.find<QDialog>("reportDialog"));
        type(on.find<QLineEdit>("reportFile"), "/tmp/report.docx");
        QVERIFY(!on.find<QPushButton>("start")->isEnabled());
        QVERIFY(on.find<QLabel>("missing")->text().contains(".html"));
        type(on.find<QLineEdit>("reportFile"), "/tmp/it's.tex");
        QVERIFY(on.find<QPushButton>("start")->isEnabled());
        on.click("copyCommand");
        const QString command = QApplication::clipboard()->text();
        QVERIFY2(command.startsWith("faceter report ") && command.endsWith("--output '/tmp/it'\\''s.tex'"), qPrintable(command));
    }

    void a_report_that_is_there_is_not_proposed_to_be_written_over() {
        ToolsWindow on;
        for (const char* name : {"report.html", "report-2.html"}) write_file_atomic(on.project() / name, "theirs");
        on.action("report")->trigger();
        QTRY_VERIFY(on.find<QDialog>("reportDialog"));
        QCOMPARE(on.find<QLineEdit>("reportFile")->text(), QString::fromStdString((on.project() / "report-3.html").string()));
    }

    void a_report_is_tested_against_a_run_that_has_scores_and_is_among_its_own() {
        ToolsWindow on;
        on.action("report")->trigger();
        QTRY_VERIFY(on.find<QDialog>("reportDialog"));
        auto *runs = on.find<QComboBox>("reportRuns"), *baselines = on.find<QComboBox>("reportBaseline");
        QCOMPARE(runs->currentText(), QString("the selected run"));
        QCOMPARE(baselines->count(), 2);  // the start model, and the run's own group
        QCOMPARE(baselines->itemData(1).toString(), on.workspace.currentRun());
        QTest::keyClick(runs, Qt::Key_End);
        QVERIFY(runs->currentData().toStringList().isEmpty());
        QCOMPARE(baselines->count(), static_cast<int>(on.workspace.groups().size()));
    }

    void a_report_takes_the_runs_that_are_selected_on_the_page_of_runs() {
        ToolsWindow on;
        QVERIFY(on.window->goTo("runs"));
        auto* table = on.find<QTableView>("runsTable");
        QTRY_VERIFY(table && table->model()->rowCount() > 0);
        table->setFocus();
        QTest::keyClick(table, Qt::Key_A, Qt::ControlModifier);
        QTRY_COMPARE(on.window->page("runs")->selectedRuns().size(), 5);
        on.action("report")->trigger();
        QCOMPARE(on.find<QComboBox>("reportRuns")->currentText(), QString("the 5 selected runs"));
    }

    void a_job_shows_its_progress_and_ends_when_it_is_cancelled() {
        ToolsWindow on;
        on.hold();
        on.action("export")->trigger();
        on.click("start");
        QTRY_VERIFY(on.find<QProgressBar>("") || on.find<QWidget>("jobLine"));
        auto* bar = on.find<QWidget>("jobLine")->findChild<QProgressBar*>();
        QTRY_COMPARE(bar->value(), 250);
        QVERIFY(on.find<ElidedLabel>("jobStatus")->fullText().contains("embed texts 250/1000"));
        QVERIFY(!on.window->close());  // said first, as it would end the job
        QVERIFY(on.find<ErrorBar>("errorBar")->message().contains("Export of"));
        on.click("jobAct");
        QTRY_VERIFY(!on.find<QWidget>("jobLine"));
    }

    void an_export_names_its_run_and_what_fails_is_said_whole() {
        ToolsWindow on;
        QVERIFY(on.choose("export"));
        QTRY_VERIFY(on.find<QDialog>("exportDialog"));
        QVERIFY(!on.find<QCheckBox>("exportInt8")->isEnabled());
        QTest::keyClick(on.find<QComboBox>("exportTarget"), Qt::Key_Down);
        QVERIFY(on.find<QCheckBox>("exportInt8")->isEnabled());
        QTest::mouseClick(on.find<QCheckBox>("exportInt8"), Qt::LeftButton, {}, QPoint(8, 8));
        const fs::path folder = on.folder.path() / "model";
        type(on.find<QLineEdit>("exportFolder"), QString::fromStdString(folder.string()));
        on.click("start");
        QTRY_VERIFY(fs::is_directory(folder));
        const std::string run = on.workspace.currentRun().toStdString();
        QVERIFY(on.worker_log().starts_with("export " + run + " " + folder.string() + " --project " + on.project().string() +
                                            " --to onnx --int8"));
        QTRY_COMPARE(on.find<QPushButton>("jobAct")->text(), QString("Open"));

        write_file_atomic(folder / "file", "");
        on.action("export")->trigger();
        type(on.find<QLineEdit>("exportFolder"), QString::fromStdString(folder.string()));
        QVERIFY(!on.find<QPushButton>("start")->isEnabled());
        QVERIFY(on.find<QLabel>("missing")->text().contains("not empty"));
    }

    void adapters_are_not_exported_for_one_task() {
        ToolsWindow on;
        on.action("export")->trigger();
        auto* target = on.find<QComboBox>("exportTarget");
        target->setCurrentIndex(target->findData("peft"));
        QVERIFY(on.find<QPushButton>("start")->isEnabled());
        type(on.find<QLineEdit>("exportTask"), "retrieval");
        QVERIFY(!on.find<QPushButton>("start")->isEnabled());
        QVERIFY(on.find<QLabel>("missing")->text().contains("PEFT writes the adapters of all tasks"));
    }

    void what_dialogs_ask_for_has_a_name_of_its_own() {
        ToolsWindow on;
        for (const char* name : {"report", "export", "evaluate", "newFromData"}) {
            on.action(name)->trigger();
            auto* dialog = on.find<QDialog>((std::string(name) + "Dialog").c_str());
            QVERIFY2(dialog, name);
            int asked = 0;
            for (const QWidget* widget : dialog->findChildren<QWidget*>()) {
                const bool asks = qobject_cast<const QComboBox*>(widget) || qobject_cast<const QLineEdit*>(widget) ||
                                  qobject_cast<const QAbstractSpinBox*>(widget);
                if (!asks || qobject_cast<const QAbstractSpinBox*>(widget->parentWidget())) continue;
                ++asked;
                QVERIFY2(!widget->accessibleName().isEmpty(), qPrintable(QString(name) + ": " + widget->objectName()));
            }
            QVERIFY2(asked > 0, name);
            dialog->reject();
        }
    }

    void scores_on_other_data_come_as_a_table() {
        ToolsWindow on;
        make_directories(on.folder.path() / "biosses");
        on.action("evaluate")->trigger();
        auto* dialog = on.find<EvaluateDialog>("evaluateDialog");
        QVERIFY(dialog && !on.find<QPushButton>("start")->isEnabled());
        dialog->addFolder(QString::fromStdString((on.folder.path() / "biosses").string()));
        on.click("start");
        QTRY_VERIFY(on.find<QWidget>("scoresWindow"));
        const auto* table = on.find<QTableView>("scoresTable");
        QCOMPARE(table->model()->index(0, 0).data().toString(), QString("biosses"));
        QVERIFY(table->model()->index(0, 3).data().toString().startsWith("81.2"));
        QVERIFY(on.worker_log().find("--data " + (on.folder.path() / "biosses").string()) != std::string::npos);
    }

    void a_limit_of_examples_is_one_of_queries_too() {
        ToolsWindow on;
        on.action("evaluate")->trigger();
        auto* dialog = on.find<EvaluateDialog>("evaluateDialog");
        QVERIFY(dialog && !dialog->request().words.contains("--max-examples"));
        on.find<QSpinBox>("evaluateMost")->setValue(50);
        const QString command = dialog->request().words.join(' ');
        QVERIFY2(command.contains("--max-examples 50 --max-queries 50"), qPrintable(command));
    }

    void what_a_job_warned_of_is_said_when_it_is_done() {
        ToolsWindow on;
        make_directories(on.folder.path() / "biosses");
        const QString data = QString::fromStdString((on.folder.path() / "biosses").string());
        on.window->findChild<WindowTools*>()->jobs().start({"Evaluation", {"evaluate", "--model", "EM-1", "--data", data, "--json"}});
        const auto* bar = on.find<ErrorBar>("errorBar");
        QTRY_COMPARE_WITH_TIMEOUT(bar->message(), QString("Evaluation is done; warning: biosses: 40 % of the texts are cut"), patience_ms);
    }

    void an_evaluation_that_is_cancelled_shows_what_it_had_scored() {
        ToolsWindow on;
        on.hold();
        make_directories(on.folder.path() / "biosses");
        on.action("evaluate")->trigger();
        on.find<EvaluateDialog>("evaluateDialog")->addFolder(QString::fromStdString((on.folder.path() / "biosses").string()));
        on.click("start");
        QTRY_VERIFY_WITH_TIMEOUT(on.find<ElidedLabel>("jobStatus") && on.find<ElidedLabel>("jobStatus")->fullText().contains("250/1000"),
                                 patience_ms);
        QVERIFY(!on.find<QWidget>("scoresWindow"));
        on.click("jobAct");
        QTRY_VERIFY_WITH_TIMEOUT(on.find<QTableView>("scoresTable"), patience_ms);
        QCOMPARE(on.find<QTableView>("scoresTable")->model()->index(0, 0).data().toString(), QString("biosses"));
    }

    void a_window_that_stays_for_another_job_does_not_close_by_itself_later() {
        ToolsWindow on;
        on.hold();
        RunActions& actions = on.workspace.actions();
        JobList& jobs = on.window->findChild<WindowTools*>()->jobs();
        const QStringList run{on.workspace.currentRun()};
        const auto settled = [&] {
            const bool ended = QTest::qWaitFor([&] { return actions.pending().isEmpty(); }, patience_ms);
            for (int i = 0; i < 20; ++i) QCoreApplication::processEvents();
            return ended;
        };
        jobs.start({"first", {"diagnose", run.first()}});
        actions.addTag(run, "one");
        QVERIFY(!on.window->close());  // it says that this ends the job
        QVERIFY(!on.window->close());  // it waits for the tag
        jobs.start({"second", {"diagnose", run.first()}});
        QVERIFY(settled());
        QVERIFY(on.window->isVisible());  // it says that this ends both
        actions.addTag(run, "two");
        QVERIFY(settled());
        QVERIFY(on.window->isVisible());
        QCOMPARE(jobs.running().size(), 2);
    }

    void output_that_is_no_scores_is_refused() {
        EXPECT_ERROR(scoresOf("nothing", "x"), "no scores");
        EXPECT_ERROR(scoresOf("{\"datasets\": 3}", "x"), "no scores");
        QCOMPARE(scoresOf("{\"datasets\": [3, {\"name\": 1}]}", "x").rows.size(), std::size_t(1));
    }

    void a_diagnosis_stands_in_the_inspector_with_its_advice() {
        ToolsWindow on;
        on.click("diagnoseButton");
        auto* summary = on.find<QLabel>("diagnoseSummary");
        QTRY_VERIFY(summary->isVisible());
        QCOMPARE(summary->text(), QString("1 alarm · 1 as it should be · 0 not measured"));
        const auto* alarm = on.find<QWidget>("alarm");
        QVERIFY(alarm);
        QTRY_VERIFY(alarm->isVisible());
        QCOMPARE(alarm->findChild<QLabel*>("advice")->text(), QString("Raise max_length to 64."));
        QTest::mouseClick(on.find<QPushButton>("diagnoseMore"), Qt::LeftButton);
        const auto labels = on.find<QWidget>("diagnoseCard")->findChildren<QLabel*>();
        QTRY_VERIFY(std::any_of(labels.begin(), labels.end(),
                                [](const QLabel* label) { return label->isVisible() && label->text() == "The loss falls evenly."; }));
        const QString run = on.workspace.currentRun();
        on.workspace.setCurrentRun({});
        on.workspace.setCurrentRun(run);
        QVERIFY(summary->isVisible());  // kept
        QVERIFY(!on.find<QWidget>("jobLine"));
    }

    void what_a_diagnosis_has_unfolded_stays_so_while_runs_go_on() {
        ToolsWindow on;
        on.click("diagnoseButton");
        QTRY_VERIFY(on.find<QPushButton>("diagnoseMore")->isVisible());
        on.click("diagnoseMore");
        QSignalSpy changed(&on.workspace, &Workspace::runsChanged);
        RunDirectory(on.project() / "runs" / on.workspace.runs()->runs.front().info.id).append_user_event({{"tag", "seen"}});
        on.workspace.session()->refresh();
        QTRY_VERIFY(!changed.isEmpty());
        QVERIFY(on.find<QPushButton>("diagnoseMore")->isChecked());
    }

    void a_job_that_is_dismissed_gives_the_keyboard_to_no_other_button() {
        ToolsWindow on;
        on.action("export")->trigger();
        QTRY_VERIFY(on.find<QDialog>("exportDialog"));
        type(on.find<QLineEdit>("exportFolder"), QString::fromStdString((on.folder.path() / "model").string()));
        on.click("start");
        QTRY_VERIFY(on.find<QPushButton>("jobDismiss") && on.find<QPushButton>("jobDismiss")->isVisible());
        QTRY_VERIFY(!on.find<QDialog>("exportDialog"));
        on.window->activateWindow();
        on.find<QPushButton>("jobDismiss")->setFocus();
        QTest::keyClick(on.find<QPushButton>("jobDismiss"), Qt::Key_Space);
        QTRY_VERIFY(!on.find<QWidget>("jobLine"));
        QVERIFY(!qobject_cast<QAbstractButton*>(on.window->focusWidget()));
    }

    void who_diagnoses_keeps_the_focus_on_the_button() {
        ToolsWindow on;
        on.hold();
        auto* button = on.find<QPushButton>("diagnoseButton");
        button->setFocus();
        on.click("diagnoseButton");
        QVERIFY(!button->isEnabled());
        QCOMPARE(QApplication::focusWidget(), on.find<QWidget>("diagnoseCard"));
        QTRY_VERIFY(on.find<QPushButton>("jobAct"));
        on.click("jobAct");  // cancels it
        QTRY_VERIFY(button->isEnabled());
    }

    void a_diagnosis_that_ends_gives_the_focus_back() {
        ToolsWindow on;
        auto* button = on.find<QPushButton>("diagnoseButton");
        button->setFocus();
        QTest::keyClick(button, Qt::Key_Space);
        QTRY_VERIFY(on.find<QLabel>("diagnoseSummary")->isVisible());
        QVERIFY(button->hasFocus());
    }

    void a_start_model_is_not_diagnosed() {
        ToolsWindow on;
        for (const RunRow& run : on.workspace.runs()->runs)
            if (run.info.is_baseline()) on.workspace.setCurrentRun(qs(run.info.id));
        QVERIFY(!on.find<QWidget>("diagnoseCard")->isVisible());
    }

    void results_of_mteb_that_are_dropped_become_runs() {
        ToolsWindow on;
        const fs::path model = on.folder.path() / "results/org__model/rev1";
        make_directories(model);
        write_file_atomic(model / "model_meta.json", R"({"name": "org/model", "revision": "rev1"})");
        write_file_atomic(
            model / "Banking77Classification.json",
            R"({"task_name": "Banking77Classification", "mteb_version": "2.0.0", "dataset_revision": "x", "evaluation_time": 1,
                              "scores": {"test": [{"main_score": 0.8, "accuracy": 0.8, "hf_subset": "default", "languages": ["eng-Latn"]}]}})");
        drop(on.window.get(), on.folder.path() / "results");
        QTRY_COMPARE(on.workspace.runs()->runs.size(), std::size_t(6));
        QTRY_VERIFY(!on.find<QWidget>("jobLine"));
    }

    void a_bundle_that_is_dropped_becomes_runs() {
        ToolsWindow on;
        const fs::path theirs = on.folder.path() / "their project", bundle = on.folder.path() / "their bündle.tar.gz";
        make_directories(theirs / "runs");
        make_sample_project(theirs, 2);
        QProcess faceter;
        faceter.start(QStringLiteral(FACETER_BINARY_DIR "/bin/faceter"),
                      {QStringLiteral("bundle"), QStringLiteral("--project"), QString::fromStdString(theirs.string()),
                       QStringLiteral("--output"), QString::fromStdString(bundle.string())});
        QVERIFY(faceter.waitForFinished());
        QVERIFY2(fs::exists(bundle), faceter.readAllStandardError().constData());
        drop(on.window.get(), bundle);
        QTRY_COMPARE(on.workspace.runs()->runs.size(), std::size_t(7));
        QTRY_VERIFY(!on.find<QWidget>("jobLine"));
    }

    void a_file_that_is_dropped_on_a_text_is_opened_and_not_written_into_it() {
        ToolsWindow on;
        const fs::path file = on.folder.path() / "dropped.yaml";
        write_file_atomic(file, sample_experiment());
        auto* note = on.find<QPlainTextEdit>("inspectorNote");
        drop(note->viewport(), file);
        QCOMPARE(note->toPlainText(), QString());
        QTRY_COMPARE(on.window->currentPage(), QStringLiteral("compose"));
        auto* editor = on.find<QPlainTextEdit>("yamlEditor");
        QTRY_COMPARE(editor->toPlainText(), QString::fromUtf8(sample_experiment()));
        const fs::path other = on.folder.path() / "other.yaml";
        write_file_atomic(other, std::string(sample_experiment()) + "# another\n");
        drop(editor->viewport(), other);
        QTRY_VERIFY(editor->toPlainText().endsWith(QStringLiteral("# another\n")));
        QVERIFY2(!editor->toPlainText().contains(QStringLiteral("file:")), qPrintable(editor->toPlainText()));
    }

    void a_table_of_any_ending_that_is_read_can_be_dropped() {
        ToolsWindow on;
        for (const char* name : {"a.ndjson", "b.json", "c.json.gz"}) {
            const fs::path table = on.folder.path() / name;
            write_file_atomic(table, "{\"text\": \"one\"}\n");
            drop(on.window.get(), table);
            QTRY_VERIFY2(on.find<QDialog>("newFromDataDialog"), name);
            on.find<QDialog>("newFromDataDialog")->reject();
            QTRY_VERIFY(!on.find<QDialog>("newFromDataDialog"));
        }
        make_directories(on.folder.path() / "settings");
        write_file_atomic(on.folder.path() / "settings/some.json", "{}");
        drop(on.window.get(), on.folder.path() / "settings");
        QVERIFY(!on.find<QDialog>("newFromDataDialog"));
    }

    void a_file_that_cannot_be_opened_is_refused_in_words() {
        ToolsWindow on;
        const fs::path picture = on.folder.path() / "picture.png";
        write_file_atomic(picture, "no table");
        drop(on.window.get(), picture);
        const auto* bar = on.find<ErrorBar>("errorBar");
        QVERIFY2(bar->message().contains(QStringLiteral("picture.png: this file is none that can be opened")), qPrintable(bar->message()));
        drop(on.window.get(), QUrl(QStringLiteral("https://example.org/e.yaml")));
        QVERIFY2(bar->message().startsWith(QStringLiteral("https://example.org/e.yaml: only files")), qPrintable(bar->message()));
        QCOMPARE(on.workspace.runs()->runs.size(), std::size_t(5));
    }

    void the_machine_is_set_up_as_a_job_that_says_how_far_it_is() {
        ToolsWindow on;
        QThreadPool::globalInstance()->waitForDone();  // nobody reads the environment while it changes
        const fs::path data = on.folder.path() / "data/packaging", script = data / "setup.sh", go = data / "go";
        make_directories(data);
        write_file_atomic(script,
                          "echo \"$*\" >\"$0.log\"\nprintf '\\rsetup:   torch  265/530 MB ' >&2\nuntil [ -e \"$(dirname \"$0\")/go\" ]; do "
                          "sleep 0.05; done\n");
        const QByteArray before = qgetenv("FACETER_DATA_DIR");
        qputenv("FACETER_DATA_DIR", data.parent_path().c_str());
        const auto undo = qScopeGuard([&] {
            before.isNull() ? qunsetenv("FACETER_DATA_DIR") : qputenv("FACETER_DATA_DIR", before);
            write_file_atomic(go, "");
        });
        Q_EMIT on.find<StartPage>("startPage")->setUpChosen({"setup"});
        QTRY_VERIFY_WITH_TIMEOUT(on.find<ElidedLabel>("jobStatus") && on.find<ElidedLabel>("jobStatus")->fullText().contains("265/530 MB"),
                                 patience_ms);
        QCOMPARE(read_file(script.string() + ".log"), std::string("--user\n"));
        const auto* bar = on.find<QWidget>("jobLine")->findChild<QProgressBar*>();
        QCOMPARE(bar->value() * 2, bar->maximum());
        write_file_atomic(go, "");
        QTRY_VERIFY_WITH_TIMEOUT(!on.find<QWidget>("jobLine"), patience_ms);
        QVERIFY(on.find<ErrorBar>("errorBar")->message().contains("The set-up is done"));
    }

    void results_of_mteb_that_cannot_be_read_stay_with_the_reason() {
        ToolsWindow on;
        const fs::path model = on.folder.path() / "results/org__model/rev1";
        make_directories(model);
        write_file_atomic(model / "model_meta.json", "{");
        write_file_atomic(model / "Banking77Classification.json", "{");
        drop(on.window.get(), on.folder.path() / "results");
        QTRY_VERIFY(on.find<QWidget>("jobLine"));
        QTRY_COMPARE(on.find<QPushButton>("jobAct")->text(), QString("Copy details"));
        on.click("jobAct");
        QVERIFY2(QApplication::clipboard()->text().contains("results/org__model"), qPrintable(QApplication::clipboard()->text()));
        QVERIFY(on.find<ErrorBar>("errorBar")->isVisible());
    }
};

FACETER_TEST(TestWindowTools)
#include "test_window_tools.moc"
