#pragma once
#include <QObject>
#include <QPointF>
#include "figure/qcustomplot_header.h"

class QKeyEvent;

namespace faceter::desktop {

class FigurePlot;

/// Zoom and pan of a plot by wheel, mouse and keys, within sensible bounds:
///   wheel zooms at the pointer (Ctrl: x only, Shift: y only); drag pans; Shift + drag zooms into the rectangle; double click resets
///   arrows pan, + and - zoom (Ctrl: x only), 0 or Home resets
class PlotNavigator : public QObject {
    Q_OBJECT
  public:
    explicit PlotNavigator(FigurePlot* plot);
    /// Makes the range `factor` times as large round the place `at` (pixels).
    void zoom(double factor, const QPointF& at, Qt::Orientations orientations = Qt::Horizontal | Qt::Vertical);
    /// Moves the view by shares of its size.
    void pan(double x, double y);
    void reset();
    /// True where the key was one of the above.
    bool handleKey(const QKeyEvent* event);
    void setRanges(const QCPRange& x, const QCPRange& y);

  Q_SIGNALS:
    void moved();

  private:
    void wheel(QWheelEvent* event);
    void press(QMouseEvent* event);
    void drag(QMouseEvent* event);
    void release(QMouseEvent* event);
    bool inside(const QPointF& position) const;
    QCPRange bounded(const QCPRange& wanted, const QCPRange& home, bool logarithmic) const;

    FigurePlot* m_plot;
    bool m_panning = false;
    QPointF m_start;
    QCPRange m_startX, m_startY;
};

}  // namespace faceter::desktop
