#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QSettings>
#include <QTableView>
#include <QTest>

#include "desktop/support/sample_project.h"
#include "figure/figure_plot.h"
#include "figure/figure_view.h"
#include "pages/compare/compare_model.h"
#include "pages/compare/compare_page.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::desktop;
using namespace faceter::testing;

namespace {

struct Compared {
    Workspace workspace;
    std::unique_ptr<ComparePage> page;

    bool open(const fs::path& project) {
        if (!open_and_wait(workspace, project)) return false;
        page = std::make_unique<ComparePage>(workspace);
        page->resize(1000, 800);
        page->show();
        return settle();
    }
    bool settle() const {
        return QTest::qWaitFor([&] { return page->isReady() && page->view(); }, hang_ms);
    }
    template <typename Widget>
    Widget* find(const char* name) const {
        return page->findChild<Widget*>(QLatin1String(name));
    }
    QString pair(const char* box) const { return find<QComboBox>(box)->currentText(); }
    /// The groups that a box of examples is drawn of.
    QStringList boxes() const {
        QStringList names;
        if (find<FigureView>("compareExamples")->isVisible())
            for (const Series& series : find<FigureView>("compareExamples")->figure().series) names << qs(series.name);
        return names;
    }
};

}  // namespace

/// What Compare shows where runs, data sets or the baseline come and go.
class TestCompareChoice : public QObject {
    Q_OBJECT

    static void scoreOn(const fs::path& project, const Experiment& experiment, std::size_t index, const std::vector<std::string>& sets) {
        const RunDirectory run = RunDirectory::create(project, experiment, experiment.runs().at(index), false);
        write_attempt(run, 1, 10, "finished");
        for (const std::string& set : sets)
            run.write_result(set, {{"name", set},
                                   {"task", "retrieval"},
                                   {"task_type", "retrieval"},
                                   {"metric", "score"},
                                   {"score", 40.0 + static_cast<double>(index)},
                                   {"n", 20},
                                   {"metrics", {{"score", 0.4}}},
                                   {"settings", Json::object()}});
    }

  private Q_SLOTS:
    void init() { QSettings().clear(); }

    void the_number_of_seeds_stands_below_each_name() {
        const TemporaryDirectory folder;
        make_sample_project(folder.path());
        Compared on;
        QVERIFY(on.open(folder.path()));
        const QAbstractItemModel* model = on.find<QTableView>("compareTable")->model();
        QCOMPARE(model->headerData(2, Qt::Horizontal, CompareModel::countRole).toString(), QStringLiteral("n = 1"));
        QCOMPARE(model->headerData(3, Qt::Horizontal, CompareModel::countRole).toString(), QStringLiteral("n = 2"));
    }

    void a_data_set_that_is_not_here_is_not_drawn() {
        const TemporaryDirectory folder;
        make_sample_project(folder.path());
        const Experiment other = parse_sample("name: other\n" + std::string(sample_experiment()).substr(12));
        for (const std::size_t index : {0U, 1U, 2U}) scoreOn(folder.path(), other, index, {"another", "further"});
        Compared on;
        QVERIFY(on.open(folder.path()));
        on.workspace.setExperiment(QStringLiteral("quick"));
        QTRY_VERIFY(on.settle() &&
                    on.find<QTableView>("compareTable")->model()->index(0, 1).data().toString().contains(QStringLiteral("set")));
        on.find<QTableView>("compareTable")->selectRow(0);
        QTRY_VERIFY(on.find<FigureView>("compareSeeds")->isVisible());
        on.workspace.setExperiment(QStringLiteral("other"));
        QTRY_VERIFY(on.page->isReady() && !on.find<FigureView>("compareSeeds")->isVisible());
    }

    void no_group_is_drawn_against_itself_when_the_baseline_has_gone() {
        const TemporaryDirectory folder;
        make_sample_project(folder.path());
        Compared on;
        QVERIFY(on.open(folder.path()));
        QCOMPARE(on.pair("comparePairA"), QStringLiteral("start"));
        QStringList left;
        for (const RunGroupRef& group : on.workspace.groups())
            if (!group.runs.front()->info.is_baseline()) left << group.key;
        on.find<QComboBox>("comparePairB")->setCurrentIndex(1);
        on.workspace.showOnly(left);
        QTRY_VERIFY(on.page->isReady() && on.find<QComboBox>("comparePairA")->count() == 2);
        QVERIFY2(on.pair("comparePairA") != on.pair("comparePairB"), qPrintable(on.pair("comparePairA")));
    }

    void a_group_that_comes_or_goes_is_drawn_with_its_own_examples() {
        const TemporaryDirectory folder;
        make_sample_project(folder.path());
        Compared on;
        QVERIFY(on.open(folder.path()));
        const QString em = on.workspace.groups().at(1).key;
        on.workspace.setShown(em, false);
        QTRY_VERIFY(on.page->isReady() && on.find<QComboBox>("comparePairA")->count() == 2);
        const auto tests = compare_tests();
        const auto first = std::find_if(tests.begin(), tests.end(), [](const CompareTestInfo& test) { return test.needs_examples; });
        on.find<QComboBox>("compareTest")->setCurrentIndex(static_cast<int>(first - tests.begin()));
        on.find<QTableView>("compareTable")->selectRow(0);
        QTRY_COMPARE(on.boxes(), QStringList{QStringLiteral("Mix")});
        on.workspace.setShown(em, true);
        QTRY_COMPARE(on.boxes(), (QStringList{QStringLiteral("EM"), QStringLiteral("Mix")}));
        on.find<QComboBox>("compareBaseline")->setCurrentIndex(2);
        QTRY_COMPARE(on.boxes(), (QStringList{QStringLiteral("start"), QStringLiteral("EM")}));
        on.workspace.setShown(em, false);
        QTRY_COMPARE(on.boxes(), QStringList{QStringLiteral("start")});
    }

    void the_baseline_stays_where_the_run_that_was_its_first_is_filtered_out() {
        const TemporaryDirectory folder;
        make_sample_project(folder.path());
        Compared on;
        QVERIFY(on.open(folder.path()));
        auto* baseline = on.find<QComboBox>("compareBaseline");
        baseline->setCurrentIndex(2);
        QVERIFY(on.settle());
        QCOMPARE(baseline->currentText(), QStringLiteral("Baseline: Mix"));
        auto* filter = on.find<QLineEdit>("compareFilter");
        filter->setText(QStringLiteral("seed != 1"));
        QTest::keyClick(filter, Qt::Key_Return);
        QTRY_VERIFY(on.settle() && baseline->count() == 2);
        QCOMPARE(baseline->currentText(), QStringLiteral("Baseline: Mix"));
        QCOMPARE(on.page->view()->baseline, std::optional<std::size_t>(1));
    }

    void why_there_is_no_gain_is_said() {
        const TemporaryDirectory folder;
        const Experiment experiment = parse_sample();
        scoreOn(folder.path(), experiment, 1, {"one", "two"});
        scoreOn(folder.path(), experiment, 3, {"three", "four"});
        Compared on;
        QVERIFY(on.open(folder.path()));
        const auto* plot = on.find<FigureView>("compareGain")->findChild<FigurePlot*>();
        QCOMPARE(plot->emptyText(), QStringLiteral("no two data sets in common"));
    }
};

FACETER_TEST(TestCompareChoice)
#include "test_compare_choice.moc"
