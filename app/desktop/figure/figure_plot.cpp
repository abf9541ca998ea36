#include "figure/figure_plot.h"

#include <algorithm>
#include <cmath>

#include "figure/caption.h"
#include "figure/heat_map_marks.h"
#include "figure/marks.h"
#include "figure/overlay.h"
#include "figure/plot_axes.h"
#include "figure/series_labels.h"
#include "theme/theme.h"

namespace faceter::desktop {
namespace {

constexpr std::size_t manyPoints = 20000;  // from here on a line is drawn through a pyramid
constexpr int margin = 12;

/// Has the figure a point, bar, box or cell that can be drawn?
bool anyDrawable(const Figure& figure) {
    if (figure.kind != FigureKind::lines && figure.kind != FigureKind::densities && figure.kind != FigureKind::scatter)
        return has_data(figure);
    return std::any_of(figure.series.begin(), figure.series.end(), [](const Series& s) {
        for (std::size_t i = 0; i < s.y.size(); ++i)
            if (std::isfinite(s.x[i]) && std::isfinite(s.y[i])) return true;
        return false;
    });
}

bool isLong(const Series& series) { return series.y.size() > manyPoints && std::is_sorted(series.x.begin(), series.x.end()); }
bool usesLines(const Figure& figure) { return figure.kind == FigureKind::lines; }

}  // namespace

FigurePlot::FigurePlot(QWidget* parent) : QCustomPlot(parent) {
    m_style.font = Theme::plotFont();
    setAutoAddPlottableToLegend(false);
    setNotAntialiasedElements(QCP::aeAxes | QCP::aeGrid | QCP::aeSubGrid);
    setPlottingHint(QCP::phCacheLabels, false);  // cached labels are bitmaps, blurred on screens of high density
    setFocusPolicy(Qt::NoFocus);
    addLayer(QStringLiteral("labels"), layer(QStringLiteral("axes")), QCustomPlot::limAbove);
    addLayer(QStringLiteral("cursor"), layer(QStringLiteral("overlay")), QCustomPlot::limAbove);
    layer(QStringLiteral("cursor"))->setMode(QCPLayer::lmBuffered);
    m_caption = new Caption(this);
    m_labels = new SeriesLabels(this);
    m_overlay = new Overlay(this);
    connect(this, &QCustomPlot::beforeReplot, this, &FigurePlot::plan);
    rebuild(false, false);
}

void FigurePlot::setFigure(const Figure& figure, bool keepView) {
    const bool sameAxes = figure.kind == m_figure.kind && figure.x.log == m_figure.x.log && figure.y.log == m_figure.y.log &&
                          figure.x.categories == m_figure.x.categories;
    const bool keep = keepView && sameAxes;
    const std::set<std::string> hidden = keep ? hiddenNames() : std::set<std::string>();
    const bool movedX = !(xAxis->range() == m_home[0]), movedY = !(yAxis->range() == m_home[1]);
    m_figure = figure;
    m_pyramids.clear();
    m_hidden.resize(static_cast<qsizetype>(figure.series.size()));
    for (std::size_t i = 0; i < figure.series.size(); ++i) m_hidden[static_cast<qsizetype>(i)] = hidden.contains(figure.series[i].name);
    rebuild(keep && movedX, keep && movedY);
}

std::set<std::string> FigurePlot::hiddenNames() const {
    std::set<std::string> names;
    for (std::size_t i = 0; i < m_figure.series.size(); ++i)
        if (!isSeriesVisible(static_cast<int>(i))) names.insert(m_figure.series[i].name);
    return names;
}

void FigurePlot::setColours(const ThemeColours& colours) {
    m_style.colours = colours;
    rebuild(true, true);
    replot(rpQueuedReplot);
}

void FigurePlot::setTextSize(int pixels) {
    m_style.font.setPixelSize(pixels);
    rebuild(true, true);
    replot(rpQueuedReplot);
}

void FigurePlot::setReferenceMarks(const QVector<ReferenceMark>& marks) {
    m_referenceMarks = marks;
    takeHome();
    resetRanges();
    replot(rpQueuedReplot);
}

void FigurePlot::setTitleShown(bool shown) {
    m_titleShown = shown;
    replot(rpQueuedReplot);
}

void FigurePlot::setNotesShown(bool shown) {
    m_notesShown = shown;
    replot(rpQueuedReplot);
}

void FigurePlot::setCompact(bool compact) {
    m_compact = compact;
    rebuild(false, false);
    replot(rpQueuedReplot);
}

int FigurePlot::seriesCount() const { return m_figure.kind == FigureKind::heat_map ? 0 : static_cast<int>(m_figure.series.size()); }

QString FigurePlot::seriesName(int series) const { return plainText(m_figure.series[static_cast<std::size_t>(series)].name); }

int FigurePlot::seriesLabelAt(const QPointF& position) const { return m_labels->seriesAt(position); }

int FigurePlot::lackingHeight() const { return static_cast<int>(std::ceil(m_labels->lackingHeight())); }

bool FigurePlot::isSeriesVisible(int series) const { return series < 0 || series >= m_hidden.size() || !m_hidden[series]; }

void FigurePlot::setSeriesVisible(int series, bool visible) {
    if (series < 0 || series >= m_hidden.size()) return;
    m_hidden[series] = !visible;
    applyVisibility();
    replot(rpQueuedReplot);
}

void FigurePlot::applyVisibility() {
    for (Marks* marks : m_marks) marks->setVisible(isSeriesVisible(marks->series()));
}

void FigurePlot::resetRanges() {
    xAxis->setRange(m_home[0]);
    yAxis->setRange(m_home[1]);
}

/// A range that is kept is not touched: who follows it must not hear of a change that is none.
void FigurePlot::rebuild(bool keepX, bool keepY) {
    m_marks.clear();
    clearPlottables();
    m_emptyText.clear();
    try {
        m_figure.validate();
        m_hasValues = anyDrawable(m_figure);
    } catch (const std::exception& error) {
        m_emptyText = plainText(error.what());
        m_hasValues = false;
    }
    if (!m_hasValues && m_emptyText.isEmpty()) m_emptyText = m_emptyReason.isEmpty() ? tr("no values") : m_emptyReason;
    setBackground(m_style.colours.surface);
    for (QCPAxis* axis : {xAxis, yAxis}) axis->setVisible(m_hasValues);
    if (m_hasValues) dressAxes(xAxis, yAxis, m_figure, m_style);
    if (m_compact) {
        yAxis->setVisible(false);
        xAxis->setLabel({});
    }
    takeHome();
    if (!keepX || !m_hasValues) xAxis->setRange(m_home[0]);
    if (!keepY || !m_hasValues) yAxis->setRange(m_home[1]);
    if (m_hasValues) addMarks();
    applyVisibility();
}

void FigurePlot::takeHome() {
    m_home[0] = m_home[1] = QCPRange(0, 1);
    if (!m_hasValues) return;
    Figure seen;  // the ends that axes name, and all that must be seen: the data, the reference marks
    seen.kind = m_figure.kind;
    seen.x = m_figure.x;
    seen.y = m_figure.y;
    seen.series = m_figure.series;
    seen.heat_map = m_figure.heat_map;
    for (const ReferenceMark& mark : m_referenceMarks) {
        Series one;
        (mark.orientation == Qt::Horizontal ? one.y : one.x).push_back(mark.value);
        if (seen.kind != FigureKind::box && seen.kind != FigureKind::heat_map) seen.series.push_back(one);
    }
    m_home[0] = homeRange(seen, Qt::Horizontal);
    m_home[1] = homeRange(seen, Qt::Vertical);
}

void FigurePlot::add(Marks* marks) { m_marks.append(marks); }

void FigurePlot::addMarks() {
    setCurrentLayer(QStringLiteral("main"));
    const int count = static_cast<int>(m_figure.series.size());
    if (m_figure.kind == FigureKind::heat_map) add(new HeatMapMarks(xAxis, yAxis, m_figure, m_style));
    // Areas first, so that no band lies on another series' line.
    for (int s = 0; s < count; ++s) {
        const Series& one = m_figure.series[static_cast<std::size_t>(s)];
        const QColor colour = m_style.series(m_figure, s);
        if (usesLines(m_figure) && !one.low.empty() && !isLong(one))
            add(new AreaMarks(xAxis, yAxis, s, one.x, one.low, one.high, withOpacity(colour, bandOpacity)));
        if (m_figure.kind == FigureKind::densities)
            add(new AreaMarks(xAxis, yAxis, s, one.x, std::vector<double>(one.y.size(), m_figure.y.log ? m_home[1].lower : 0.0), one.y,
                              withOpacity(colour, fillOpacity)));
    }
    for (int s = 0; s < count; ++s) {
        const Series& one = m_figure.series[static_cast<std::size_t>(s)];
        if (usesLines(m_figure)) addLines(s);
        if (m_figure.kind == FigureKind::densities) addDensity(s);
        if (m_figure.kind == FigureKind::scatter) add(new ScatterMarks(xAxis, yAxis, s, one, m_style.series(m_figure, s)));
        if (m_figure.kind == FigureKind::box) add(new BoxMarks(xAxis, yAxis, s, one.y, m_style.series(m_figure, s)));
        if (m_figure.kind == FigureKind::bars) {
            auto* bars = new BarMarks(xAxis, yAxis, s, m_figure, m_style);
            bars->setBrush(withOpacity(m_style.series(m_figure, s), barOpacity));
            add(bars);
        }
    }
}

void FigurePlot::addLines(int series) {
    const Series& one = m_figure.series[static_cast<std::size_t>(series)];
    const QPen pen = m_style.seriesPen(m_figure, series);
    if (!one.raw.empty()) add(new RawLineMarks(xAxis, yAxis, series, one.x, one.raw, QPen(withOpacity(pen.color(), rawOpacity), 1)));
    if (!isLong(one)) return add(new LineMarks(xAxis, yAxis, series, one.x, one.y, pen));
    auto& pyramid = m_pyramids[series];
    if (!pyramid) pyramid = std::make_shared<SeriesPyramid>(one.x, one.y);
    add(new SampledMarks(xAxis, yAxis, series, pyramid, pen));
}

void FigurePlot::addDensity(int series) {
    const Series& one = m_figure.series[static_cast<std::size_t>(series)];
    const QPen pen = m_style.seriesPen(m_figure, series);
    add(new LineMarks(xAxis, yAxis, series, one.x, one.y, pen));
    if (!one.mean || !std::isfinite(*one.mean)) return;
    QPen dashed(pen.color(), 1);
    dashed.setDashPattern({4, 3});
    add(new MeanMarks(xAxis, yAxis, series, *one.mean, dashed));
}

/// Before every replot: room for title, notes, names and colour bar; ticks that fit; samples of what is shown.
void FigurePlot::plan() {
    if (m_planning || viewport().width() < 10) return;
    m_planning = true;
    const int top = m_caption->planTitle(), bottom = m_caption->planNotes();
    plotLayout()->setMargins(m_compact ? QMargins(0, 2, 0, 2) : QMargins(margin, margin + top, 0, margin - 4 + bottom));
    const auto rightRoom = [this] {  // the bar's title breaks by the height that there is by now
        for (Marks* marks : m_marks)
            if (const auto* map = dynamic_cast<HeatMapMarks*>(marks)) return map->barRoom() + 8;
        return margin + 6;
    };
    auto* rect = axisRect();
    rect->setAutoMargins(QCP::msAll);
    rect->setMinimumMargins(QMargins(m_hasValues ? 20 : 0, 2, rightRoom(), 2));
    updateLayout();
    if (m_hasValues) {
        const QMargins room = m_labels->plan();
        rect->setMinimumMargins(QMargins(20, 2 + room.top(), std::max(rightRoom(), room.right()), 2));
        updateLayout();
        fitTicks(xAxis, yAxis, m_style);
        if (!m_compact) {
            updateLayout();  // names that were turned or cut changed what a title stands beside
            fitTitle(xAxis, axisTitle(m_figure.x), m_style);
            fitTitle(yAxis, axisTitle(m_figure.y), m_style);
        }
        updateLayout();
        rect->setMinimumMargins(QMargins(std::max(20, overhang(xAxis, m_style)), 2 + room.top(), std::max(rightRoom(), room.right()), 2));
        updateLayout();
        fitTicks(xAxis, yAxis, m_style);  // turned names changed the height; numbers of ticks follow
        for (Marks* marks : m_marks)
            if (auto* sampled = dynamic_cast<SampledMarks*>(marks)) sampled->request();
        updateLayout();
        m_labels->place();
    } else {
        m_labels->clear();
    }
    m_planning = false;
}

void FigurePlot::showCursor(std::optional<double> x) {
    if (m_overlay->setCursor(x)) layer(QStringLiteral("cursor"))->replot();
}

std::optional<double> FigurePlot::cursor() const { return m_overlay->cursor(); }

QVector<PlottedSeries> FigurePlot::grabData() const {
    QVector<PlottedSeries> all;
    if (m_figure.kind == FigureKind::heat_map) {
        for (const Marks* marks : m_marks) all.append({plainText(m_figure.heat_map.label), marks->points(), true, {}});
        return all;
    }
    for (int s = 0; s < seriesCount(); ++s) all.append({seriesName(s), {}, isSeriesVisible(s), m_style.series(m_figure, s)});
    for (const Marks* marks : m_marks) {
        if (dynamic_cast<const AreaMarks*>(marks) || dynamic_cast<const MeanMarks*>(marks)) continue;
        all[marks->series()].points = marks->points();
    }
    return all;
}

}  // namespace faceter::desktop
