#include "figure/heat_map_marks.h"

#include <algorithm>
#include <cmath>

#include "figure/plot_axes.h"

namespace faceter::desktop {
namespace {

constexpr double barWidth = 12, barGap = 16, tickLength = 4, finestCell = 3;

QString heatMapLabel(const HeatMap& map) {
    Axis axis;
    axis.label = map.label;
    axis.unit = map.unit;
    return axisTitle(axis);
}

QColor divergingOn(const ThemeColours& theme, double t) {
    if (!theme.dark) return ThemeColours::diverging(t);
    const QColor end = theme.series(t < 0 ? 0 : 1), middle = theme.surface;
    const auto share = static_cast<float>(std::min(1.0, std::abs(t)));
    const auto mixed = [share](float from, float to) { return from + (to - from) * share; };
    return QColor::fromRgbF(mixed(middle.redF(), end.redF()), mixed(middle.greenF(), end.greenF()), mixed(middle.blueF(), end.blueF()));
}

}  // namespace

HeatColours::HeatColours(const HeatMap& map, const ThemeColours& theme, const Axis& values)
    : m_theme(theme), m_diverging(map.centre.has_value()), m_ranges(heat_map_ranges(map, values)) {}

QColor HeatColours::of(double value) const {
    const auto [low, high] = m_ranges.colours;
    const double t = value / (high - low) - low / (high - low);
    return m_diverging ? divergingOn(m_theme, 2 * t - 1) : ThemeColours::sequential(t);
}

HeatMapMarks::HeatMapMarks(QCPAxis* x, QCPAxis* y, const Figure& figure, const PlotStyle& style)
    : Marks(x, y, 0), m_map(figure.heat_map), m_style(style), m_colours(figure.heat_map, style.colours, figure.y) {}

QVector<QPointF> HeatMapMarks::points() const {
    QVector<QPointF> all;
    for (std::size_t i = 0; i < m_map.values.size(); ++i) all.append({static_cast<double>(i % m_map.columns.size()), m_map.values[i]});
    return all;
}

QRect HeatMapMarks::clipRect() const { return mParentPlot->viewport(); }  // the bar lies outside of the axes; cells are clipped in draw()

QRectF HeatMapMarks::cell(int row, int column) const {
    return QRectF(pixel(column - 0.5, row - 0.5), pixel(column + 0.5, row + 0.5)).normalized();
}

bool HeatMapMarks::valuesFit() const {
    const QRectF one = cell(0, 0);
    const QFontMetricsF metrics(m_style.font);
    if (one.height() < metrics.height() + 2) return false;
    double widest = 0;
    for (const double v : {m_colours.low(), m_colours.high()})
        widest = std::max(widest, metrics.horizontalAdvance(printedNumber(v, m_map.decimals)));
    return widest + 6 <= one.width();
}

void HeatMapMarks::draw(QCPPainter* painter) {
    if (m_map.values.empty()) return;
    painter->save();
    painter->setClipRect(area().adjusted(0, 0, 1, 1), Qt::IntersectClip);
    const QRectF one = cell(0, 0);
    if (std::min(one.width(), one.height()) < finestCell)
        drawFine(painter);
    else
        drawCells(painter);
    painter->restore();
    drawBar(painter);
}

void HeatMapMarks::drawCells(QCPPainter* painter) const {
    const bool values = valuesFit();
    const double gap = cell(0, 0).width() > 12 ? 1 : 0;
    painter->setAntialiasing(false);
    painter->setFont(m_style.font);
    const QRectF inside = area().adjusted(0, 0, 1, 1);
    const auto numRows = static_cast<int>(m_map.rows.size()), numColumns = static_cast<int>(m_map.columns.size());
    for (int r = 0; r < numRows; ++r)
        for (int c = 0; c < numColumns; ++c) {
            const double value = m_map.values[static_cast<std::size_t>(r) * m_map.columns.size() + static_cast<std::size_t>(c)];
            const QRectF rect = cell(r, c);
            if (!std::isfinite(value) || !rect.intersects(area())) continue;
            const QColor colour = m_colours.of(value);
            if (const QRectF filled = rect.adjusted(0, 0, -gap, -gap) & inside; !filled.isEmpty()) painter->fillRect(filled, colour);
            if (!values || !inside.contains(rect.center())) continue;
            painter->setPen(ThemeColours::textOn(colour));
            painter->drawText(rect, Qt::AlignCenter | Qt::TextSingleLine, printedNumber(value, m_map.decimals));
        }
}

/// Cells smaller than a few pixels: one look-up a pixel instead of one rectangle a cell.
void HeatMapMarks::drawFine(QCPPainter* painter) const {
    const QRect rect = area().toRect();
    QImage image(rect.size(), QImage::Format_ARGB32_Premultiplied);
    image.fill(Qt::transparent);
    for (int y = 0; y < rect.height(); ++y) {
        const auto row = static_cast<long>(std::lround(mValueAxis->pixelToCoord(rect.top() + y + 0.5)));
        if (row < 0 || row >= static_cast<long>(m_map.rows.size())) continue;
        for (int x = 0; x < rect.width(); ++x) {
            const auto column = static_cast<long>(std::lround(mKeyAxis->pixelToCoord(rect.left() + x + 0.5)));
            if (column < 0 || column >= static_cast<long>(m_map.columns.size())) continue;
            const double value = m_map.values[static_cast<std::size_t>(row) * m_map.columns.size() + static_cast<std::size_t>(column)];
            if (std::isfinite(value)) image.setPixelColor(x, y, m_colours.of(value));
        }
    }
    painter->drawImage(rect.topLeft(), image);
}

std::vector<Tick> HeatMapMarks::barTicks() const {
    const Range range = m_colours.bar();
    return linear_ticks(range.low, range.high, std::max(2, static_cast<int>(area().height() / 40)));
}

/// Beside the bar and beyond its ends: nothing else stands there.
double HeatMapMarks::titleRoom() const {
    const QRect view = mParentPlot->plotLayout()->rect();
    const double centre = area().center().y();
    return std::max(area().height(), 2 * std::min(centre - view.top(), view.bottom() - centre) - 8);
}

QString HeatMapMarks::barTitle() const { return fittedTitle(heatMapLabel(m_map), titleRoom(), QFontMetricsF(m_style.font)); }

int HeatMapMarks::barRoom() const {
    const QFontMetricsF metrics(m_style.font);
    double widest = 0;
    for (const Tick& tick : barTicks()) widest = std::max(widest, metrics.horizontalAdvance(tickText(tick.label)));
    const QString title = barTitle();
    const double label = title.isEmpty() ? 0 : static_cast<double>(title.count(QLatin1Char('\n')) + 1) * metrics.height() + 6;
    return static_cast<int>(std::ceil(barGap + barWidth + tickLength + 4 + widest + label + 4));
}

void HeatMapMarks::drawBar(QCPPainter* painter) const {
    const QRectF bar(area().right() + barGap, area().top(), barWidth, area().height());
    QLinearGradient gradient(bar.bottomLeft(), bar.topLeft());
    constexpr int stops = 32;
    const Range range = m_colours.bar();
    for (int i = 0; i <= stops; ++i) {
        const double t = static_cast<double>(i) / stops;
        gradient.setColorAt(t, m_colours.of(range.low + (range.high - range.low) * t));
    }
    painter->setAntialiasing(false);
    painter->fillRect(bar, gradient);
    painter->setFont(m_style.font);
    const QFontMetricsF metrics(m_style.font);
    for (const Tick& tick : barTicks()) {
        const double y = bar.bottom() - (tick.value - range.low) / (range.high - range.low) * bar.height();
        painter->setPen(QPen(m_style.colours.secondary, 1));
        painter->drawLine(QLineF(bar.right(), y, bar.right() + tickLength, y));
        painter->drawText(QRectF(bar.right() + tickLength + 4, y - metrics.height() / 2, 100, metrics.height()),
                          Qt::AlignLeft | Qt::AlignVCenter | Qt::TextSingleLine, tickText(tick.label));
    }
    const QString title = barTitle();
    const double room = titleRoom(), high = static_cast<double>(title.count(QLatin1Char('\n')) + 1) * metrics.height();
    painter->save();
    painter->translate(area().right() + barRoom() - high / 2, bar.center().y());
    painter->rotate(-90);
    painter->setPen(m_style.colours.text);
    painter->drawText(QRectF(-room / 2, -high / 2, room, high), Qt::AlignCenter, title);
    painter->restore();
}

}  // namespace faceter::desktop
