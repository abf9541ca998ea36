#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSettings>
#include <QTabBar>
#include <QTabWidget>
#include <QTest>
#include <fstream>

#include "desktop/support/sample_project.h"
#include "desktop/support/save_dialog.h"
#include "figure/figure_view.h"
#include "pages/data/data_page.h"
#include "support/explored_project.h"
#include "support/test.h"
#include "widgets/data_table.h"
#include "widgets/labels.h"
#include "widgets/name_box.h"
#include "window/main_window.h"

using namespace faceter;
using namespace faceter::desktop;
using namespace faceter::testing;

namespace {

constexpr int patience_ms = 120000;

struct Opened {
    Workspace workspace;
    std::unique_ptr<DataPage> page;
    bool opened = false;

    explicit Opened(const fs::path& project) {
        opened = open_and_wait(workspace, project);
        page = std::make_unique<DataPage>(workspace);
        page->resize(1000, 700);
        page->show();
        page->activateWindow();
        opened = opened && QTest::qWaitForWindowActive(page.get()) && QTest::qWaitFor([&] { return sets()->count() > 0; }, patience_ms) &&
                 ready();
    }
    bool ready() const {
        return QTest::qWaitFor([&] { return page->isReady() && workspace.session()->isIdle(); }, patience_ms);
    }
    template <typename Widget>
    Widget* find(const char* name) const {
        return page->findChild<Widget*>(QString::fromLatin1(name));
    }
    QListWidget* sets() const { return find<QListWidget>("dataSets"); }
    QAbstractItemModel* rows(const char* name) const { return find<DataTable>(name)->model(); }
    QString cell(const char* name, int row, int column) const { return rows(name)->index(row, column).data().toString(); }
    QString error() const { return page->findChild<ErrorBar*>()->message(); }
    /// By a click on its tab.
    bool openTab(DataPage::Part part) const {
        auto* bar = find<QTabWidget>("dataTabs")->tabBar();
        QTest::mouseClick(bar, Qt::LeftButton, {}, bar->tabRect(static_cast<int>(part)).center());
        return ready();
    }
    /// By keys.
    bool chooseSet(int row) const {
        sets()->setFocus();
        QTest::keyClick(sets(), Qt::Key_Home);
        for (int i = 0; i < row; ++i) QTest::keyClick(sets(), Qt::Key_Down);
        return ready();
    }
    /// Value of the card's row with this name.
    QString cardValue(const QString& name) const {
        for (int row = 0; row < rows("dataCard")->rowCount(); ++row)
            if (cell("dataCard", row, 0) == name) return cell("dataCard", row, 1);
        return {};
    }
};

}  // namespace

