#include "figure/overlay.h"

#include <cmath>

#include "figure/figure_hover.h"
#include "figure/figure_plot.h"

namespace faceter::desktop {

Overlay::Overlay(FigurePlot* plot) : QCPLayerable(plot, QStringLiteral("cursor")), m_plot(plot) { new ReferenceLines(plot); }

bool Overlay::setCursor(std::optional<double> x) {
    if (x == m_cursor) return false;
    m_cursor = x;
    return true;
}

void Overlay::draw(QCPPainter* painter) {
    if (!m_cursor || !m_plot->hasValues()) return;
    const QRectF area = m_plot->axisRect()->rect();
    const double x = m_plot->xAxis->coordToPixel(*m_cursor);
    if (!(x >= area.left() && x <= area.right() + 1)) return;
    const ThemeColours& colours = m_plot->plotStyle().colours;
    painter->setPen(QPen(colours.secondary, 1));
    painter->drawLine(QLineF(std::round(x), area.top(), std::round(x), area.bottom()));
    painter->setAntialiasing(true);
    for (const HoverPoint& point : pointsAt(*m_plot, *m_cursor)) {
        if (!area.adjusted(-1, -1, 1, 1).contains(point.pixel)) continue;
        painter->setPen(QPen(colours.surface, 1.5));
        painter->setBrush(point.colour);
        painter->drawEllipse(point.pixel, 4, 4);
    }
}

ReferenceLines::ReferenceLines(FigurePlot* plot) : QCPLayerable(plot, QStringLiteral("labels")), m_plot(plot) {}

void ReferenceLines::draw(QCPPainter* painter) {
    if (!m_plot->hasValues()) return;
    const QRectF area = m_plot->axisRect()->rect();
    const PlotStyle& style = m_plot->plotStyle();
    QPen pen(style.colours.secondary, 1);
    pen.setDashPattern({2, 3});
    painter->setFont(style.smallFont());
    const QFontMetricsF metrics(style.smallFont());
    for (const ReferenceMark& mark : m_plot->referenceMarks()) {
        const bool horizontal = mark.orientation == Qt::Horizontal;
        const double at = std::round((horizontal ? m_plot->yAxis : m_plot->xAxis)->coordToPixel(mark.value));
        const bool inside = horizontal ? at >= area.top() && at <= area.bottom() : at >= area.left() && at <= area.right();
        if (!std::isfinite(mark.value) || !inside) continue;
        painter->setPen(pen);
        painter->drawLine(horizontal ? QLineF(area.left(), at, area.right(), at) : QLineF(at, area.top(), at, area.bottom()));
        painter->setPen(style.colours.secondary);
        const QString text = metrics.elidedText(plainText(mark.label.toStdString()), Qt::ElideRight, area.width() / 2);
        const double width = metrics.horizontalAdvance(text) + 4;
        QRectF box = horizontal ? QRectF(area.left() + 4, at - metrics.height() - 1, width, metrics.height())
                                : QRectF(at + 4, area.top() + 2, width, metrics.height());
        if (horizontal && box.top() < area.top()) box.moveTop(at + 1);
        if (!horizontal && box.right() > area.right()) box.moveRight(at - 4);
        painter->drawText(box, Qt::AlignLeft | Qt::AlignVCenter | Qt::TextSingleLine, text);
    }
}

}  // namespace faceter::desktop
