#include "figure/plot_navigator.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

#include "figure/figure_plot.h"

namespace faceter::desktop {
namespace {

constexpr double wheelStep = 0.85, keyStep = 0.8, panStep = 0.1;
constexpr double largestView = 4, smallestView = 1e-7;  // times the home range

/// Ranges as the screen sees them: logarithms on a logarithmic axis.
QCPRange toScreen(const QCPRange& range, bool logarithmic) {
    return logarithmic ? QCPRange(std::log10(range.lower), std::log10(range.upper)) : range;
}

QCPRange fromScreen(const QCPRange& range, bool logarithmic) {
    return logarithmic ? QCPRange(std::pow(10, range.lower), std::pow(10, range.upper)) : range;
}

bool isLogarithmic(const QCPAxis* axis) { return axis->scaleType() == QCPAxis::stLogarithmic; }

QCPRange scaled(const QCPAxis* axis, double factor, double pixel) {
    const bool logarithmic = isLogarithmic(axis);
    const QCPRange now = toScreen(axis->range(), logarithmic);
    const double at = logarithmic ? std::log10(axis->pixelToCoord(pixel)) : axis->pixelToCoord(pixel);
    return fromScreen({at + (now.lower - at) * factor, at + (now.upper - at) * factor}, logarithmic);
}

QCPRange shifted(const QCPAxis* axis, double share) {
    const bool logarithmic = isLogarithmic(axis);
    const QCPRange now = toScreen(axis->range(), logarithmic);
    const double by = now.size() * share;
    return fromScreen({now.lower + by, now.upper + by}, logarithmic);
}

}  // namespace

PlotNavigator::PlotNavigator(FigurePlot* plot) : QObject(plot), m_plot(plot) {
    connect(plot, &QCustomPlot::mouseWheel, this, &PlotNavigator::wheel);
    connect(plot, &QCustomPlot::mousePress, this, &PlotNavigator::press);
    connect(plot, &QCustomPlot::mouseMove, this, &PlotNavigator::drag);
    connect(plot, &QCustomPlot::mouseRelease, this, &PlotNavigator::release);
    connect(plot, &QCustomPlot::mouseDoubleClick, this, [this](QMouseEvent* event) {
        if (m_plot->seriesLabelAt(event->position()) < 0) reset();
    });
    plot->axisRect()->setRangeZoom(Qt::Horizontal | Qt::Vertical);  // the axes that the rubber band zooms; the wheel is ours
}

bool PlotNavigator::inside(const QPointF& position) const { return QRectF(m_plot->axisRect()->outerRect()).contains(position); }

QCPRange PlotNavigator::bounded(const QCPRange& wanted, const QCPRange& homeRange, bool logarithmic) const {
    const QCPRange home = toScreen(homeRange, logarithmic);
    QCPRange view = toScreen(wanted, logarithmic);
    if (!std::isfinite(view.lower) || !std::isfinite(view.upper)) return homeRange;
    const double size = std::clamp(view.size(), smallestView * home.size(), largestView * home.size());
    // Some of the home range stays in view.
    const double centre = std::clamp(view.center(), home.lower - 0.4 * size, home.upper + 0.4 * size);
    return fromScreen({centre - size / 2, centre + size / 2}, logarithmic);
}

void PlotNavigator::setRanges(const QCPRange& x, const QCPRange& y) {
    if (!m_plot->hasValues()) return;
    // An axis that stays is left alone to the last bit: bounding rounds.
    if (!(x == m_plot->xAxis->range())) m_plot->xAxis->setRange(bounded(x, m_plot->homeX(), isLogarithmic(m_plot->xAxis)));
    if (!(y == m_plot->yAxis->range())) m_plot->yAxis->setRange(bounded(y, m_plot->homeY(), isLogarithmic(m_plot->yAxis)));
    m_plot->replot(QCustomPlot::rpQueuedReplot);
    Q_EMIT moved();
}

void PlotNavigator::zoom(double factor, const QPointF& at, Qt::Orientations orientations) {
    const auto* x = m_plot->xAxis;
    const auto* y = m_plot->yAxis;
    setRanges(orientations.testFlag(Qt::Horizontal) ? scaled(x, factor, at.x()) : x->range(),
              orientations.testFlag(Qt::Vertical) ? scaled(y, factor, at.y()) : y->range());
}

void PlotNavigator::pan(double x, double y) { setRanges(shifted(m_plot->xAxis, x), shifted(m_plot->yAxis, y)); }

void PlotNavigator::reset() {
    m_plot->resetRanges();
    m_plot->replot(QCustomPlot::rpQueuedReplot);
    Q_EMIT moved();
}

bool PlotNavigator::handleKey(const QKeyEvent* event) {
    const QPointF centre = m_plot->axisRect()->center();
    const Qt::Orientations both = Qt::Horizontal | Qt::Vertical;
    const Qt::Orientations wanted = event->modifiers().testFlag(Qt::ControlModifier) ? Qt::Orientations(Qt::Horizontal) : both;
    const double up = m_plot->yAxis->rangeReversed() ? -panStep : panStep;
    switch (event->key()) {
        case Qt::Key_Left:
            return pan(-panStep, 0), true;
        case Qt::Key_Right:
            return pan(panStep, 0), true;
        case Qt::Key_Up:
            return pan(0, up), true;
        case Qt::Key_Down:
            return pan(0, -up), true;
        case Qt::Key_Plus:
        case Qt::Key_Equal:
            return zoom(keyStep, centre, wanted), true;
        case Qt::Key_Minus:
            return zoom(1 / keyStep, centre, wanted), true;
        case Qt::Key_0:
        case Qt::Key_Home:
            return reset(), true;
        default:
            return false;
    }
}

void PlotNavigator::wheel(QWheelEvent* event) {
    if (!inside(event->position())) return;
    // With Alt or Shift some platforms turn the wheel sideways.
    const int turned = event->angleDelta().y() != 0 ? event->angleDelta().y() : event->angleDelta().x();
    if (turned == 0) return;
    Qt::Orientations orientations = Qt::Horizontal | Qt::Vertical;
    if (event->modifiers().testFlag(Qt::ControlModifier)) orientations = Qt::Horizontal;
    if (event->modifiers().testFlag(Qt::ShiftModifier)) orientations = Qt::Vertical;
    zoom(std::pow(wheelStep, turned / 120.0), event->position(), orientations);
    event->accept();
}

void PlotNavigator::press(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton || !m_plot->hasValues() || !inside(event->position())) return;
    if (m_plot->seriesLabelAt(event->position()) >= 0) return;
    if (event->modifiers().testFlag(Qt::ShiftModifier)) {
        m_plot->selectionRect()->setPen(QPen(m_plot->plotStyle().colours.accent, 1));
        m_plot->selectionRect()->setBrush(withOpacity(m_plot->plotStyle().colours.accent, 0.12));
        m_plot->setSelectionRectMode(QCP::srmZoom);
        return;
    }
    m_panning = true;
    m_start = event->position();
    m_startX = m_plot->xAxis->range();
    m_startY = m_plot->yAxis->range();
}

void PlotNavigator::drag(QMouseEvent* event) {
    if (!m_panning) return;
    const QRectF area = m_plot->axisRect()->rect();
    const QPointF by = event->position() - m_start;
    m_plot->xAxis->setRange(m_startX);
    m_plot->yAxis->setRange(m_startY);
    const double down = m_plot->yAxis->rangeReversed() ? -1 : 1;
    pan(-by.x() / std::max(1.0, area.width()), down * by.y() / std::max(1.0, area.height()));
}

void PlotNavigator::release(QMouseEvent* event) {
    Q_UNUSED(event)
    m_panning = false;
    if (m_plot->selectionRectMode() == QCP::srmNone) return;
    // QCustomPlot ends the selection after this signal; then the mode goes back and the range is bounded.
    QMetaObject::invokeMethod(
        this,
        [this] {
            m_plot->setSelectionRectMode(QCP::srmNone);
            const QCPRange x = m_plot->xAxis->range(), y = m_plot->yAxis->range();
            m_plot->resetRanges();
            setRanges(x, y);
        },
        Qt::QueuedConnection);
}

}  // namespace faceter::desktop
