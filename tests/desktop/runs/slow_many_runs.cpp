#include <QAbstractItemModelTester>
#include <QElapsedTimer>
#include <QScrollBar>
#include <algorithm>

#include "desktop/runs/made_up_runs.h"
#include "pages/runs/runs_view.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::desktop;
using namespace faceter::testing;

namespace {

constexpr int num_runs = 10'000, repeats = 7;

/// Times are printed, not asserted: other programs share the machine.
template <typename Act>
void measure(const char* what, const Act& act) {
    std::vector<double> times;
    for (int i = 0; i < repeats; ++i) {
        QElapsedTimer timer;
        timer.start();
        act(i);
        QCoreApplication::processEvents();  // what the view does about it
        times.push_back(static_cast<double>(timer.nsecsElapsed()) / 1e6);
    }
    std::sort(times.begin(), times.end());
    qInfo("%-58s median %7.1f ms  slowest %7.1f ms", what, times[repeats / 2], times.back());
}

}  // namespace

class SlowManyRuns : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void ten_thousand_runs_are_shown_sorted_filtered_grouped_and_refreshed() {
        const RunsDataPtr data = made_up_runs(num_runs);
        RunsModel model;
        RunsView view(model);
        view.resize(1000, 600);
        view.show();
        QVERIFY(QTest::qWaitForWindowExposed(&view));
        LayoutOptions options = plain_options(*data);
        const auto show = [&](const RunsDataPtr& now) {
            view.keepingPlace([&] { model.show(now, options.columns, layOut(*now, options)); });
        };
        measure("data of 10,000 runs (off the interface thread)", [](int) { QCOMPARE(made_up_runs(num_runs)->numRuns(), num_runs); });
        measure("set: nothing -> 10,000", [&](int) {
            model.show(std::make_shared<RunsData>(), options.columns, {});
            show(data);
        });
        QCOMPARE(model.rowCount(), num_runs);
        measure("sort by a score", [&](int i) {
            options.sort = {{RunColumn::Kind::task_type, i % 2 ? "retrieval" : "sts"}, i % 2 ? Qt::AscendingOrder : Qt::DescendingOrder};
            show(data);
        });
        measure("sort by a text", [&](int i) {
            options.sort = {{RunColumn::Kind::name, {}}, i % 2 ? Qt::AscendingOrder : Qt::DescendingOrder};
            show(data);
        });
        std::vector<bool> kept(num_runs);
        measure("filter: every third or all", [&](int i) {
            for (int row = 0; row < num_runs; ++row) kept[static_cast<std::size_t>(row)] = i % 2 || row % 3 == 0;
            options.kept = &kept;
            show(data);
        });
        options.kept = nullptr;
        show(data);
        measure("group by seeds, and back", [&](int i) {
            options.group = {i % 2 ? GroupBy::Kind::none : GroupBy::Kind::seeds, {}};
            show(data);
        });
        options.group = {};
        show(data);
        view.selectAll();
        std::vector<RunsDataPtr> later;
        for (int i = 0; i < repeats; ++i)
            later.push_back(changed_runs(*data, [&](RunRow& run) {
                if (run.info.seed != 1 || run.info.experiment != "sweep050" || run.info.variant != "EM") return true;
                run.state.step = i;
                run.revision = 2 + i;
                return true;
            }));
        measure("refresh: a few runs of 10,000 went on, all selected", [&](int i) { show(later[static_cast<std::size_t>(i)]); });
        view.clearSelection();
        measure("of which: layout alone", [&](int) { layOut(*data, options); });
        measure("scroll to the end and back, drawn", [&](int i) {
            view.verticalScrollBar()->setValue(i % 2 ? 0 : view.verticalScrollBar()->maximum());
            view.viewport()->repaint();
        });
        measure("scroll by a page, drawn", [&](int) {
            view.verticalScrollBar()->triggerAction(QAbstractSlider::SliderPageStepAdd);
            view.viewport()->repaint();
        });
        QCOMPARE(model.rowCount(), num_runs);
    }
};
FACETER_TEST(SlowManyRuns)
#include "slow_many_runs.moc"
