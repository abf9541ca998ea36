#include <QContextMenuEvent>
#include <QMenu>
#include <cmath>

#include "figure/cursor_link.h"
#include "view_support.h"

namespace faceter::desktop {

using namespace faceter::testing;

namespace {
/// A place of the plot where the name of `series` stands.
QPoint labelOf(const FigureView& view, int series) {
    for (int y = 0; y < view.plot()->height(); ++y)
        for (int x = 0; x < view.plot()->width(); ++x)
            if (view.plot()->seriesLabelAt(QPointF(x, y)) == series) return {x + 2, y + 4};
    return {-1, -1};
}
}  // namespace

class TestFigureInteraction : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void with_linked_ranges_an_answer_moves_only_its_own_view() {
        auto left = shown(sample_lines()), right = shown(sample_lines());
        CursorLink link;
        link.add(left.get());
        link.add(right.get());
        link.setRangesLinked(true);
        QTest::keyClick(left.get(), Qt::Key_Plus);
        QCOMPARE(right->xRange(), left->xRange());
        const QCPRange zoomed = right->xRange();
        QSignalSpy moved(right.get(), &FigureView::xRangeChanged);
        left->setFigure(sample_lines(), true);  // the store's answer to the zoom
        QCOMPARE(moved.count(), 0);
        QCOMPARE(right->xRange(), zoomed);
        QCOMPARE(left->xRange(), zoomed);
    }

    void live_data_keeps_series_switched_off_by_their_names() {
        Figure figure = sample_lines();
        auto view = shown(figure);
        const std::string hidden = figure.series[1].name;
        view->setSeriesVisible(1, false);
        Series first = figure.series.front();
        first.name = "one more";
        figure.series.insert(figure.series.begin(), first);
        view->setFigure(figure, true);
        for (std::size_t i = 0; i < figure.series.size(); ++i)
            QCOMPARE(view->isSeriesVisible(static_cast<int>(i)), figure.series[i].name != hidden);
    }

    void the_menu_comes_by_a_click_on_the_plot_too() {
        auto view = shown(sample_lines());
        QContextMenuEvent event(QContextMenuEvent::Mouse, centreOf(*view), view->plot()->mapToGlobal(centreOf(*view)));
        QApplication::sendEvent(view->plot(), &event);
        auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
        QVERIFY(menu && !menu->actions().isEmpty());
        menu->close();
    }

    void the_wheel_zooms_at_the_pointer() {
        auto view = shown(sample_lines());
        const QPoint at = centreOf(*view) + QPoint(60, 20);
        const double x = view->plot()->xAxis->pixelToCoord(at.x()), size = view->xRange().size(), height = view->yRange().size();
        turnWheel(*view, at, 2);
        QVERIFY(view->xRange().size() < size);
        QVERIFY(view->yRange().size() < height);
        QVERIFY(std::abs(view->plot()->xAxis->pixelToCoord(at.x()) - x) < 1e-6 * size);
    }

    void with_a_modifier_the_wheel_zooms_one_axis() {
        auto view = shown(sample_lines());
        const QCPRange y = view->yRange(), x = view->xRange();
        turnWheel(*view, centreOf(*view), 1, Qt::ControlModifier);
        QCOMPARE(view->yRange(), y);
        QVERIFY(view->xRange().size() < x.size());
        const QCPRange zoomed = view->xRange();
        turnWheel(*view, centreOf(*view), 1, Qt::ShiftModifier);
        QCOMPARE(view->xRange(), zoomed);
        QVERIFY(view->yRange().size() < y.size());
    }

    void keys_pan_zoom_and_reset() {
        auto view = shown(sample_lines());
        const QCPRange home = view->xRange(), homeY = view->yRange();
        QTest::keyClick(view.get(), Qt::Key_Plus);
        QVERIFY(view->xRange().size() < home.size());
        const QCPRange zoomed = view->xRange();
        QTest::keyClick(view.get(), Qt::Key_Right);
        QVERIFY(view->xRange().lower > zoomed.lower);
        const double bottom = view->yRange().lower;
        QTest::keyClick(view.get(), Qt::Key_Up);
        QVERIFY(view->yRange().lower > bottom);
        QTest::keyClick(view.get(), Qt::Key_Minus);
        QTest::keyClick(view.get(), Qt::Key_0);
        QCOMPARE(view->xRange(), home);
        QCOMPARE(view->yRange(), homeY);
    }

