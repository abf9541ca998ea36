#include <algorithm>
#include <cmath>

#include "figure/cover_grid.h"
#include "figure/marks.h"

namespace faceter::desktop {
namespace {

constexpr double widestBar = 48, shareOfSlot = 0.8, cap = 3;

/// A vertical interval with caps; an end beyond the axis is an arrow at the axis' own.
void drawErrorBar(QCPPainter* painter, double x, double low, double high, const QRectF& area) {
    const auto within = [&area](double y) { return std::clamp(y, area.top(), area.bottom()); };
    if (std::max(low, high) < area.top() || std::min(low, high) > area.bottom()) return;
    painter->drawLine(QLineF(x, within(low), x, within(high)));
    for (const double end : {low, high}) {
        const double y = within(end), back = end == y ? 0 : end > y ? -2 * cap : 2 * cap;
        for (const double side : {-cap, cap}) painter->drawLine(QLineF(x, y, x + side, y + back));
    }
}

}  // namespace

void drawHatch(QCPPainter* painter, const QRectF& area, int place, const QColor& ground) {
    const QVector<qreal> dash = ThemeColours::seriesDash(place);
    if (dash.isEmpty() || area.isEmpty()) return;
    const bool isCrossed = dash.front() < 2;  // the place of dots
    constexpr double between = 5;
    const bool before = painter->antialiasing();
    painter->setAntialiasing(true);
    painter->setPen(QPen(ground, 1.25, Qt::SolidLine, Qt::FlatCap));
    const double mirror = area.left() + area.right();
    for (double sum = area.left() + area.top() + between / 2; sum < area.right() + area.bottom(); sum += between) {
        const double from = std::max(area.left(), sum - area.bottom()), to = std::min(area.right(), sum - area.top());
        painter->drawLine(QLineF(from, sum - from, to, sum - to));
        if (isCrossed) painter->drawLine(QLineF(mirror - from, sum - from, mirror - to, sum - to));
    }
    painter->setAntialiasing(before);
}

/// Numbers have one number of decimals in the whole figure, and all of them are written or none.
BarMarks::BarMarks(QCPAxis* x, QCPAxis* y, int series, const Figure& figure, const PlotStyle& style)
    : Marks(x, y, series),
      m_count(static_cast<int>(figure.series.size())),
      m_values(figure.series[static_cast<std::size_t>(series)]),
      m_style(style) {
    double largest = 0;
    bool whole = true;
    for (const Series& one : figure.series)
        for (const double v : one.y)
            if (std::isfinite(v)) {
                largest = std::max(largest, std::abs(v));
                whole &= v == std::round(v);
            }
    m_decimals = whole || largest >= 100 ? 0 : largest >= 10 ? 1 : 2;
    const QFontMetricsF metrics(style.smallFont());
    for (const Series& one : figure.series)
        for (const double v : one.y)
            if (std::isfinite(v)) m_widestText = std::max(m_widestText, metrics.horizontalAdvance(printedNumber(v, m_decimals)));
}

bool BarMarks::valuesFit() const { return m_widestText <= width() + 1; }

QVector<QPointF> BarMarks::points() const {
    QVector<QPointF> all;
    for (std::size_t i = 0; i < m_values.y.size(); ++i) all.append({static_cast<double>(i), m_values.y[i]});
    return all;
}

double BarMarks::width() const {
    const double slot = std::abs(mKeyAxis->coordToPixel(1) - mKeyAxis->coordToPixel(0));
    return std::min(widestBar, slot * shareOfSlot / std::max(1, m_count));
}

QRectF BarMarks::bar(std::size_t i) const {
    const QCPRange shown = mValueAxis->range();
    const bool logarithmic = mValueAxis->scaleType() == QCPAxis::stLogarithmic;
    const double ground = mValueAxis->coordToPixel(logarithmic ? shown.lower : std::clamp(0.0, shown.lower, shown.upper));
    const double top = std::clamp(mValueAxis->coordToPixel(m_values.y[i]), -1e6, 1e6);
    const double left = mKeyAxis->coordToPixel(static_cast<double>(i)) + (series() - m_count / 2.0) * width();
    const double gap = width() > 4 ? 0.5 : 0;
    return QRectF(QPointF(left + gap, top), QPointF(left + width() - gap, ground)).normalized();
}

void BarMarks::cover(CoverGrid& grid) const {
    for (std::size_t i = 0; i < m_values.y.size(); ++i)
        if (fits(mValueAxis, m_values.y[i])) grid.addRect(bar(i).united(valueBox(i)));
}

void BarMarks::drawInterval(QCPPainter* painter, std::size_t i) const {
    if (m_values.low.empty() || !intervalFits(m_values.low[i], m_values.high[i])) return;
    const double x = bar(i).center().x();
    if (x < area().left() || x > area().right()) return;
    painter->setPen(QPen(m_style.colours.text, 1));
    drawErrorBar(painter, x, lowPixel(m_values.low[i]), mValueAxis->coordToPixel(m_values.high[i]), area());
}

/// Over the bar or its interval; under them where the bar hangs.
QRectF BarMarks::valueBox(std::size_t i) const {
    const QFontMetricsF metrics(m_style.smallFont());
    const bool below = m_values.y[i] < 0;
    double y = mValueAxis->coordToPixel(m_values.y[i]);
    const auto& end = below ? m_values.low : m_values.high;
    if (!end.empty() && fits(mValueAxis, end[i])) y = mValueAxis->coordToPixel(end[i]);
    y = std::clamp(y, -1e6, 1e6);
    return {bar(i).center().x() - width() / 2, below ? y + 2 : y - metrics.height() - 2, width(), metrics.height()};
}

void BarMarks::drawValue(QCPPainter* painter, std::size_t i) const {
    painter->setPen(m_style.colours.secondary);
    painter->setFont(m_style.smallFont());
    painter->drawText(valueBox(i), Qt::AlignCenter | Qt::TextDontClip | Qt::TextSingleLine, printedNumber(m_values.y[i], m_decimals));
}

void BarMarks::draw(QCPPainter* painter) {
    applyFillAntialiasingHint(painter);
    const QCPRange shown = mKeyAxis->range();
    const bool values = valuesFit();
    for (std::size_t i = 0; i < m_values.y.size(); ++i) {
        const auto x = static_cast<double>(i);
        if (x < shown.lower - 1 || x > shown.upper + 1 || !fits(mValueAxis, m_values.y[i])) continue;
        QRectF rect = bar(i);
        if (rect.height() < 0.5) rect.setHeight(0.5);  // a zero is still seen
        if (isUnclipped(painter)) rect &= area().adjusted(0, 0, 0, 1);
        if (!rect.isEmpty()) painter->fillRect(rect, mBrush);
        drawHatch(painter, rect, m_values.colour.value_or(series()), m_style.colours.surface);
        drawInterval(painter, i);
        if (values && area().contains(valueBox(i).center())) drawValue(painter, i);
    }
}

ScatterMarks::ScatterMarks(QCPAxis* x, QCPAxis* y, int series, const Series& values, const QColor& colour)
    : Marks(x, y, series), m_values(values) {
    setPen(QPen(colour, 1));
    setBrush(withOpacity(colour, values.y.size() > 2000 ? 0.4 : 0.75));
}

QVector<QPointF> ScatterMarks::points() const {
    QVector<QPointF> all;
    for (std::size_t i = 0; i < m_values.y.size(); ++i) all.append({m_values.x[i], m_values.y[i]});
    return all;
}

double ScatterMarks::radius() const { return m_values.y.size() > 2000 ? 1.5 : m_values.y.size() > 200 ? 2 : 3.5; }

void ScatterMarks::draw(QCPPainter* painter) {
    applyScattersAntialiasingHint(painter);
    const double margin = isUnclipped(painter) ? 1 : 20;
    const QRectF near = area().adjusted(-margin, -margin, margin, margin);
    for (std::size_t i = 0; i < m_values.y.size(); ++i) {
        if (!fits(m_values.x[i], m_values.y[i])) continue;
        const QPointF at = pixel(m_values.x[i], m_values.y[i]);
        if (!near.contains(at)) continue;
        if (!m_values.low.empty() && intervalFits(m_values.low[i], m_values.high[i])) {
            painter->setPen(mPen);
            drawErrorBar(painter, at.x(), lowPixel(m_values.low[i]), mValueAxis->coordToPixel(m_values.high[i]), area());
        }
        painter->setPen(Qt::NoPen);
        painter->setBrush(mBrush);
        painter->drawEllipse(at, radius(), radius());
    }
}

BoxMarks::BoxMarks(QCPAxis* x, QCPAxis* y, int series, const std::vector<double>& values, const QColor& colour) : Marks(x, y, series) {
    m_any = std::any_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
    if (m_any) m_shape = box_shape(values);
    setPen(QPen(colour, lineWidth));
    setBrush(withOpacity(colour, fillOpacity));
}

QVector<QPointF> BoxMarks::points() const {
    QVector<QPointF> all;
    if (!m_any) return all;
    const double x = series();
    for (const double v : {m_shape.low, m_shape.q1, m_shape.median, m_shape.q3, m_shape.high}) all.append({x, v});
    for (const double v : m_shape.outliers) all.append({x, v});
    return all;
}

double BoxMarks::width() const { return std::min(widestBar, std::abs(mKeyAxis->coordToPixel(1) - mKeyAxis->coordToPixel(0)) * 0.5); }

void BoxMarks::cover(CoverGrid& grid) const {
    const double x = mKeyAxis->coordToPixel(series());
    if (m_any)
        grid.addRect(QRectF(QPointF(x - width() / 2, mValueAxis->coordToPixel(m_shape.high)),
                            QPointF(x + width() / 2, mValueAxis->coordToPixel(m_shape.low)))
                         .normalized());
}

void BoxMarks::draw(QCPPainter* painter) {
    if (!m_any || !fits(mValueAxis, m_shape.low)) return;
    applyDefaultAntialiasingHint(painter);
    const auto y = [this](double v) { return std::clamp(mValueAxis->coordToPixel(v), -1e6, 1e6); };
    const double x = mKeyAxis->coordToPixel(series()), half = width() / 2;
    const auto line = [&](double x1, double y1, double x2, double y2) {
        drawClipped(painter, QPolygonF({QPointF(x1, y1), QPointF(x2, y2)}), area());
    };
    const QRectF box(QPointF(x - half, y(m_shape.q3)), QPointF(x + half, y(m_shape.q1)));
    painter->setPen(mPen);
    if (const QRectF filled = isUnclipped(painter) ? box & area() : box; !filled.isEmpty()) painter->fillRect(filled, mBrush);
    drawClipped(painter, QPolygonF(box), area());
    for (const auto& [from, to] : {std::pair{m_shape.q3, m_shape.high}, std::pair{m_shape.q1, m_shape.low}}) {
        line(x, y(from), x, y(to));
        line(x - half / 2, y(to), x + half / 2, y(to));
    }
    QPen thick = mPen;
    thick.setWidthF(2.5);
    thick.setCapStyle(Qt::FlatCap);
    painter->setPen(thick);
    line(x - half, y(m_shape.median), x + half, y(m_shape.median));
    painter->setPen(Qt::NoPen);
    painter->setBrush(withOpacity(mPen.color(), 0.6));
    for (const double v : m_shape.outliers)
        if (area().adjusted(-2, -2, 2, 2).contains(x, y(v))) painter->drawEllipse(QPointF(x, y(v)), 2.5, 2.5);
}

}  // namespace faceter::desktop
