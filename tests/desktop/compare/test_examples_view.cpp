#include <QComboBox>
#include <QDoubleSpinBox>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPlainTextEdit>
#include <QSettings>
#include <QSignalSpy>
#include <QTableView>
#include <QToolButton>
#include <fstream>

#include "data/scored_texts.h"
#include "desktop/support/sample_project.h"
#include "desktop/support/save_dialog.h"
#include "pages/compare/compare_page.h"
#include "pages/compare/examples_view.h"
#include "support/test.h"
#include "theme/theme.h"
#include "window/main_window.h"
#include "window/screenshot.h"

using namespace faceter;
using namespace faceter::desktop;
using namespace faceter::testing;

namespace {

constexpr int patience_ms = 60000, num_texts = 40;

/// Test texts in a folder, so that the real worker can read what the scores are of.
void write_topics(const fs::path& data) {
    make_directories(data);
    std::ofstream(data / "train.jsonl") << "{\"text\": \"a\", \"label\": \"net\"}\n{\"text\": \"b\", \"label\": \"<b>admin & co\"}\n";
    std::ofstream test(data / "test.jsonl");
    for (int i = 0; i < num_texts; ++i)
        test << Json{{"text", fmt::format("package {} {}", i, i % 5 == 0 ? "for kernels" : "for people")},
                     {"label", i % 2 ? "net" : "<b>admin & co"}}
                    .dump()
             << "\n";
}

/// Runs of three groups and two seeds; text i gains (7 i mod 11 - 5) points times the group's place.
void make_project(const fs::path& project) {
    write_topics(project / "topics");
    std::string text = sample_experiment();
    const std::string before = "{source: folder, path: scifact}";
    text.replace(text.find(before), before.size(), "{name: topics, source: folder, path: " + (project / "topics").string() + "}");
    const Experiment experiment = parse_sample(text);
    for (const ResolvedRun& resolved : experiment.runs()) {
        const RunDirectory run = RunDirectory::create(project, experiment, resolved, false);
        write_attempt(run, 1, 20, "finished");
        const int place = run.info().is_baseline() ? 0 : run.info().variant == "EM" ? 1 : 2;
        Json scores = Json::array();
        for (int i = 0; i < num_texts; ++i) scores.push_back(50 + place * ((7 * i) % 11 - 5));
        const EvaluationSet set = load_named_evaluation_set(run.settings(), "topics");
        run.write_result("topics", {{"name", "topics"},
                                    {"task", "clustering"},
                                    {"task_type", "classification"},
                                    {"metric", "accuracy"},
                                    {"score", 50 + place},
                                    {"n", num_texts},
                                    {"metrics", {{"accuracy", 0.5}}},
                                    {"per_example", scores},
                                    {"settings", {{"data_fingerprint", set.fingerprint}}}});
    }
}

struct Opened {
    TemporaryDirectory folder;
    Workspace workspace;
    std::unique_ptr<ComparePage> page;
    bool opened = false;

    explicit Opened(bool dataChanged = false) {
        make_project(folder.path());
        if (dataChanged)
            std::ofstream(folder.path() / "topics" / "test.jsonl", std::ios::app) << "{\"text\": \"one more\", \"label\": \"net\"}\n";
        opened = open_and_wait(workspace, folder.path());
        page = std::make_unique<ComparePage>(workspace);
        page->resize(1000, 700);
        page->show();
        opened = opened && ready();
        choose("compareView", 1);
        opened = opened && ready() && find<QTableView>("examplesTable")->isVisible();
    }
    ~Opened() {
        page.reset();
        workspace.closeProject();
    }
    bool ready() const {
        return QTest::qWaitFor([&] { return page->isReady() && page->view() != nullptr; }, patience_ms);
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
    QString cell(int row, int column) const { return find<QTableView>("examplesTable")->model()->index(row, column).data().toString(); }
    int rows() const { return find<QTableView>("examplesTable")->model()->rowCount(); }
};

}  // namespace

/// Examples that changed, in Compare.
class TestExamplesView : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void init() { QSettings().clear(); }

