#include "figure/figure_hover.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>

#include "figure/figure_plot.h"
#include "figure/marks.h"
#include "figure/plot_style.h"
#include "figure/svg_plot.h"

namespace faceter::desktop {
namespace {

constexpr double reach = 24;  // pixels to the nearest point of a scatter plot
const QChar thinSpace(0x2009);

QString text(const char* source) { return QCoreApplication::translate("FigureHover", source); }

QString interval(double low, double high) { return QStringLiteral(" [%1, %2]").arg(exactNumber(low), exactNumber(high)); }

HoverPoint pointOf(const FigurePlot& plot, int series, double x, double y) {
    const PlotStyle& style = plot.plotStyle();
    return {series,
            x,
            y,
            {plot.xAxis->coordToPixel(x), plot.yAxis->coordToPixel(y)},
            style.series(plot.figure(), series),
            plot.seriesName(series),
            exactNumber(y)};
}

HoverPoint pointOfSeries(const FigurePlot& plot, int series, std::size_t i) {
    const Series& one = plot.figure().series[static_cast<std::size_t>(series)];
    HoverPoint point = pointOf(plot, series, i < one.x.size() ? one.x[i] : static_cast<double>(i), one.y[i]);
    if (!one.low.empty() && std::isfinite(one.low[i]) && std::isfinite(one.high[i])) point.value += interval(one.low[i], one.high[i]);
    if (!one.labels.empty() && !one.labels[i].empty()) point.name = plainText(one.labels[i]) + QStringLiteral(" · ") + point.name;
    return point;
}

/// The finite point nearest to x; ascending x is searched, other x are looked through.
std::optional<std::size_t> nearestIndex(const Series& one, double x) {
    std::optional<std::size_t> best;
    const auto consider = [&](std::size_t i) {
        if (i >= one.y.size() || !std::isfinite(one.y[i]) || !std::isfinite(one.x[i])) return;
        if (!best || std::abs(one.x[i] - x) < std::abs(one.x[*best] - x)) best = i;
    };
    for (std::size_t i = 0; i < one.y.size(); ++i) consider(i);
    return best;
}

std::optional<HoverPoint> pointOfSample(const FigurePlot& plot, const SampledMarks& marks, double x) {
    const auto& columns = marks.sample().columns;
    const auto after = std::lower_bound(columns.begin(), columns.end(), x, [](const SeriesColumn& c, double v) { return c.xLast < v; });
    if (columns.empty()) return std::nullopt;
    auto best = after == columns.end() ? std::prev(after) : after;
    if (best != columns.begin() && std::abs(std::prev(best)->xLast - x) < std::abs(best->xFirst - x) && x < best->xFirst) --best;
    HoverPoint point = pointOf(plot, marks.series(), best->xFirst, best->first);
    if (best->min < best->max) point.value = text("%1 to %2").arg(exactNumber(best->min), exactNumber(best->max));
    return point;
}

Hover alongX(const FigurePlot& plot, double x) {
    Hover hover;
    hover.points = pointsAt(plot, x);
    if (hover.points.isEmpty()) return hover;
    const auto nearest = std::min_element(hover.points.begin(), hover.points.end(),
                                          [x](const HoverPoint& a, const HoverPoint& b) { return std::abs(a.x - x) < std::abs(b.x - x); });
    const QString title = axisTitle(plot.figure().x);
    hover.heading = (title.isEmpty() ? QString() : title + QLatin1Char(' ')) + exactNumber(nearest->x);
    for (HoverPoint& point : hover.points)
        if (point.x != nearest->x && plot.figure().kind == FigureKind::lines) point.value += QStringLiteral(" at ") + exactNumber(point.x);
    return hover;
}

Hover nearestPoint(const FigurePlot& plot, const QPointF& position) {
    double least = reach;
    Hover hover;
    for (int s = 0; s < plot.seriesCount(); ++s) {
        const Series& one = plot.figure().series[static_cast<std::size_t>(s)];
        for (std::size_t i = 0; plot.isSeriesVisible(s) && i < one.y.size(); ++i) {
            const QPointF at(plot.xAxis->coordToPixel(one.x[i]), plot.yAxis->coordToPixel(one.y[i]));
            const double distance = std::hypot(at.x() - position.x(), at.y() - position.y());
            if (!(distance < least)) continue;
            least = distance;
            hover.points = {pointOfSeries(plot, s, i)};
        }
    }
    for (HoverPoint& point : hover.points) point.value = exactNumber(point.x) + QStringLiteral(", ") + point.value;
    return hover;
}

Hover category(const FigurePlot& plot, const QPointF& position) {
    Hover hover;
    const auto names = category_names(plot.figure());
    const double place = std::round(plot.xAxis->pixelToCoord(position.x()));
    if (!(place >= 0 && place < static_cast<double>(names.size()))) return hover;
    const auto i = static_cast<std::size_t>(place);
    hover.heading = plainText(names[i]);
    for (int s = 0; s < plot.seriesCount(); ++s)
        if (plot.isSeriesVisible(s)) hover.points.append(pointOfSeries(plot, s, i));
    return hover;
}

Hover box(const FigurePlot& plot, const QPointF& position) {
    Hover hover;
    for (const Marks* marks : plot.marks()) {
        const auto* one = dynamic_cast<const BoxMarks*>(marks);
        if (!one || !one->visible() || one->points().isEmpty()) continue;
        if (std::abs(plot.xAxis->pixelToCoord(position.x()) - one->series()) > 0.5) continue;
        const BoxShape& shape = one->shape();
        hover.heading = plot.seriesName(one->series());
        for (const auto& [name, value] : {std::pair{text("upper whisker"), shape.high}, std::pair{text("third quartile"), shape.q3},
                                          std::pair{text("median"), shape.median}, std::pair{text("first quartile"), shape.q1},
                                          std::pair{text("lower whisker"), shape.low}}) {
            HoverPoint point = pointOf(plot, one->series(), one->series(), value);
            point.name = name;
            hover.points.append(point);
        }
        if (!shape.outliers.empty()) {
            HoverPoint point = pointOf(plot, one->series(), one->series(), static_cast<double>(shape.outliers.size()));
            point.name = text("outliers");
            hover.points.append(point);
        }
    }
    return hover;
}

Hover cell(const FigurePlot& plot, const QPointF& position) {
    const HeatMap& map = plot.figure().heat_map;
    const double row = std::round(plot.yAxis->pixelToCoord(position.y())), column = std::round(plot.xAxis->pixelToCoord(position.x()));
    Hover hover;
    if (!(row >= 0 && column >= 0 && row < static_cast<double>(map.rows.size()) && column < static_cast<double>(map.columns.size())))
        return hover;
    const auto r = static_cast<std::size_t>(row), c = static_cast<std::size_t>(column);
    hover.heading = plainText(map.rows[r]) + QStringLiteral(" · ") + plainText(map.columns[c]);
    HoverPoint point;
    point.x = column;
    point.y = map.values[r * map.columns.size() + c];
    point.pixel = position;
    point.name = plainText(map.label);
    point.value = exactNumber(point.y) + (map.unit.empty() ? QString() : thinSpace + plainText(map.unit));
    hover.points.append(point);
    return hover;
}

}  // namespace

QVector<HoverPoint> pointsAt(const FigurePlot& plot, double x) {
    QVector<HoverPoint> all;
    const FigureKind kind = plot.figure().kind;
    if (kind != FigureKind::lines && kind != FigureKind::densities) return all;
    for (const Marks* marks : plot.marks()) {
        if (!marks->visible()) continue;
        if (const auto* sampled = dynamic_cast<const SampledMarks*>(marks)) {
            if (const auto point = pointOfSample(plot, *sampled, x)) all.append(*point);
        } else if (dynamic_cast<const LineMarks*>(marks)) {
            const Series& one = plot.figure().series[static_cast<std::size_t>(marks->series())];
            if (const auto i = nearestIndex(one, x)) all.append(pointOfSeries(plot, marks->series(), *i));
        }
    }
    return all;
}

Hover hoverAt(const FigurePlot& plot, const QPointF& position) {
    if (!plot.hasValues() || !QRectF(plot.axisRect()->rect()).contains(position)) return {};
    switch (plot.figure().kind) {
        case FigureKind::lines:
        case FigureKind::densities:
            return alongX(plot, plot.xAxis->pixelToCoord(position.x()));
        case FigureKind::bars:
            return category(plot, position);
        case FigureKind::scatter:
            return nearestPoint(plot, position);
        case FigureKind::box:
            return box(plot, position);
        case FigureKind::heat_map:
            return cell(plot, position);
    }
    return {};
}

QString Hover::text() const {
    QStringList lines;
    if (!heading.isEmpty()) lines << heading;
    for (const HoverPoint& point : points) lines << (point.name.isEmpty() ? point.value : point.name + QStringLiteral(": ") + point.value);
    return lines.join(QLatin1Char('\n'));
}

QString Hover::html() const {
    constexpr qsizetype mostLines = 20, longestName = 120;
    QString body;
    if (!heading.isEmpty())
        body += QStringLiteral("<tr><td colspan='3'>") + heading.left(longestName).toHtmlEscaped() + QStringLiteral("</td></tr>");
    for (const HoverPoint& point : points.mid(0, mostLines))
        body +=
            QStringLiteral("<tr><td style='color:%1'>%2</td><td style='padding-right:12px'>%3</td><td align='right'><b>%4</b></td></tr>")
                .arg(point.colour.isValid() ? point.colour.name() : QStringLiteral("transparent"),
                     point.colour.isValid() ? QStringLiteral("■") : QString(), point.name.left(longestName).toHtmlEscaped(),
                     point.value.toHtmlEscaped());
    if (points.size() > mostLines) body += QStringLiteral("<tr><td></td><td>and %1 more</td><td></td></tr>").arg(points.size() - mostLines);
    return QStringLiteral("<table style='white-space:pre' cellspacing='0' cellpadding='1'>") + body + QStringLiteral("</table>");
}

}  // namespace faceter::desktop
