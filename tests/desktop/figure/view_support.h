#pragma once
#include <QApplication>
#include <QSignalSpy>

#include "figure/figure_view.h"
#include "sample_figures.h"
#include "support/test.h"

namespace faceter::testing {

/// A view of `figure`, laid out and drawn.
inline std::unique_ptr<desktop::FigureView> shown(const Figure& figure, QSize size = {640, 400}) {
    auto view = std::make_unique<desktop::FigureView>(figure);
    view->resize(size);
    view->show();
    if (!QTest::qWaitForWindowExposed(view.get())) return view;
    view->plot()->replot(QCustomPlot::rpImmediateRefresh);
    return view;
}

inline QImage picture(desktop::FigureView& view) {
    view.plot()->replot(QCustomPlot::rpImmediateRefresh);
    return view.plot()->toPixmap().toImage().convertToFormat(QImage::Format_RGB32);
}

/// Pixels within the axes that are near to `colour`.
inline int pixelsLike(desktop::FigureView& view, const QColor& colour, int tolerance = 40) {
    const QImage image = picture(view);
    const QRect area = view.plot()->axisRect()->rect();
    int count = 0;
    for (int y = area.top(); y <= area.bottom(); ++y)
        for (int x = area.left(); x <= area.right(); ++x) {
            const QColor c = image.pixelColor(x, y);
            count +=
                std::abs(c.red() - colour.red()) + std::abs(c.green() - colour.green()) + std::abs(c.blue() - colour.blue()) < tolerance;
        }
    return count;
}

inline QPoint centreOf(const desktop::FigureView& view) { return view.plot()->axisRect()->center(); }

inline void turnWheel(desktop::FigureView& view, QPoint at, int steps, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
    QWheelEvent event(at, view.plot()->mapToGlobal(at), {}, {0, 120 * steps}, Qt::NoButton, modifiers, Qt::NoScrollPhase, false);
    QApplication::sendEvent(view.plot(), &event);
}

}  // namespace faceter::testing
