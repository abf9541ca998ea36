#include <QApplication>
#include <QInputDialog>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSettings>
#include <QTest>
#include <QToolButton>

#include "desktop/compose/fake_worker.h"
#include "pages/compose/compose_page.h"
#include "pages/compose/yaml_editor.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::desktop;
using namespace faceter::testing;

namespace {

constexpr int check_patience_ms = 20000;

const char* const plain_experiment =
    "name: mine\nmodel: minilm\ntasks:\n  retrieval:\n    train:\n      - {source: debian, view: synopsis_description}\n"
    "variants:\n  EM: {method: dense}\n";

/// The page with an experiment, and some lines at its end.
struct FormFixture {
    Workspace workspace;
    ComposePage page{workspace};

    explicit FormFixture(const char* more = "") {
        page.resize(1000, 700);
        page.show();
        page.activateWindow();
        static_cast<void>(QTest::qWaitForWindowActive(&page));
        settle();
        page.document().reset(QString::fromLatin1(plain_experiment) + QString::fromLatin1(more), {});
        settle();
    }
    void settle() {
        static_cast<void>(QTest::qWaitFor([&] { return page.isReady(); }, check_patience_ms));
    }
    template <typename Widget>
    Widget* find(const char* name) {
        return page.findChild<Widget*>(QString::fromLatin1(name));
    }
    QString text() { return page.document().plainText(); }
    void open(const char* group) {
        QTest::mouseClick(find<QToolButton>(group), Qt::LeftButton);
        QCoreApplication::processEvents();  // its rows are shown
    }
    /// The text is checked after each key, as it is while a person thinks.
    void typeSlowly(QLineEdit* line, const char* keys) {
        for (const char* key = keys; *key; ++key) {
            QTest::keyClick(line, *key);
            settle();
        }
    }
};

}  // namespace

class TestFormRows : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;

  private Q_SLOTS:
    void initTestCase() { qputenv("FACETER_WORKER", write_fake_worker(folder_.path()).c_str()); }
    void init() { QSettings().clear(); }

    void a_list_that_is_typed_slowly_is_what_was_typed() {
        FormFixture f("seeds: [7]\n");
        auto* seeds = f.find<QLineEdit>("field:seeds");
        seeds->setFocus();
        seeds->selectAll();
        QTest::keyClicks(seeds, "1,");  // in one go, so that the check finds both
        f.settle();
        QTest::keyClicks(seeds, " 2");
        f.settle();
        QCOMPARE(seeds->text(), QStringLiteral("1, 2"));
        QVERIFY2(f.text().contains(QStringLiteral("seeds: [1, 2]")), qPrintable(f.text()));
    }

    void numbers_of_a_sweep_that_are_typed_slowly_are_what_was_typed() {
        FormFixture f("sweep: {training.learning_rate: [1e-5]}\n");
        f.open("open:sweep");
        auto* rates = f.find<QLineEdit>("field:sweep.training.learning_rate");
        QVERIFY(rates);
        rates->setFocus();
        rates->selectAll();
        f.typeSlowly(rates, "0.001, 2e-5");
        QCOMPARE(rates->text(), QStringLiteral("0.001, 2e-5"));
        QVERIFY2(f.text().contains(QStringLiteral("[0.001, ")), qPrintable(f.text()));
    }

    void an_item_with_a_comma_stays_one_item() {
        FormFixture f("sweep: {model: [\"a, b\", c]}\n");
        f.open("open:sweep");
        auto* models = f.find<QLineEdit>("field:sweep.model");
        QVERIFY(models);
        QCOMPARE(models->text(), QStringLiteral("\"a, b\", c"));
        models->setFocus();
        models->end(false);
        f.typeSlowly(models, ", d");
        QVERIFY2(f.text().contains(QStringLiteral("[\"a, b\", c, d]")), qPrintable(f.text()));
    }

    void a_sweep_of_parts_is_shown_as_it_reads_back() {
        FormFixture f("sweep: {curriculum: [{method: task_aware}, {method: shuffled}]}\n");
        f.open("open:sweep");
        auto* curricula = f.find<QLineEdit>("field:sweep.curriculum");
        QVERIFY(curricula);
        QCOMPARE(curricula->text(), QStringLiteral("[{method: task_aware}, {method: shuffled}]"));
        curricula->setFocus();
        curricula->setCursorPosition(static_cast<int>(curricula->text().size()) - 2);
        f.typeSlowly(curricula, "x");
        QVERIFY2(f.text().contains(QStringLiteral("{method: shuffledx}")) && f.text().contains(QStringLiteral("{method: task_aware}")),
                 qPrintable(f.text()));
    }

    void stages_are_shown_whole_and_changed_in_the_text_alone() {
        FormFixture f("stages:\n  - {name: one, tasks: [retrieval]}\n  - {name: two, tasks: [retrieval]}\n");
        auto* stages = f.find<QLineEdit>("field:stages");
        QVERIFY(stages && stages->isReadOnly());
        QCOMPARE(stages->text(), QStringLiteral("[{name: one, tasks: [retrieval]}, {name: two, tasks: [retrieval]}]"));
        const QString before = f.text();
        stages->setFocus();
        f.typeSlowly(stages, "x");
        QTest::keyClick(stages, Qt::Key_Backspace);
        QCOMPARE(f.text(), before);
        f.page.document().remove({"stages"});
        f.settle();
        QVERIFY(!stages->isReadOnly());
    }

    void the_keyboard_stays_where_it_is_when_a_group_gets_another_part() {
        FormFixture f;
        f.open("open:variants");
        f.find<QPushButton>("add:variants")->setFocus();
        QVERIFY(f.find<QPushButton>("add:variants")->hasFocus());
        f.page.document().set({"variants", "Second"}, "{method: dense}");
        f.settle();
        const auto focused = [] { return QApplication::focusWidget() ? QApplication::focusWidget()->objectName() : QString(); };
        QTRY_COMPARE(focused(), QStringLiteral("add:variants"));
    }

    void a_name_that_is_there_is_said_to_be() {
        FormFixture f;
        f.open("open:variants");
        QTest::mouseClick(f.find<QPushButton>("add:variants"), Qt::LeftButton);
        auto* dialog = f.find<QInputDialog>("nameDialog");
        QVERIFY(dialog);
        const QString before = f.text();
        dialog->setTextValue(QStringLiteral("EM"));
        dialog->accept();
        const auto* notice = f.find<QLabel>("formNotice");
        QVERIFY2(notice->isVisible() && notice->text().contains(QStringLiteral("EM is there already")), qPrintable(notice->text()));
        QCOMPARE(f.text(), before);
    }

    void return_with_shift_breaks_the_line_as_yaml_does() {
        FormFixture f;
        auto* editor = f.find<YamlEditor>("yamlEditor");
        const int lines = f.page.document().text().blockCount();
        editor->moveCursor(QTextCursor::End);
        QTest::keyClick(editor, Qt::Key_Return, Qt::ShiftModifier);
        QCOMPARE(f.page.document().text().blockCount(), lines + 1);
    }
};

FACETER_TEST(TestFormRows)
#include "test_form_rows.moc"
