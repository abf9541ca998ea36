#include <QAction>
#include <QDialog>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSettings>
#include <QTableView>
#include <fstream>

#include "desktop/support/sample_project.h"
#include "desktop/support/save_dialog.h"
#include "dialogs/new_from_data.h"
#include "pages/compose/compose_page.h"
#include "support/checkout.h"
#include "support/test.h"
#include "widgets/labels.h"
#include "window/main_window.h"

using namespace faceter;
using namespace faceter::desktop;
using namespace faceter::testing;

namespace {

QString pathText(const fs::path& path) { return QString::fromStdString(path.string()); }

/// A table of the manual in a folder of its own.
fs::path copied_table(const TemporaryDirectory& folder) {
    const fs::path table = folder.path() / "tickets.csv";
    fs::copy_file(fs::path(FACETER_SOURCE_DIR) / "resources/manual/tickets.csv", table);
    return table;
}

}  // namespace

class TestNewFromData : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void init() { QSettings().clear(); }

    void a_table_is_previewed_written_and_opened_in_compose() {
        const TemporaryDirectory folder;
        Workspace workspace;
        MainWindow window(workspace);
        window.show();
        QVERIFY(QTest::qWaitForWindowActive(&window));
        QTest::keyClick(&window, Qt::Key_N, Qt::ControlModifier | Qt::ShiftModifier);
        auto* dialog = window.findChild<QDialog*>("newFromDataDialog");
        QTRY_VERIFY(dialog && dialog->isVisible());
        auto* create = dialog->findChild<QPushButton*>("createExperiment");
        QVERIFY(!create->isEnabled());
        QTest::keyClicks(dialog->findChild<QLineEdit*>("dataSource"), pathText(copied_table(folder)));
        QTRY_VERIFY(create->isEnabled());
        QVERIFY(dialog->findChild<QLabel*>("dataSummary")->text().startsWith("96 rows"));
        const auto* columns = dialog->findChild<QTableView*>("dataColumns");
        QCOMPARE(columns->model()->rowCount(), 2);
        QCOMPARE(columns->model()->index(0, 0).data().toString(), QString("text"));
        QVERIFY(dialog->findChild<QPlainTextEdit*>("dataPreview")->toPlainText().contains("variants:"));
        QVERIFY(!fs::exists(folder.path() / "tickets.yaml"));  // a preview writes nothing
        QTest::mouseClick(create, Qt::LeftButton);
        QTRY_VERIFY(fs::exists(folder.path() / "tickets.yaml"));
        QVERIFY(fs::exists(folder.path() / "tickets-data/labels/train.jsonl"));
        QTRY_VERIFY(window.page("compose") && window.frontPage() == window.page("compose"));
        auto* compose = static_cast<ComposePage*>(window.page("compose"));
        QTRY_COMPARE(compose->document().file(), pathText(folder.path() / "tickets.yaml"));
    }

    void the_first_page_leads_there_and_a_folder_can_be_chosen() {
        const TemporaryDirectory folder;
        fs::create_directory(folder.path() / "set");
        write_file_atomic(folder.path() / "set/train.jsonl", "{\"text\": \"one text\", \"label\": 0}\n");
        Workspace workspace;
        MainWindow window(workspace);
        window.show();
        QVERIFY(QTest::qWaitForWindowActive(&window));
        auto* button = window.findChild<QPushButton*>("newFromDataButton");
        QVERIFY(button && button->isVisible());
        QTest::mouseClick(button, Qt::LeftButton);
        auto* dialog = window.findChild<QDialog*>("newFromDataDialog");
        QTRY_VERIFY(dialog && dialog->isVisible());
        QPushButton* choose = nullptr;
        for (auto* one : dialog->findChildren<QPushButton*>())
            if (one->text() == "Folder…") choose = one;
        QVERIFY(choose);
        answer_save_dialog(pathText(folder.path() / "set"));
        QTest::mouseClick(choose, Qt::LeftButton);
        QTRY_COMPARE(dialog->findChild<QLineEdit*>("dataSource")->text(), pathText(folder.path() / "set"));
        QTRY_COMPARE(dialog->findChild<QLineEdit*>("dataOutput")->text(), pathText(folder.path() / "set.yaml"));
        dialog->close();
    }

    void the_data_of_a_dropped_table_are_looked_at_before_anything_is_written() {
        const TemporaryDirectory folder;
        Workspace workspace;
        MainWindow window(workspace);
        window.show();
        QVERIFY(QTest::qWaitForWindowActive(&window));
        QVERIFY(window.openPath(pathText(copied_table(folder))));
        auto* dialog = window.findChild<QDialog*>("newFromDataDialog");
        QTRY_VERIFY(dialog && dialog->isVisible());
        auto* look = dialog->findChild<QPushButton*>("lookAtTable");
        QTRY_VERIFY(look->isEnabled());
        QTest::mouseClick(look, Qt::LeftButton);
        QTRY_VERIFY(window.page("data") && window.frontPage() == window.page("data"));
        const auto* card = window.page("data")->findChild<QTableView*>("dataCard");
        const auto value = [&](const QString& name) {
            for (int row = 0; row < card->model()->rowCount(); ++row)
                if (card->model()->index(row, 0).data().toString() == name) return card->model()->index(row, 1).data().toString();
            return QString();
        };
        QTRY_COMPARE_WITH_TIMEOUT(value("use"), QString("training"), 60000);
        QCOMPARE(value("task_type"), QString("classification"));
        QVERIFY(value("size").toInt() > 0);
        QVERIFY(!fs::exists(folder.path() / "tickets.yaml"));
    }

    void a_table_that_is_dropped_on_page_data_is_shown_there_without_a_question() {
        const TemporaryDirectory folder;
        Workspace workspace;
        MainWindow window(workspace);
        window.show();
        QVERIFY(QTest::qWaitForWindowActive(&window));
        QVERIFY(window.goTo(QStringLiteral("data")));
        QVERIFY(window.openPath(pathText(copied_table(folder))));
        const auto* sets = window.page("data")->findChild<QListWidget*>("dataSets");
        QTRY_VERIFY_WITH_TIMEOUT(sets->count() > 0, 60000);
        QTRY_VERIFY(!window.findChild<QDialog*>("newFromDataDialog"));
        std::ofstream(folder.path() / "odd.csv") << "a,b\n1,2\n";  // nobody can say what its columns are
        QVERIFY(window.openPath(pathText(folder.path() / "odd.csv")));
        QTRY_VERIFY(window.findChild<QDialog*>("newFromDataDialog") && window.findChild<QDialog*>("newFromDataDialog")->isVisible());
        window.findChild<QDialog*>("newFromDataDialog")->close();
    }

    void columns_that_are_typed_are_taken_and_wrong_ones_are_refused() {
        const TemporaryDirectory folder;
        auto* dialog = new NewFromDataDialog(pathText(copied_table(folder)));
        dialog->show();
        const auto* create = dialog->findChild<QPushButton*>("createExperiment");
        QTRY_VERIFY(create->isEnabled());
        auto* roles = dialog->findChild<QLineEdit*>("dataRoles");
        QTest::keyClicks(roles, "text=nothing, label=team");
        QVERIFY(!create->isEnabled());
        auto* error = dialog->findChild<ErrorBar*>("errorBar");
        QTRY_VERIFY(error->message().contains("nothing"));
        QVERIFY(!create->isEnabled());
        roles->selectAll();
        QTest::keyClicks(roles, "text=text, label=team");
        QTRY_VERIFY(create->isEnabled());
        QVERIFY(error->message().isEmpty());
        dialog->close();
    }

    void an_experiment_that_is_there_already_is_not_overwritten() {
        const TemporaryDirectory folder;
        const fs::path table = copied_table(folder);
        write_file_atomic(folder.path() / "tickets.yaml", "mine");
        auto* dialog = new NewFromDataDialog(pathText(table));
        dialog->show();
        auto* error = dialog->findChild<ErrorBar*>("errorBar");
        QTRY_VERIFY(error->message().contains("there already"));
        QVERIFY(!dialog->findChild<QPushButton*>("createExperiment")->isEnabled());
        auto* output = dialog->findChild<QLineEdit*>("dataOutput");
        output->selectAll();
        QTest::keyClicks(output, pathText(folder.path() / "other.yaml"));
        QTRY_VERIFY(dialog->findChild<QPushButton*>("createExperiment")->isEnabled());
        QCOMPARE(read_file(folder.path() / "tickets.yaml"), std::string("mine"));
        dialog->close();
    }

    void a_table_without_use_is_refused_with_the_reason() {
        const TemporaryDirectory folder;
        write_file_atomic(folder.path() / "few.csv", "text,label\na text here,x\nanother text,y\n");
        auto* dialog = new NewFromDataDialog(pathText(folder.path() / "few.csv"));
        dialog->show();
        auto* error = dialog->findChild<ErrorBar*>("errorBar");
        QTRY_VERIFY(!error->message().isEmpty());
        QVERIFY2(error->message().contains("few.csv"), qPrintable(error->message()));
        dialog->close();
        auto* gone = new NewFromDataDialog(pathText(folder.path() / "gone.csv"));
        gone->show();
        QTRY_VERIFY(gone->findChild<ErrorBar*>("errorBar")->message().contains("no such file"));
        gone->close();
    }

    void a_table_that_is_dropped_on_the_window_is_looked_at() {
        const TemporaryDirectory folder;
        Workspace workspace;
        MainWindow window(workspace);
        window.show();
        QVERIFY(window.openPath(pathText(copied_table(folder))));
        const auto* dialog = window.findChild<QDialog*>("newFromDataDialog");
        QVERIFY(dialog);
        QTRY_VERIFY(dialog->findChild<QPushButton*>("createExperiment")->isEnabled());
    }
};

FACETER_TEST(TestNewFromData)
#include "test_new_from_data.moc"
