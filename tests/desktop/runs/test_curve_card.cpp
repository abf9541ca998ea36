#include "pages/runs/curve_card.h"

#include <QComboBox>

#include "desktop/support/sample_project.h"
#include "figure/figure_view.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::desktop;
using namespace faceter::testing;

class TestCurveCard : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void a_zoom_is_of_one_series() {
        const TemporaryDirectory project;
        make_sample_project(project.path(), 2);
        Workspace workspace;
        QVERIFY(open_and_wait(workspace, project.path()));
        CurveCard card(workspace);
        card.resize(600, 300);
        card.setVisible(true);
        const std::vector<CurveGroup> groups{{"EM", 0, {workspace.runs()->runs.back().info.id}}};
        card.show(groups, true);
        FigureView* view = card.view();
        QTRY_VERIFY(card.isReady() && view->figure().name == "loss");
        view->plot()->xAxis->setRange(10, 20);
        view->plot()->yAxis->setRange(0.1, 0.2);
        card.show(groups, true);  // the run has grown
        QTRY_VERIFY(card.isReady());
        QCOMPARE(view->xRange(), QCPRange(10, 20));
        auto* choice = card.findChild<QComboBox*>(QStringLiteral("curveSeries"));
        choice->setCurrentIndex(choice->findData(QStringLiteral("lr")));
        QTRY_VERIFY(card.isReady() && view->figure().name == "lr");
        QCOMPARE(view->xRange().upper, 100.0);
        QVERIFY(view->yRange().upper < 0.1);
    }
};

FACETER_TEST(TestCurveCard)
#include "test_curve_card.moc"