    void gains_and_losses_stand_with_their_texts_the_largest_first() {
        Opened on;
        QVERIFY(on.opened);
        // Mix against the start model: 2 (7 i mod 11 - 5), at most 10 points; 37 of 40 texts differ.
        QTRY_VERIFY_WITH_TIMEOUT(!on.cell(0, 5).isEmpty(), patience_ms);
        QCOMPARE(on.rows(), 37);
        QCOMPARE(on.cell(0, 1), QStringLiteral("1"));
        QCOMPARE(on.cell(0, 4), QStringLiteral("−10.00"));
        QCOMPARE(on.cell(0, 5), QStringLiteral("package 0 for kernels"));
        QCOMPARE(on.cell(0, 6), QStringLiteral("<b>admin & co"));
        const QString summary = on.find<QLabel>("examplesSummary")->text();
        QVERIFY2(summary.startsWith(QStringLiteral("Mix against start: 19 examples gained, 18 lost, 3 stayed the same")),
                 qPrintable(summary));
    }

    void rows_are_chosen_by_keys_and_their_text_stands_below() {
        Opened on;
        QVERIFY(on.opened);
        QTRY_VERIFY_WITH_TIMEOUT(!on.cell(0, 5).isEmpty(), patience_ms);
        auto* table = on.find<QTableView>("examplesTable");
        auto* text = on.find<QPlainTextEdit>("examplesText");
        QCOMPARE(text->toPlainText(), QStringLiteral("package 0 for kernels\n\nwanted: <b>admin & co"));
        table->setFocus();
        QTest::keyClick(table, Qt::Key_Down);
        QCOMPARE(text->toPlainText().section(QLatin1Char('\n'), 0, 0), on.cell(1, 5));
    }

    void examples_are_filtered_by_direction_size_and_text() {
        Opened on;
        QVERIFY(on.opened);
        QTRY_VERIFY_WITH_TIMEOUT(!on.cell(0, 5).isEmpty(), patience_ms);
        on.choose("examplesDirection", 1);
        QCOMPARE(on.rows(), 19);
        on.choose("examplesDirection", 2);
        QCOMPARE(on.rows(), 18);
        QVERIFY(on.cell(0, 4).startsWith(QStringLiteral("−")));
        auto* least = on.find<QDoubleSpinBox>("examplesLeast");
        least->setFocus();
        least->selectAll();
        QTest::keyClicks(least, QStringLiteral("10"));
        QTest::keyClick(least, Qt::Key_Return);
        QCOMPARE(on.rows(), 4);  // i = 0, 11, 22, 33
        QTest::keyClicks(on.find<QLineEdit>("examplesFind"), QStringLiteral("KERNEL"));
        QCOMPARE(on.rows(), 1);
        QCOMPARE(on.cell(0, 5), QStringLiteral("package 0 for kernels"));
    }

    void who_reads_an_example_stays_at_it_and_its_text_is_not_read_again() {
        Opened on;
        QVERIFY(on.opened);
        QTRY_VERIFY_WITH_TIMEOUT(!on.cell(0, 5).isEmpty(), patience_ms);
        auto* table = on.find<QTableView>("examplesTable");
        table->setFocus();
        for (int i = 0; i < 3; ++i) QTest::keyClick(table, Qt::Key_Down);
        const QString example = on.cell(3, 1), text = on.find<QPlainTextEdit>("examplesText")->toPlainText();
        const QSignalSpy texts(table->model(), &QAbstractItemModel::dataChanged);
        auto* value = on.find<QComboBox>("compareValue");
        value->setCurrentIndex(1 - value->currentIndex());  // compares anew
        QVERIFY(!on.page->isReady() && on.ready());
        QCOMPARE(on.cell(table->currentIndex().row(), 1), example);
        QCOMPARE(on.find<QPlainTextEdit>("examplesText")->toPlainText(), text);
        QCOMPARE(texts.count(), 0);
        const bool isLoss = on.cell(table->currentIndex().row(), 4).startsWith(QStringLiteral("−"));
        auto* direction = on.find<QComboBox>("examplesDirection");
        direction->setCurrentIndex(isLoss ? 2 : 1);
        QCOMPARE(on.cell(table->currentIndex().row(), 1), example);
        direction->setCurrentIndex(isLoss ? 1 : 2);
        QCOMPARE(table->currentIndex().row(), 0);  // it is none of these
    }

    void a_click_on_a_heading_sorts() {
        Opened on;
        QVERIFY(on.opened);
        auto* header = on.find<QTableView>("examplesTable")->horizontalHeader();
        const QPoint place(header->sectionViewportPosition(1) + 8, header->height() / 2);
        QTest::mouseClick(header->viewport(), Qt::LeftButton, {}, place);
        QTest::mouseClick(header->viewport(), Qt::LeftButton, {}, place);
        const bool ascending = header->sortIndicatorOrder() == Qt::AscendingOrder;
        QCOMPARE(on.cell(ascending ? 0 : on.rows() - 1, 1), QStringLiteral("1"));
    }