    void dragging_pans_and_a_double_click_resets() {
        auto view = shown(sample_scatter());
        const QCPRange home = view->xRange();
        const QPoint from = centreOf(*view);
        QTest::mousePress(view->plot(), Qt::LeftButton, {}, from);
        QTest::mouseMove(view->plot(), from + QPoint(40, 0));
        QMouseEvent move(QEvent::MouseMove, from + QPoint(50, 0), view->plot()->mapToGlobal(from + QPoint(50, 0)), Qt::NoButton,
                         Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(view->plot(), &move);
        QTest::mouseRelease(view->plot(), Qt::LeftButton, {}, from + QPoint(50, 0));
        QVERIFY(view->xRange().lower < home.lower);
        QVERIFY(std::abs(view->xRange().size() - home.size()) < 1e-9 * home.size());
        QTest::mouseDClick(view->plot(), Qt::LeftButton, {}, from);
        QCOMPARE(view->xRange(), home);
    }

    void shift_and_drag_zoom_into_the_rectangle() {
        auto view = shown(sample_lines());
        const QPoint from = centreOf(*view) - QPoint(80, 50), to = centreOf(*view) + QPoint(80, 50);
        const double left = view->plot()->xAxis->pixelToCoord(from.x()), right = view->plot()->xAxis->pixelToCoord(to.x());
        QTest::mousePress(view->plot(), Qt::LeftButton, Qt::ShiftModifier, from);
        QMouseEvent move(QEvent::MouseMove, to, view->plot()->mapToGlobal(to), Qt::NoButton, Qt::LeftButton, Qt::ShiftModifier);
        QApplication::sendEvent(view->plot(), &move);
        QTest::mouseRelease(view->plot(), Qt::LeftButton, Qt::ShiftModifier, to);
        QTRY_VERIFY(view->plot()->selectionRectMode() == QCP::srmNone);
        const double pixel = (right - left) / 160;
        QVERIFY(std::abs(view->xRange().lower - left) < 2 * pixel && std::abs(view->xRange().upper - right) < 2 * pixel);
    }

    void zoom_is_bounded_in_both_directions() {
        for (const Figure& figure : {sample_lines(), sample_log_axes(), sample_heat_map(), sample_bars()}) {
            auto view = shown(figure);
            const QCPRange home = view->xRange();
            for (int i = 0; i < 200; ++i) QTest::keyClick(view.get(), Qt::Key_Minus);
            QVERIFY(std::isfinite(view->xRange().lower) && view->xRange().contains(home.lower) && view->xRange().contains(home.upper));
            for (int i = 0; i < 400; ++i) QTest::keyClick(view.get(), Qt::Key_Plus);
            QVERIFY(view->xRange().size() > 0 && view->xRange().size() < home.size());
            for (int i = 0; i < 400; ++i) QTest::keyClick(view.get(), Qt::Key_Right);
            QVERIFY(view->xRange().lower < home.upper);
        }
    }

    void a_click_on_a_name_shows_or_hides_its_series() {
        for (const int count : {3, 7}) {
            auto view = shown(sample_lines(count));
            const QColor colour = view->grabData()[1].colour;
            const int before = pixelsLike(*view, colour);
            QSignalSpy toggled(view.get(), &FigureView::seriesToggled);
            const QPoint at = labelOf(*view, 1);
            QVERIFY(at.x() >= 0);
            QTest::mouseClick(view->plot(), Qt::LeftButton, {}, at);
            QCOMPARE(toggled.count(), 1);
            QVERIFY(!view->grabData()[1].visible);
            QVERIFY(pixelsLike(*view, colour) < before / 4);
            QTest::mouseClick(view->plot(), Qt::LeftButton, {}, labelOf(*view, 1));
            QVERIFY(view->isSeriesVisible(1));
        }
    }

    void the_menu_switches_series_too() {
        auto view = shown(sample_lines(3));
        std::unique_ptr<QMenu> menu(view->createMenu(nullptr));
        QMenu* series = nullptr;
        for (QAction* action : menu->actions())
            if (action->menu()) series = action->menu();
        QVERIFY(series);
        QCOMPARE(series->actions().size(), 3);
        series->actions()[2]->trigger();
        QVERIFY(!view->isSeriesVisible(2));
    }

    void the_tooltip_has_the_exact_numbers() {
        const Figure figure = sample_lines(2);
        auto view = shown(figure);
        const Series& one = figure.series[0];
        const QPoint at(static_cast<int>(std::lround(view->plot()->xAxis->coordToPixel(one.x[60]))), centreOf(*view).y());
        const QString text = view->textAt(view->plot()->mapToParent(at));
        QVERIFY2(text.contains("MoTE: " + QString::number(one.y[60], 'g', 6)), qPrintable(text));
        QVERIFY(text.contains("IC: "));
        QVERIFY(text.startsWith("examples seen"));
    }

    void a_click_on_a_point_tells_which() {
        const Figure figure = sample_scatter(1);
        auto view = shown(figure);
        QSignalSpy clicked(view.get(), &FigureView::pointClicked);
        const Series& one = figure.series[0];
        QTest::mouseClick(view->plot(), Qt::LeftButton, {},
                          QPointF(view->plot()->xAxis->coordToPixel(one.x[3]), view->plot()->yAxis->coordToPixel(one.y[3])).toPoint());
        QCOMPARE(clicked.count(), 1);
        QCOMPARE(clicked[0][1].toDouble(), one.x[3]);
        QCOMPARE(clicked[0][2].toDouble(), one.y[3]);
    }

    void the_pointer_in_one_view_is_a_cursor_in_the_linked_ones() {
        auto a = shown(sample_lines()), b = shown(sample_lines(2));
        CursorLink link;
        link.add(a.get());
        link.add(b.get());
        const QPoint at = centreOf(*a);
        QMouseEvent move(QEvent::MouseMove, at, a->plot()->mapToGlobal(at), Qt::NoButton, Qt::NoButton, Qt::NoModifier);
        QApplication::sendEvent(a->plot(), &move);
        QVERIFY(b->plot()->cursor());
        QVERIFY(std::abs(*b->plot()->cursor() - a->plot()->xAxis->pixelToCoord(at.x())) < 1e-9);
        QEvent leave(QEvent::Leave);
        QApplication::sendEvent(a->plot(), &leave);
        QVERIFY(!b->plot()->cursor());
    }

    void ranges_follow_only_where_they_are_linked() {
        auto a = shown(sample_lines()), b = shown(sample_lines(2));
        CursorLink link;
        link.add(a.get());
        link.add(b.get());
        const QCPRange before = b->xRange();
        QTest::keyClick(a.get(), Qt::Key_Plus);
        QCOMPARE(b->xRange(), before);
        link.setRangesLinked(true);
        QTest::keyClick(a.get(), Qt::Key_Plus);
        QVERIFY(std::abs(b->xRange().lower - a->xRange().lower) < 1e-9 * before.size());
        b.reset();
        QTest::keyClick(a.get(), Qt::Key_Plus);  // a view that is gone is forgotten
    }

    void live_data_keep_zoom_and_hidden_series() {
        auto view = shown(sample_lines(3));
        QTest::keyClick(view.get(), Qt::Key_Plus);
        view->setSeriesVisible(1, false);
        const QCPRange zoomed = view->xRange();
        view->setFigure(sample_lines(3, 140), true);
        QCOMPARE(view->xRange(), zoomed);
        QVERIFY(!view->isSeriesVisible(1));
        view->setFigure(sample_lines(3, 140));
        QVERIFY(view->xRange().size() > zoomed.size());
        QVERIFY(view->isSeriesVisible(1));
    }
};

FACETER_TEST(TestFigureInteraction)

}  // namespace faceter::desktop

#include "test_figure_interaction.moc"
