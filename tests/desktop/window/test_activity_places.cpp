#include <QLabel>
#include <QPushButton>
#include <QSettings>
#include <QTest>

#include "desktop/support/sample_project.h"
#include "support/test.h"
#include "widgets/labels.h"
#include "window/activity.h"

using namespace faceter;
using namespace faceter::desktop;
using namespace faceter::testing;

class TestActivityPlaces : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void init() { QSettings().clear(); }

    void no_line_moves_under_the_pointer_when_the_one_above_has_ended() {
        const TemporaryDirectory folder;
        const Experiment experiment = parse_sample();
        std::vector<RunDirectory> runs;
        for (std::size_t i = 1; i < 4; ++i) runs.push_back(RunDirectory::create(folder.path(), experiment, experiment.runs()[i], false));
        Workspace workspace;
        QVERIFY(open_and_wait(workspace, folder.path()));
        Activity activity(workspace);
        activity.resize(900, 200);
        activity.show();
        QVERIFY(QTest::qWaitForWindowExposed(&activity));
        const auto stops = [&] {
            QList<QPushButton*> shown;
            for (QPushButton* button : activity.findChildren<QPushButton*>())
                if (button->isVisible() && button->text() == QStringLiteral("Stop")) shown << button;
            return shown;
        };
        const auto says = [&](const RunDirectory& run) {
            for (const ElidedLabel* label : activity.findChildren<ElidedLabel*>())
                if (label->isVisible() && label->fullText().contains(qs(run.info().shown_name())))
                    return label->mapTo(&activity, QPoint()).y();
            return -1;
        };
        QTRY_COMPARE(stops().size(), 3);
        const int second = says(runs[1]);
        QVERIFY(second > says(runs[0]));
        QTest::mouseMove(activity.window(), stops().at(0)->mapTo(activity.window(), QPoint(4, 4)));
        QTRY_VERIFY(stops().at(0)->underMouse());
        write_attempt(runs[0], 1, 10, "finished");
        workspace.session()->refresh();
        QTRY_VERIFY(is_over(workspace.runs()->runs.front().state.phase));
        QCOMPARE(says(runs[1]), second);
        QVERIFY(!stops().at(0)->isEnabled());
        QTest::mouseMove(activity.window(), QPoint(activity.width() - 2, 2));
        QTRY_COMPARE(stops().size(), 2);
        QCOMPARE(says(runs[0]), -1);
    }
};

FACETER_TEST(TestActivityPlaces)
#include "test_activity_places.moc"
