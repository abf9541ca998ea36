#pragma once
#include <QColor>
#include <QPointF>
#include <QString>
#include <QVector>

namespace faceter::desktop {

class FigurePlot;

/// A point under the pointer, with its exact numbers as text.
struct HoverPoint {
    int series = -1;
    double x = 0, y = 0;
    QPointF pixel{};
    QColor colour{};
    QString name{}, value{};
};

/// What a tooltip says: a heading (the x, a category, a cell) and a line for each point.
struct Hover {
    QString heading{};
    QVector<HoverPoint> points{};
    bool isEmpty() const { return heading.isEmpty() && points.isEmpty(); }
    QString text() const;  ///< plain, for tests and screen readers
    QString html() const;  ///< the same for QToolTip, every text escaped
};

/// The nearest point of each visible line or density to `x`.
QVector<HoverPoint> pointsAt(const FigurePlot& plot, double x);
/// What lies under `position` (pixels of the plot); empty outside of the axes or far from every point.
Hover hoverAt(const FigurePlot& plot, const QPointF& position);

}  // namespace faceter::desktop