    void another_group_and_another_baseline_are_compared() {
        Opened on;
        QVERIFY(on.opened);
        on.choose("examplesGroup", 0);
        QTRY_COMPARE(on.cell(0, 4), QStringLiteral("−5.00"));
        on.choose("compareBaseline", 2);
        QVERIFY(on.ready());
        QTRY_VERIFY(on.find<QLabel>("examplesSummary")->text().contains(QStringLiteral("against Mix")));
    }

    void data_that_changed_has_no_texts_and_says_why() {
        Opened on(true);
        QVERIFY(on.opened);
        QTRY_VERIFY_WITH_TIMEOUT(on.find<QPlainTextEdit>("examplesText")->toPlainText().contains(QStringLiteral("has changed")),
                                 patience_ms);
        QVERIFY(on.cell(0, 5).isEmpty());
        QCOMPARE(on.rows(), 37);
    }

    void another_project_takes_its_place_while_texts_are_read() {
        Opened on;
        QVERIFY(on.opened);
        TemporaryDirectory other;
        make_project(other.path());
        on.workspace.openProject(other.path());
        QCOMPARE(on.rows(), 0);
        QTRY_VERIFY_WITH_TIMEOUT(on.page->isReady() && on.rows() == 37 && !on.cell(0, 5).isEmpty(), patience_ms);
    }

    void what_is_shown_is_exported() {
        Opened on;
        QVERIFY(on.opened);
        QTRY_VERIFY_WITH_TIMEOUT(!on.cell(0, 5).isEmpty(), patience_ms);
        QTest::keyClicks(on.find<QLineEdit>("examplesFind"), QStringLiteral("kernel"));
        const QString file = QString::fromStdString((on.folder.path() / "examples.csv").string());
        QMenu* menu = on.find<QToolButton>("examplesExport")->menu();
        Q_EMIT menu->aboutToShow();
        answer_save_dialog(file);
        QVERIFY(trigger_in(menu, QStringLiteral("exportTable_csv")));
        const QStringList lines = QString::fromStdString(read_file(file.toStdString())).split(QLatin1Char('\n'), Qt::SkipEmptyParts);
        QVERIFY2(lines.first().startsWith(QStringLiteral("data set,example,start,Mix,difference,text,wanted")), qPrintable(lines.first()));
        QCOMPARE(lines.size(), 1 + on.rows());
    }

    void what_was_chosen_is_found_again() {
        Opened on;
        QVERIFY(on.opened);
        on.choose("examplesGroup", 0);
        on.choose("examplesSet", 1);
        const QJsonObject state = on.page->state();
        ComparePage again(on.workspace);
        again.restore(state);
        again.show();
        QTRY_VERIFY_WITH_TIMEOUT(again.isReady() && again.view(), patience_ms);
        QCOMPARE(again.state(), state);
        QVERIFY(again.findChild<QTableView*>(QStringLiteral("examplesTable"))->isVisible());
    }

    void pictures_to_look_at() {
        const QString folder = qEnvironmentVariable("FACETER_PICTURES");
        if (folder.isEmpty()) QSKIP("FACETER_PICTURES names no folder");
        TemporaryDirectory project;
        make_project(project.path());
        for (const bool dark : {false, true}) {
            QSettings().setValue(QStringLiteral("pages/compare"), QByteArray("{\"view\": 1}"));
            Theme::instance().setMode(dark ? Theme::Mode::dark : Theme::Mode::light);
            Workspace workspace;
            MainWindow window(workspace);
            window.resize(1280, 800);
            window.show();
            window.openPath(QString::fromStdString(project.path().string()));
            QTRY_VERIFY(!workspace.runs()->runs.empty());
            QString error;
            const QString file = QStringLiteral("%1/examples-%2.png").arg(folder, dark ? QStringLiteral("dark") : QStringLiteral("light"));
            QVERIFY2(takeScreenshot(window, QStringLiteral("compare"), file, error), qPrintable(error));
        }
        Theme::instance().setMode(Theme::Mode::light);
    }
};

FACETER_TEST(TestExamplesView)
#include "test_examples_view.moc"
