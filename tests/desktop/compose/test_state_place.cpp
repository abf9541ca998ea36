#include "pages/state_place.h"

#include <QSettings>
#include <QTest>

#include "support/test.h"

using namespace faceter;
using namespace faceter::desktop;
using namespace faceter::testing;

namespace {

const auto page = QStringLiteral("compose");
const QByteArray mine = R"({"draft":"name: mine","open":[]})", theirs = R"({"draft":"name: theirs","open":[]})";

}  // namespace

/// Two workbenches of one user.
class TestStatePlace : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;

  private Q_SLOTS:
    void init() { QSettings().clear(); }

    void a_second_workbench_keeps_its_draft_apart() {
        const StatePlace first(folder_.path());
        QCOMPARE(first.key(page), QStringLiteral("pages/compose"));
        QSettings().setValue(first.key(page), mine);
        {
            const StatePlace second(folder_.path());
            QCOMPARE(second.number(), 2);
            QVERIFY(second.key(page) != first.key(page));
            const QByteArray begun = second.state(page);
            QVERIFY2(!begun.contains("mine") && begun.contains("open"),
                     begun.constData());  // its panels are as they were, without the text
            QSettings().setValue(second.key(page), theirs);
            QCOMPARE(second.state(page), theirs);
            QCOMPARE(first.state(page), mine);
        }
        const StatePlace again(folder_.path());
        QCOMPARE(again.number(), 2);
        QCOMPARE(again.state(page), theirs);
    }

    void a_draft_that_a_workbench_left_comes_where_there_is_none() {
        QSettings().setValue(QStringLiteral("pages-2/compose"), theirs);
        const StatePlace first(folder_.path());
        {
            const StatePlace second(folder_.path());
            QVERIFY(first.state(page).isEmpty());  // somebody is at it
        }
        QCOMPARE(first.state(page), theirs);
        QVERIFY(!QSettings().contains(QStringLiteral("pages-2/compose")));
    }

    void a_draft_of_ones_own_is_not_replaced() {
        QSettings().setValue(QStringLiteral("pages/compose"), mine);
        QSettings().setValue(QStringLiteral("pages-2/compose"), theirs);
        const StatePlace first(folder_.path());
        QCOMPARE(first.state(page), mine);
        QVERIFY(QSettings().contains(QStringLiteral("pages-2/compose")));
    }
};

FACETER_TEST(TestStatePlace)
#include "test_state_place.moc"
