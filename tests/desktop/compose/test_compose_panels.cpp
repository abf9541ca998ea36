#include <QSettings>
#include <QTabBar>
#include <QTabWidget>
#include <QTest>

#include "pages/compose/compose_page.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::desktop;
using namespace faceter::testing;

class TestComposePanels : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void init() { QSettings().clear(); }

    void tabs_stay_under_the_pointer_until_it_has_left_them() {
        Workspace workspace;
        ComposePage page(workspace);
        page.resize(815, 560);
        page.show();
        QVERIFY(QTest::qWaitForWindowExposed(&page));
        auto* tabs = page.findChild<QTabWidget*>(QStringLiteral("composePanels"));
        QTabBar* bar = tabs->tabBar();
        const int before = tabs->height(), top = bar->mapTo(&page, QPoint()).y();
        QVERIFY(before < 190);
        bar->setAttribute(Qt::WA_UnderMouse);
        QTest::mouseClick(bar, Qt::LeftButton, {}, bar->tabRect(3).center());
        QCOMPARE(tabs->currentIndex(), 3);
        QCOMPARE(bar->mapTo(&page, QPoint()).y(), top);
        bar->setAttribute(Qt::WA_UnderMouse, false);
        QEvent leave(QEvent::Leave);
        QCoreApplication::sendEvent(bar, &leave);
        QTRY_VERIFY2(tabs->height() >= 190, qPrintable(QString::number(tabs->height())));
    }
};

FACETER_TEST(TestComposePanels)
#include "test_compose_panels.moc"