/// Page Data, with the real worker on a tiny trained run's data.
class TestDataPage : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;
    fs::path project_;

  private Q_SLOTS:
    void initTestCase() {
        NEED_SHARED();
        const std::string problem = make_explored_project(folder_.path());
        QVERIFY2(problem.empty(), problem.c_str());
        project_ = folder_.path() / "project";
        std::ofstream(folder_.path() / "pairs.jsonl", std::ios::app)  // stands twice; stands in the test
            << R"({"query": "CAT 0", "document": "Text 0 of a cat."})"
            << "\n"
            << R"({"query": "what is a cat", "document": "text 0 speaks of a <b>cat</b>"})"
            << "\n";
    }
    void init() { QSettings().clear(); }

    void the_data_sets_of_a_run_and_the_card_of_the_first_stand_there_at_once() {
        Opened on(project_);
        QVERIFY(on.opened);
        QCOMPARE(on.sets()->count(), 3);
        QCOMPARE(on.sets()->item(0)->text(), QStringLiteral("pairs · retrieval"));
        QCOMPARE(on.sets()->item(1)->text(), QStringLiteral("animals · test"));
        QVERIFY2(on.error().isEmpty(), qPrintable(on.error()));
        QCOMPARE(on.cardValue(QStringLiteral("use")), QStringLiteral("training"));
        QCOMPARE(on.cardValue(QStringLiteral("size")), QStringLiteral("32"));
        QCOMPARE(on.cardValue(QStringLiteral("sha256")).size(), 64);
        QCOMPARE(on.cardValue(QStringLiteral("licence")), QStringLiteral("not stated beside it"));
        QVERIFY(on.chooseSet(2));
        QCOMPARE(on.cardValue(QStringLiteral("task_type")), QStringLiteral("classification"));
        QCOMPARE(on.cardValue(QStringLiteral("size")), QStringLiteral("24"));
    }

    void examples_are_searched_by_keys_and_the_whole_text_stands_below() {
        Opened on(project_);
        QVERIFY(on.opened && on.chooseSet(1) && on.openTab(DataPage::Part::examples));
        QCOMPARE(on.rows("dataExamplesRows")->rowCount(), 6);
        QCOMPARE(on.cell("dataExamplesRows", 0, 1), QStringLiteral("what is a cat"));
        QTest::keyClicks(on.find<QLineEdit>("dataSearch"), QStringLiteral("HORSE"));
        QTest::keyClick(on.find<QLineEdit>("dataSearch"), Qt::Key_Return);
        QVERIFY(on.ready());
        QCOMPARE(on.rows("dataExamplesRows")->rowCount(), 1);
        QCOMPARE(on.cell("dataExamplesRows", 0, 0), QStringLiteral("5"));
        const QString text = on.find<QPlainTextEdit>("dataExamplesText")->toPlainText();
        QVERIFY2(text.startsWith(QStringLiteral("query:\nwhat is a horse\n\nrelevant:\ntext 4 speaks of a <b>horse</b>")),
                 qPrintable(text));
        QVERIFY(on.find<QLabel>("dataExamplesSentence")->text().contains(QStringLiteral("1 found among 6")));
        QVERIFY(!on.find<QPushButton>("dataOn")->isEnabled() && !on.find<QPushButton>("dataBack")->isEnabled());
    }

    void lengths_have_the_limit_of_the_model_marked() {
        Opened on(project_);
        QVERIFY(on.opened && on.openTab(DataPage::Part::lengths));
        QVERIFY2(on.error().isEmpty(), qPrintable(on.error()));
        const Figure& figure = on.find<FigureView>("dataLengths")->figure();
        QCOMPARE(figure.series.size(), std::size_t{3});
        QCOMPARE(figure.series.back().x, (std::vector<double>{32, 32}));
        QVERIFY(on.find<QLabel>("dataLengthsText")->text().contains(QStringLiteral("0 of 32 cut (0.0 %)")));
    }

    void what_is_exported_is_of_the_set_that_is_named() {
        Opened on(project_);
        QVERIFY(on.opened && on.openTab(DataPage::Part::lengths));
        auto* lengths = on.find<FigureView>("dataLengths");
        QVERIFY(lengths->hasValues());
        on.sets()->setCurrentRow(2);
        QVERIFY(!lengths->hasValues());  // until its own come
        QVERIFY(on.ready() && lengths->hasValues());
    }

    void another_set_is_asked_about_on_the_tab_in_front() {
        Opened on(project_);
        QVERIFY(on.opened && on.openTab(DataPage::Part::examples));
        QCOMPARE(on.rows("dataExamplesRows")->rowCount(), 32);
        QVERIFY(on.chooseSet(2));
        QCOMPARE(on.rows("dataExamplesRows")->rowCount(), 24);
        QCOMPARE(on.cell("dataExamplesRows", 1, 2), QStringLiteral("odd"));
    }

    void what_stands_twice_is_counted_with_its_copies() {
        Opened on(project_);
        QVERIFY(on.opened && on.openTab(DataPage::Part::duplicates));
        QVERIFY(on.find<QLabel>("dataDuplicatesSentence")->text().startsWith(QStringLiteral("1 of 32 examples stand before in it")));
        QCOMPARE(on.rows("dataDuplicatesRows")->rowCount(), 1);
        QCOMPARE(on.cell("dataDuplicatesRows", 0, 0), QStringLiteral("2"));
        QCOMPARE(on.find<QPlainTextEdit>("dataDuplicatesText")->toPlainText(),
                 QStringLiteral("Examples no. 1, 31\n\ncat 0 | text 0 of a cat"));
        QVERIFY(on.chooseSet(1));
        QVERIFY(on.find<QLabel>("dataDuplicatesSentence")->text().startsWith(QStringLiteral("None of its 6 examples")));
    }

    void overlap_of_tests_with_training_data_has_examples_on_click() {
        Opened on(project_);
        QVERIFY(on.opened && on.openTab(DataPage::Part::overlap));
        QVERIFY2(on.error().isEmpty(), qPrintable(on.error()));
        QCOMPARE(on.rows("dataOverlapRows")->rowCount(), 2);  // a training set by two test sets
        QCOMPARE(on.cell("dataOverlapRows", 0, 0), QStringLiteral("pairs"));
        QCOMPARE(on.cell("dataOverlapRows", 0, 1), QStringLiteral("animals"));
        QCOMPARE(on.cell("dataOverlapRows", 0, 2), QStringLiteral("2"));
        QCOMPARE(on.find<QPlainTextEdit>("dataOverlapText")->toPlainText(),
                 QStringLiteral("text 0 speaks of a <b>cat</b>\n\nwhat is a cat"));
        auto* table = on.find<DataTable>("dataOverlapRows");
        QTest::mouseClick(table->viewport(), Qt::LeftButton, {}, table->visualRect(table->model()->index(1, 0)).center());
        QCOMPARE(on.find<QPlainTextEdit>("dataOverlapText")->toPlainText(), QStringLiteral("They share no text."));
    }

    void the_experiment_of_compose_is_shown_without_a_run_of_it() {
        Opened on(project_);
        QVERIFY(on.opened);
        Json settings = {{"tasks", {{"other", {{"type", "retrieval"}, {"train", Json::array()}}}}}};
        settings["evaluation"]["datasets"] = Json::array(
            {{{"name", "mine"}, {"source", "folder"}, {"path", (folder_.path() / "topics").string()}, {"task", "classification"}}});
        DataSources::of(on.workspace).show({QStringLiteral("Compose: mine.yaml"), settings, nullptr});
        QVERIFY(on.ready());
        QCOMPARE(on.find<QComboBox>("dataRun")->currentText(), QStringLiteral("Compose: mine.yaml"));
        QCOMPARE(on.sets()->count(), 1);
        QCOMPARE(on.cardValue(QStringLiteral("name")), QStringLiteral("mine"));
        on.find<QComboBox>("dataRun")->setFocus();
        QTest::keyClick(on.find<QComboBox>("dataRun"), Qt::Key_Home);
        QVERIFY(on.ready());
        QCOMPARE(on.sets()->count(), 3);
    }

    void the_data_sets_of_the_composed_experiment_are_a_click_away() {
        Workspace workspace;
        MainWindow window(workspace);
        window.show();
        QVERIFY(window.goTo(QStringLiteral("compose")));
        auto* button = window.page(QStringLiteral("compose"))->findChild<QPushButton*>(QStringLiteral("lookAtData"));
        QTRY_VERIFY_WITH_TIMEOUT(button->isEnabled(), 60000);  // what a new experiment starts as is in order
        QTest::mouseClick(button, Qt::LeftButton);
        QTRY_VERIFY(window.frontPage() && window.frontPage() == window.page(QStringLiteral("data")));
        QTRY_VERIFY(window.frontPage()->findChild<QComboBox*>(QStringLiteral("dataRun"))->currentText().startsWith("Compose: "));
        QVERIFY(window.frontPage()->findChild<QListWidget*>(QStringLiteral("dataSets"))->count() > 0);
    }

    void the_points_of_a_sweep_are_chosen_by_names_with_short_keys() {
        TemporaryDirectory folder;
        const std::string sweep = "sweep:\n  training.learning_rate: [1.0e-5, 2.0e-5]\n  training.batch_size: [16, 32]\n";
        const Experiment experiment = parse_sample(sample_experiment() + sweep);
        for (std::size_t i = 1; i < 5; ++i)
            write_attempt(RunDirectory::create(folder.path(), experiment, experiment.runs().at(i), false), 1, 2, "finished");
        Opened on(folder.path());
        QVERIFY(on.opened);
        const auto* box = dynamic_cast<NameBox*>(on.find<QComboBox>("dataRun"));
        QVERIFY(box && box->count() > 0);
        QVERIFY2(box->shownText().contains(QStringLiteral("lr=")) && !box->shownText().contains(QStringLiteral("learning_rate")),
                 qPrintable(box->shownText()));
        NameBox whole;  // a box as wide as its widest name has it whole
        whole.setSizeAdjustPolicy(QComboBox::AdjustToContents);
        whole.addItems({QStringLiteral("MoTE · seed 1"), QStringLiteral("RR · seed 1")});
        whole.resize(whole.sizeHint());
        QCOMPARE(whole.shownText(), QStringLiteral("MoTE · seed 1"));
    }

    void a_set_that_is_gone_is_an_error_and_the_others_go_on() {
        Opened on(project_);
        QVERIFY(on.opened);
        Json settings = {{"tasks", Json::object()}};
        const auto set = [&](const char* name, const char* folder) {
            return Json{{"name", name}, {"source", "folder"}, {"path", (folder_.path() / folder).string()}, {"task", "classification"}};
        };
        settings["evaluation"]["datasets"] = Json::array({set("gone", "no such folder"), set("here", "topics")});
        DataSources::of(on.workspace).show({QStringLiteral("mine"), settings, nullptr});
        QVERIFY(on.ready());
        QVERIFY2(on.error().contains(QStringLiteral("no such folder")), qPrintable(on.error()));
        QVERIFY(on.chooseSet(1));
        QVERIFY2(on.error().isEmpty(), qPrintable(on.error()));
        QCOMPARE(on.cardValue(QStringLiteral("size")), QStringLiteral("24"));
    }

    void what_is_shown_leaves_as_a_table() {
        Opened on(project_);
        QVERIFY(on.opened && on.openTab(DataPage::Part::examples));
        const fs::path file = folder_.path() / "examples.csv";
        answer_save_dialog(QString::fromStdString(file.string()));
        auto* menu = on.find<QMenu>("dataExportMenu");
        Q_EMIT menu->aboutToShow();
        menu->actions().front()->trigger();
        QTRY_VERIFY(fs::exists(file));
        QVERIFY(read_file(file).find("text 4 of a horse") != std::string::npos);
    }
};

FACETER_TEST(TestDataPage)
#include "test_data_page.moc"
