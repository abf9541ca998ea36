#include <QHeaderView>
#include <QTest>

#include "desktop/runs/made_up_runs.h"
#include "pages/runs/runs_delegate.h"
#include "pages/runs/runs_view.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::desktop;
using namespace faceter::testing;

class TestRunsWidths : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void spreads_give_way_before_the_last_column_is_out_of_sight() {
        const RunsDataPtr data = made_up_runs(100);
        LayoutOptions options = plain_options(*data);
        options.group = {GroupBy::Kind::seeds, {}};
        options.columns = {{RunColumn::Kind::name, {}}, {RunColumn::Kind::state, {}}};
        for (const char* type : {"classification", "clustering", "reranking", "retrieval", "sts"})
            options.columns.push_back({RunColumn::Kind::task_type, type});
        options.columns.push_back({RunColumn::Kind::time, {}});
        RunsModel model;
        RunsView view(model);
        model.show(data, options.columns, layOut(*data, options));
        view.show();
        QVERIFY(QTest::qWaitForWindowExposed(&view));
        const auto needed = [&](int width) {
            view.resize(width, 300);
            QCoreApplication::processEvents();
            view.fitWidths();
            return view.horizontalHeader()->length() - view.viewport()->width();
        };
        const auto* delegate = static_cast<const RunsDelegate*>(view.itemDelegate());
        QVERIFY(needed(1600) <= 0 && delegate->areSpreadsShown());
        int width = 1600;
        while (width > 400 && delegate->areSpreadsShown()) needed(width -= 20);
        QVERIFY2(!delegate->areSpreadsShown(), "they never gave way");
        QVERIFY2(needed(width) <= 0, qPrintable(QString::number(width)));
        const QModelIndex cell = model.index(0, 2);
        QVERIFY(cell.data(Qt::ToolTipRole).toString().contains(QStringLiteral("±")));
        QVERIFY(needed(1600) <= 0 && delegate->areSpreadsShown());
    }
};

FACETER_TEST(TestRunsWidths)
#include "test_runs_widths.moc"
