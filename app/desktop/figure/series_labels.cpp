#include "figure/series_labels.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "figure/cover_grid.h"
#include "figure/elided_name.h"
#include "figure/figure_plot.h"
#include "figure/marks.h"

namespace faceter::desktop {
namespace {

constexpr double swatchRoom = 20, leastRow = 16, pad = 6, widestName = 150, leastName = 24, usualName = 64, mostLegend = 0.6,
                 wideLegend = 0.35, mostAbove = 0.4, leastAxes = 100, widestPoint = 160;
constexpr int mostDirect = 3, mostMeanRows = 6;

QString meanText(double mean, int further) { return printedNumber(mean, (std::abs(mean) < 10 ? 2 : 1) + further); }

/// What stands behind two spaces is the series' value: a gain with its interval.
QString valueIn(const QString& text) {
    const qsizetype at = text.lastIndexOf(QLatin1String("  "));
    return at < 0 ? QString() : text.mid(at);
}

/// The name in front of a value gives way first.
QString shortened(const QFontMetricsF& metrics, const QString& text, double room) {
    const QString value = valueIn(text);
    const double left = room - metrics.horizontalAdvance(value);
    if (value.isEmpty() || left < leastName) return elidedName(text, metrics, room);
    return elidedName(text.chopped(value.size()), metrics, left) + value;
}

/// Configurations that differ in a value stay apart; what is no name of a run is cut at its end.
QString pointName(const QString& label, const QFontMetricsF& metrics) {
    const QString name = elidedName(label, metrics, widestPoint);
    return name.contains(QLatin1Char('=')) ? name : metrics.elidedText(label, Qt::ElideRight, widestPoint);
}

}  // namespace

SeriesLabels::SeriesLabels(FigurePlot* plot) : QCPLayerable(plot, QStringLiteral("labels")), m_plot(plot) {}

QFontMetricsF SeriesLabels::metrics() const { return QFontMetricsF(m_plot->plotStyle().font); }

/// One of a larger text is higher.
double SeriesLabels::rowHeight() const { return std::max(leastRow, std::ceil(metrics().height())); }

void SeriesLabels::clear() {
    m_form = Form::none;
    m_left = 0;
    m_labels.clear();
}

SeriesLabels::Form SeriesLabels::form() const {
    const int count = m_plot->seriesCount();
    const FigureKind kind = m_plot->figure().kind;
    const auto& series = m_plot->figure().series;
    if (kind == FigureKind::heat_map || kind == FigureKind::box || count == 0) return Form::none;
    if (kind == FigureKind::lines && count <= mostDirect) return count == 1 && series[0].name.empty() ? Form::none : Form::lineEnds;
    if (kind == FigureKind::densities && (count <= mostDirect || m_plot->isCompact()) &&
        std::all_of(series.begin(), series.end(), [](const Series& s) { return s.mean && std::isfinite(*s.mean); }))
        return Form::means;
    if (m_plot->isCompact()) return Form::none;
    if (count == 1) return Form::none;
    return Form::legendInside;
}

QString SeriesLabels::nameOf(int series, double room) const {
    QString name = m_plot->seriesName(series);
    const auto& mean = m_plot->figure().series[static_cast<std::size_t>(series)].mean;
    if (m_form != Form::means && m_plot->figure().kind == FigureKind::densities && mean && std::isfinite(*mean))
        name = name.left(60) + QLatin1Char(' ') + meanText(*mean, m_further);  // many densities: the legend has the means
    return shortened(metrics(), name.isEmpty() ? QStringLiteral("series %1").arg(series + 1) : name.left(300), room);
}

/// More than usual only for a value behind the name, and where bars are: these need less room than lines and points.
double SeriesLabels::roomForName() const {
    if (m_plot->figure().kind != FigureKind::bars) return widestName;
    double value = 0;
    for (int s = 0; s < std::min(m_plot->seriesCount(), 200); ++s)
        value = std::max(value, metrics().horizontalAdvance(valueIn(m_plot->seriesName(s).left(300))));
    if (value <= 0) return widestName;
    const double width = m_plot->viewport().width(), most = mostLegend * width - swatchRoom - 2 * pad;
    const double name = usualName + value <= wideLegend * width ? std::min(widestName, wideLegend * width - value) : usualName;
    return std::max(widestName, std::min(name + value, most));
}

double SeriesLabels::nameWidth() const {
    const double room = roomForName();
    double widest = 0;
    for (int s = 0; s < std::min(m_plot->seriesCount(), 200); ++s) widest = std::max(widest, metrics().horizontalAdvance(nameOf(s, room)));
    return widest;
}

QSizeF SeriesLabels::legendSize() const { return {swatchRoom + nameWidth() + 2 * pad, m_plot->seriesCount() * rowHeight() + 2 * pad - 4}; }

/// Decimals beyond the usual ones, so that means that differ are not written alike.
int SeriesLabels::furtherDecimals() const {
    constexpr int most = 2;
    for (int further = 0; further < most; ++further) {
        std::map<QString, double> written;
        bool alike = false;
        for (const Series& one : m_plot->figure().series) {
            if (!one.mean || !std::isfinite(*one.mean)) continue;
            const auto place = written.emplace(meanText(*one.mean, further), *one.mean);
            alike |= !place.second && place.first->second != *one.mean;
        }
        if (!alike) return further;
    }
    return most;
}

QMargins SeriesLabels::plan() {
    m_form = form();
    m_further = m_plot->figure().kind == FigureKind::densities ? furtherDecimals() : 0;
    m_labels.clear();
    if (m_form == Form::lineEnds) return {0, 0, static_cast<int>(nameWidth()) + 18, 0};
    if (m_form == Form::means) return {0, static_cast<int>(meanRows() * rowHeight()), 0, 0};
    if (m_form != Form::legendInside) return {};
    const QRectF area = m_plot->axisRect()->rect();
    const QSizeF size = legendSize();
    double share = 1;
    if (size.height() < area.height() * 0.6 && size.width() < area.width() * 0.5) leastCovered(size, &share);
    if (share <= (m_plot->figure().kind == FigureKind::scatter ? 0 : 0.04)) return {};  // a line goes on behind it, a point is gone
    const double beside = area.width() - size.width() - 10;
    const bool narrow = m_plot->figure().kind != FigureKind::bars && beside < size.width();
    m_above = std::min(size.height(), area.height() * mostAbove);  // of many names the first: what a line is called is said at the pointer
    m_form = narrow && (m_above == size.height() || beside < leastAxes) ? Form::legendAbove : Form::legendBeside;
    if (m_form == Form::legendAbove) return {0, static_cast<int>(m_above), 0, 0};
    return {0, 0, static_cast<int>(size.width()) + 10, 0};
}

void SeriesLabels::place() {
    const QRectF area = m_plot->axisRect()->rect();
    m_left = 0;
    m_labels.clear();
    if (m_form == Form::lineEnds) placeLineEnds();
    if (m_form == Form::means) placeMeans();
    if (m_form == Form::legendInside) {
        double share = 0;
        placeLegend(leastCovered(legendSize(), &share), legendSize().height());
    }
    if (m_form == Form::legendAbove) {
        const QSizeF size = legendSize();
        const double left = std::min<double>(area.left(), area.right() - size.width());
        placeLegend({std::max<double>(left, m_plot->viewport().left()), area.top() - m_above}, m_above);
    }
    if (m_form == Form::legendBeside) placeLegend({area.right() + 10, area.top()}, area.height());
}

/// The corner or side of the axes where a frame of `size` covers least of what is drawn; corners before sides, right before left.
QPointF SeriesLabels::leastCovered(const QSizeF& size, double* share) const {
    const QRectF area = QRectF(m_plot->axisRect()->rect()).adjusted(4, 4, -4, -4);
    CoverGrid grid(m_plot->axisRect()->rect());
    for (const Marks* marks : m_plot->marks())
        if (marks->visible()) marks->cover(grid);
    const double left = area.left(), right = area.right() - size.width(), top = area.top(), bottom = area.bottom() - size.height();
    const double middleX = (left + right) / 2, middleY = (top + bottom) / 2;
    QPointF best(right, top);
    double least = 2;
    for (const QPointF corner : {QPointF(right, top), QPointF(left, top), QPointF(right, bottom), QPointF(left, bottom),
                                 QPointF(right, middleY), QPointF(left, middleY), QPointF(middleX, top), QPointF(middleX, bottom)}) {
        const double covered = grid.covered(QRectF(corner, size));
        if (covered >= least - 1e-9) continue;
        least = covered;
        best = corner;
    }
    *share = least;
    return best;
}

void SeriesLabels::placeLegend(QPointF corner, double height) {
    const double high = rowHeight();
    const int rows = std::max(1, static_cast<int>((height - 2 * pad + 4) / high));
    const int count = m_plot->seriesCount();
    const int shown = count <= rows ? count : rows - 1;
    m_left = count - shown;
    m_frame = QRectF(corner, QSizeF(legendSize().width(), std::min(height, (shown + (m_left > 0)) * high + 2 * pad - 4)));
    const double room = roomForName();
    for (int s = 0; s < shown; ++s)
        m_labels.append(
            {s, nameOf(s, room), QRectF(corner.x() + pad, corner.y() + pad - 2 + s * high, legendSize().width() - 2 * pad, high), true});
    if (m_left > 0)
        m_labels.append({-1, QObject::tr("and %1 more").arg(m_left),
                         QRectF(corner.x() + pad + swatchRoom, corner.y() + pad - 2 + shown * high, nameWidth(), high), false});
}

/// Where the series leaves the view: the y of its last point that is shown.
double SeriesLabels::endOf(int series) const {
    const double right = m_plot->xAxis->range().upper;
    double y = NAN;
    for (const Marks* marks : m_plot->marks()) {
        if (marks->series() != series || dynamic_cast<const AreaMarks*>(marks)) continue;
        for (const QPointF& p : marks->points())
            if (std::isfinite(p.y()) && p.x() <= right) y = p.y();
    }
    return m_plot->yAxis->coordToPixel(y);
}

void SeriesLabels::placeLineEnds() {
    const double high = rowHeight();
    const QRectF area = m_plot->axisRect()->rect();
    for (int s = 0; s < m_plot->seriesCount(); ++s) {
        const double end = endOf(s);
        const bool shown = m_plot->isSeriesVisible(s) && std::isfinite(end);
        const double y = shown ? std::clamp(end, area.top() + 4, area.bottom() - 4) : area.bottom() - 4;
        const QString text = nameOf(s, widestName);
        m_labels.append({s, text, QRectF(area.right() + 7, y - high / 2, metrics().horizontalAdvance(text) + 2, high), false});
    }
    std::stable_sort(m_labels.begin(), m_labels.end(), [](const Label& a, const Label& b) { return a.box.top() < b.box.top(); });
    // Down where they overlap, then up again from the bottom.
    for (qsizetype i = 1; i < m_labels.size(); ++i)
        m_labels[i].box.moveTop(std::max(m_labels[i].box.top(), m_labels[i - 1].box.bottom() - 2));
    double floor = area.bottom() + high / 2;
    for (qsizetype i = m_labels.size(); i-- > 0;) {
        if (m_labels[i].box.bottom() > floor) m_labels[i].box.moveBottom(floor);
        floor = m_labels[i].box.top() + 2;
    }
}

/// One label a mean, right of its line or left where there is no room, in the lowest row where it touches no other label or line.
QVector<SeriesLabels::Label> SeriesLabels::meanLabels() const {
    const QRectF area = m_plot->axisRect()->rect();
    QVector<Label> all;
    for (int s = 0; s < m_plot->seriesCount(); ++s) {
        const Series& one = m_plot->figure().series[static_cast<std::size_t>(s)];
        const double x = m_plot->xAxis->coordToPixel(*one.mean);
        if (!(x >= area.left() && x <= area.right() + 1)) continue;
        const QString value = meanText(*one.mean, m_further);
        const QString text =
            m_plot->seriesName(s).isEmpty() || m_plot->isCompact() ? value : nameOf(s, widestName) + QLatin1Char(' ') + value;
        const double width = metrics().horizontalAdvance(text) + 2;
        const bool toTheLeft = x + 4 + width > m_plot->viewport().width() - 4;
        all.append({s, text, QRectF(toTheLeft ? x - 4 - width : x + 4, 0, width, rowHeight()), false, x});
    }
    // Who stands right of its stem is placed from the right, who had to go to the left of it from the left: then a stem ends below the
    // labels over it.
    const auto isLeft = [](const Label& label) { return label.box.left() < label.stemX; };
    std::stable_sort(all.begin(), all.end(), [&](const Label& a, const Label& b) {
        if (isLeft(a) != isLeft(b)) return isLeft(b);
        return isLeft(a) ? a.stemX < b.stemX : a.stemX > b.stemX;
    });
    for (qsizetype i = 0; i < all.size(); ++i) {
        int row = 0;
        const auto overlaps = [&](const Label& other) {
            return other.box.top() == row * rowHeight() && all[i].box.left() - 4 < other.box.right() &&
                   all[i].box.right() + 4 > other.box.left();
        };
        const auto collides = [&](const Label& other) {
            const QRectF a = all[i].box.adjusted(-4, 0, 4, 0);
            const bool overOthersStem = other.stemX > a.left() && other.stemX < a.right() && other.box.top() >= row * rowHeight();
            const bool stemThroughOther =
                all[i].stemX > other.box.left() - 3 && all[i].stemX < other.box.right() + 3 && other.box.top() <= row * rowHeight();
            return overlaps(other) || overOthersStem || (stemThroughOther && other.box.top() < row * rowHeight());
        };
        while (row < mostMeanRows && std::any_of(all.begin(), all.begin() + i, collides)) ++row;
        if (row == mostMeanRows)  // a stem through a label, then, rather than no room for the curves
            for (row = 0; row < mostMeanRows && std::any_of(all.begin(), all.begin() + i, overlaps);) ++row;
        all[i].box.moveTop(row * rowHeight());
    }
    return all;
}

int SeriesLabels::meanRows() {
    double rows = 0;
    for (const Label& label : meanLabels()) rows = std::max(rows, label.box.top() / rowHeight() + 1);
    return static_cast<int>(rows);
}

void SeriesLabels::placeMeans() {
    m_labels = meanLabels();
    const double top = m_plot->axisRect()->rect().top();
    for (Label& label : m_labels) label.box.moveTop(top - rowHeight() - label.box.top());  // row 0 lies next to the axes
}

int SeriesLabels::seriesAt(const QPointF& position) const {
    for (const Label& label : m_labels)
        if (label.series >= 0 && label.box.adjusted(-3, 0, 3, 0).contains(position)) return label.series;
    return -1;
}

void SeriesLabels::drawSwatch(QCPPainter* painter, const QRectF& box, int series) const {
    const PlotStyle& style = m_plot->plotStyle();
    const Figure& figure = m_plot->figure();
    const bool shown = m_plot->isSeriesVisible(series);
    const QColor colour = shown ? style.series(figure, series) : style.colours.line;
    const double y = box.center().y();
    painter->setAntialiasing(true);
    if (figure.kind == FigureKind::lines) {
        QPen pen = style.seriesPen(figure, series);
        pen.setColor(colour);
        painter->setPen(pen);
        painter->drawLine(QLineF(box.left(), y, box.left() + 14, y));
    } else if (figure.kind == FigureKind::scatter) {
        painter->setPen(Qt::NoPen);
        painter->setBrush(withOpacity(colour, shown ? 0.85 : 1));
        painter->drawEllipse(QPointF(box.left() + 7, y), 3.5, 3.5);
    } else {
        const bool density = figure.kind == FigureKind::densities;
        painter->setPen(density ? QPen(colour, lineWidth) : QPen(Qt::NoPen));
        painter->setBrush(withOpacity(colour, !shown ? 1 : density ? fillOpacity : barOpacity));
        const QRectF swatch(box.left() + 2, y - 4.5, 10, 9);
        painter->drawRect(swatch);
        if (figure.kind == FigureKind::bars) drawHatch(painter, swatch, style.place(figure, series), style.colours.surface);
    }
    painter->setAntialiasing(false);
}

void SeriesLabels::drawLabel(QCPPainter* painter, const Label& label) const {
    const PlotStyle& style = m_plot->plotStyle();
    const bool shown = label.series < 0 || m_plot->isSeriesVisible(label.series);
    if (label.swatch) drawSwatch(painter, label.box, label.series);
    QColor colour = label.swatch || label.series < 0 ? style.colours.text : style.seriesText(m_plot->figure(), label.series);
    if (label.series < 0) colour = style.colours.secondary;
    if (!shown) colour = withOpacity(style.colours.secondary, 0.6);
    QFont font = style.font;
    font.setStrikeOut(!shown);
    painter->setFont(font);
    painter->setPen(colour);
    painter->drawText(label.box.adjusted(label.swatch ? swatchRoom : 0, 0, 2, 0),
                      Qt::AlignLeft | Qt::AlignVCenter | Qt::TextSingleLine | Qt::TextDontClip, label.text);
    if (label.stemX <= 0 || !shown) return;
    QPen dashed(style.series(m_plot->figure(), label.series), 1);
    dashed.setDashPattern({4, 3});
    const double bottom = m_plot->axisRect()->rect().top(), top = label.box.top() + 2;
    dashed.setDashOffset(7 - std::fmod(bottom - top, 7));  // the dashes of the mean's line go on without a break
    painter->setAntialiasing(true);
    painter->setPen(dashed);
    painter->drawLine(QLineF(label.stemX, top, label.stemX, bottom));
    painter->setAntialiasing(false);
}

void SeriesLabels::draw(QCPPainter* painter) {
    if (m_form == Form::legendInside && !m_labels.isEmpty())
        painter->fillRect(m_frame, withOpacity(m_plot->plotStyle().colours.surface, 0.85));
    for (const Label& label : m_labels) drawLabel(painter, label);
    if (m_plot->hasValues() && m_plot->figure().kind == FigureKind::scatter) drawPointLabels(painter);
}

/// Right, left, above or below its point, whichever is free first; a label without room stays in the tooltip.
void SeriesLabels::drawPointLabels(QCPPainter* painter) const {
    const QRectF area = m_plot->axisRect()->rect();
    const QFontMetricsF small(m_plot->plotStyle().smallFont());
    QVector<QRectF> taken;
    if (m_form == Form::legendInside) taken << m_frame;
    QVector<std::pair<QPointF, QString>> wanted;
    for (const Marks* marks : m_plot->marks()) {
        if (!marks->visible()) continue;
        const auto& labels = m_plot->figure().series[static_cast<std::size_t>(marks->series())].labels;
        const QVector<QPointF> points = marks->points();
        for (qsizetype i = 0; i < points.size() && taken.size() < 2000; ++i) {
            const QPointF at(m_plot->xAxis->coordToPixel(points[i].x()), m_plot->yAxis->coordToPixel(points[i].y()));
            if (!area.contains(at)) continue;
            taken << QRectF(at.x() - 4, at.y() - 4, 8, 8);
            if (!labels.empty()) wanted.append({at, pointName(plainText(labels[static_cast<std::size_t>(i)]).left(200), small)});
        }
    }
    painter->setFont(m_plot->plotStyle().smallFont());
    painter->setPen(m_plot->plotStyle().colours.secondary);
    for (const auto& [at, text] : wanted) {
        const QSizeF size(small.horizontalAdvance(text) + 2, small.height());
        for (const QPointF corner :
             {QPointF(at.x() + 6, at.y() - size.height() / 2), QPointF(at.x() - 6 - size.width(), at.y() - size.height() / 2),
              QPointF(at.x() - size.width() / 2, at.y() - 5 - size.height()), QPointF(at.x() - size.width() / 2, at.y() + 5)}) {
            const QRectF box(corner, size);
            const bool free = area.adjusted(0, -4, m_plot->viewport().width() - area.right(), 0).contains(box) &&
                              std::none_of(taken.begin(), taken.end(), [&](const QRectF& other) { return other.intersects(box); });
            if (!free) continue;
            painter->drawText(box, Qt::AlignCenter | Qt::TextSingleLine | Qt::TextDontClip, text);
            taken << box;
            break;
        }
    }
}

}  // namespace faceter::desktop
