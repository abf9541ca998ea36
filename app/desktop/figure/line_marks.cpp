#include <algorithm>
#include <cmath>

#include "figure/cover_grid.h"
#include "figure/marks.h"

namespace faceter::desktop {
namespace {

void coverLines(CoverGrid& grid, const std::vector<QPolygonF>& lines, const QRectF& area) {
    for (const QPolygonF& line : lines)
        for (qsizetype i = 1; i < line.size(); ++i)
            if (QRectF(line[i - 1], line[i]).normalized().adjusted(-1, -1, 1, 1).intersects(area)) grid.addLine(line[i - 1], line[i]);
}

/// The pen for lines that go up and down all over the plot: strokes of a wide pen that cover each other cost much and show nothing more.
QPen penFor(const std::vector<QPolygonF>& runs, QPen pen, const QRectF& area) {
    constexpr double restless = 25;  // times the plot's width
    double length = 0;
    for (const QPolygonF& run : runs)
        for (qsizetype i = 1; i < run.size(); ++i) length += std::min(std::abs(run[i].y() - run[i - 1].y()), area.height());
    if (length > restless * area.width()) pen.setWidthF(1);
    return pen;
}

void drawRuns(QCPPainter* painter, const std::vector<QPolygonF>& runs, const QRectF& area) {
    for (const QPolygonF& run : runs) {
        if (run.size() > 1) {
            drawClipped(painter, run, area);
            continue;
        }
        // A point alone between gaps would be a line of no length. Where it stands at an end of an axis, it is whole as well.
        if (!area.adjusted(-1, -1, 1, 1).contains(run.first())) continue;
        painter->save();
        constexpr double reach = 3;
        painter->setClipRect(area.adjusted(-reach, -reach, reach, reach));
        painter->setBrush(painter->pen().color());
        painter->setPen(Qt::NoPen);
        painter->drawEllipse(run.first(), 2, 2);
        painter->restore();
    }
}

}  // namespace

LineMarks::LineMarks(QCPAxis* x, QCPAxis* y, int series, std::vector<double> xs, std::vector<double> ys, const QPen& pen)
    : Marks(x, y, series), m_xs(std::move(xs)), m_ys(std::move(ys)) {
    setPen(pen);
    m_ascending =
        std::is_sorted(m_xs.begin(), m_xs.end()) && std::none_of(m_xs.begin(), m_xs.end(), [](double v) { return std::isnan(v); });
}

QVector<QPointF> LineMarks::points() const {
    QVector<QPointF> all;
    for (std::size_t i = 0; i < m_xs.size(); ++i) all.append({m_xs[i], m_ys[i]});
    return all;
}

std::vector<QPolygonF> LineMarks::runs() const {
    std::size_t from = 0, to = m_xs.size();
    if (m_ascending) {
        const QCPRange shown = mKeyAxis->range();
        from = static_cast<std::size_t>(std::lower_bound(m_xs.begin(), m_xs.end(), shown.lower) - m_xs.begin());
        to = static_cast<std::size_t>(std::upper_bound(m_xs.begin(), m_xs.end(), shown.upper) - m_xs.begin());
        from -= from > 0;
        to += to < m_xs.size();
    }
    std::vector<QPolygonF> all(1);
    for (std::size_t i = from; i < to; ++i) {
        if (fits(m_xs[i], m_ys[i]))
            all.back().append(pixel(m_xs[i], m_ys[i]));
        else if (!all.back().isEmpty())
            all.emplace_back();
    }
    if (all.back().isEmpty()) all.pop_back();
    return all;
}

void LineMarks::cover(CoverGrid& grid) const { coverLines(grid, runs(), area()); }

void LineMarks::draw(QCPPainter* painter) {
    applyDefaultAntialiasingHint(painter);
    const auto lines = runs();
    painter->setPen(penFor(lines, mPen, area()));
    painter->setBrush(Qt::NoBrush);
    drawRuns(painter, lines, area());
}

SampledMarks::SampledMarks(QCPAxis* x, QCPAxis* y, int series, std::shared_ptr<const SeriesPyramid> points, const QPen& pen)
    : Marks(x, y, series), m_pyramid(std::move(points)) {
    setPen(pen);
}

/// Does the last sample reach over what is shown, at a resolution near the screen's?
bool SampledMarks::sampleServes() const {
    if (m_sampleColumns == 0) return false;
    const QCPRange shown = mKeyAxis->range();
    if (shown.lower < m_sample.xMin || shown.upper > m_sample.xMax) return false;
    const double pixels = std::abs(mKeyAxis->coordToPixel(m_sample.xMax) - mKeyAxis->coordToPixel(m_sample.xMin));
    return pixels < 1.3 * m_sampleColumns && pixels > 0.2 * m_sampleColumns;
}

void SampledMarks::request() {
    if (sampleServes()) return;
    const QCPRange shown = mKeyAxis->range();
    const bool logarithmic = mKeyAxis->scaleType() == QCPAxis::stLogarithmic;
    // Half a screen more on both sides, so that a pan seldom needs another sample.
    const double low = logarithmic ? shown.lower / std::sqrt(shown.upper / shown.lower) : shown.lower - shown.size() / 2;
    const double high = logarithmic ? shown.upper * std::sqrt(shown.upper / shown.lower) : shown.upper + shown.size() / 2;
    m_sampleColumns = std::max(64, static_cast<int>(2 * area().width()));
    m_sample = m_pyramid->sample(low, high, m_sampleColumns, logarithmic);
}

QVector<QPointF> SampledMarks::points() const {
    QVector<QPointF> all;
    for (const SeriesColumn& c : m_sample.columns) {
        all.append({c.xFirst, c.first});
        if (c.xLast > c.xFirst) all.append({c.xLast, c.last});
    }
    return all;
}

std::vector<QPolygonF> SampledMarks::runs() const {
    std::vector<QPolygonF> all(1);
    const QCPRange shown = mKeyAxis->range();
    const auto add = [&](double x, double y) {
        if (fits(x, y)) all.back().append(pixel(x, y));
    };
    for (std::size_t i = 0; i < m_sample.columns.size(); ++i) {
        const SeriesColumn& c = m_sample.columns[i];
        const bool leftOut = i + 1 < m_sample.columns.size() && m_sample.columns[i + 1].xLast < shown.lower;
        const bool rightOut = i > 0 && m_sample.columns[i - 1].xFirst > shown.upper;
        if (leftOut || rightOut) continue;
        if (c.followsGap && !all.back().isEmpty()) all.emplace_back();
        add(c.xFirst, c.first);
        if (!(c.xLast > c.xFirst)) continue;
        const double middle = c.xFirst + (c.xLast - c.xFirst) / 2;
        const bool rising = c.last >= c.first;
        add(middle, rising ? c.min : c.max);
        add(middle, rising ? c.max : c.min);
        add(c.xLast, c.last);
    }
    if (all.back().isEmpty()) all.pop_back();
    return all;
}

void SampledMarks::cover(CoverGrid& grid) const { coverLines(grid, runs(), area()); }

void SampledMarks::draw(QCPPainter* painter) {
    applyDefaultAntialiasingHint(painter);
    const auto lines = runs();
    painter->setPen(penFor(lines, mPen, area()));
    painter->setBrush(Qt::NoBrush);
    drawRuns(painter, lines, area());
}

AreaMarks::AreaMarks(QCPAxis* x, QCPAxis* y, int series, std::vector<double> xs, std::vector<double> low, std::vector<double> high,
                     const QColor& fill)
    : Marks(x, y, series), m_xs(std::move(xs)), m_low(std::move(low)), m_high(std::move(high)) {
    setBrush(fill);
    setPen(Qt::NoPen);
}

QVector<QPointF> AreaMarks::points() const {
    QVector<QPointF> all;
    for (std::size_t i = 0; i < m_xs.size(); ++i) all << QPointF(m_xs[i], m_low[i]) << QPointF(m_xs[i], m_high[i]);
    return all;
}

std::vector<QPolygonF> AreaMarks::areas() const {
    static constexpr double farAway = 1e6;  // pixels; beyond that QPainter's own clipping gives up
    const auto tame = [](QPointF p) { return QPointF(std::clamp(p.x(), -farAway, farAway), std::clamp(p.y(), -farAway, farAway)); };
    std::vector<QPolygonF> all;
    for (std::size_t i = 0; i < m_xs.size();) {
        QPolygonF upper, lower;
        for (; i < m_xs.size() && fits(mKeyAxis, m_xs[i]) && intervalFits(m_low[i], m_high[i]); ++i) {
            upper.append(tame(pixel(m_xs[i], m_high[i])));
            lower.prepend(tame({upper.last().x(), lowPixel(m_low[i])}));
        }
        if (upper.size() > 1) all.push_back(upper + lower);
        if (i < m_xs.size() && upper.isEmpty()) ++i;
    }
    return all;
}

void AreaMarks::cover(CoverGrid& grid) const {
    for (const QPolygonF& polygon : areas())
        for (qsizetype i = 0, j = polygon.size() - 1; i < j; ++i, --j) grid.addLine(polygon[i], polygon[j]);
}

void AreaMarks::draw(QCPPainter* painter) {
    applyFillAntialiasingHint(painter);
    painter->setPen(Qt::NoPen);
    painter->setBrush(mBrush);
    for (const QPolygonF& polygon : areas()) painter->drawPolygon(isUnclipped(painter) ? polygon.intersected(area()) : polygon);
}

void MeanMarks::cover(CoverGrid& grid) const {
    const double x = mKeyAxis->coordToPixel(m_mean);
    grid.addLine({x, area().top()}, {x, area().bottom()});
}

void MeanMarks::draw(QCPPainter* painter) {
    if (!fits(mKeyAxis, m_mean)) return;
    applyDefaultAntialiasingHint(painter);
    const double x = mKeyAxis->coordToPixel(m_mean);
    if (x < area().left() || x > area().right()) return;
    painter->setPen(mPen);
    painter->drawLine(QLineF(x, area().top(), x, area().bottom() + 1));
}

}  // namespace faceter::desktop
