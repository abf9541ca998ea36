#include "figure/figure_view.h"

#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QKeyEvent>
#include <QMenu>
#include <QMouseEvent>
#include <QPainter>
#include <QRegularExpression>
#include <QToolTip>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "common/error.h"
#include "figure/figure_hover.h"
#include "figure/plot_navigator.h"
#include "theme/icons.h"
#include "widgets/as_written.h"

namespace faceter::desktop {
namespace {

constexpr int mostListed = 30;  // series in the menu

QString menuText(const QString& name) { return asWritten(name.left(80)); }

QString kindText(FigureKind kind) {
    switch (kind) {
        case FigureKind::lines:
            return FigureView::tr("Line plot");
        case FigureKind::bars:
            return FigureView::tr("Bar chart");
        case FigureKind::densities:
            return FigureView::tr("Densities");
        case FigureKind::scatter:
            return FigureView::tr("Scatter plot");
        case FigureKind::box:
            return FigureView::tr("Box plot");
        case FigureKind::heat_map:
            return FigureView::tr("Heat map");
    }
    return {};
}

}  // namespace

FigureView::FigureView(QWidget* parent) : QWidget(parent), m_plot(new FigurePlot(this)), m_navigator(new PlotNavigator(m_plot)) {
    setFocusPolicy(Qt::StrongFocus);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(1, 1, 1, 1);  // the focus ring
    layout->addWidget(m_plot);
    m_plot->setMouseTracking(true);
    m_plot->setContextMenuPolicy(Qt::NoContextMenu);  // ours, for mouse and menu key alike
    m_plot->installEventFilter(this);
    connect(m_plot->xAxis, qOverload<const QCPRange&>(&QCPAxis::rangeChanged), this, [this](const QCPRange& range) {
        if (!m_taking) Q_EMIT xRangeChanged(range);
    });
    connect(&Theme::instance(), &Theme::changed, this, &FigureView::followTheme);
    followTheme();
    describe();
}

FigureView::FigureView(const Figure& figure, QWidget* parent) : FigureView(parent) { setFigure(figure); }

void FigureView::followTheme() {
    m_plot->setColours(Theme::instance().colours());
    update();
}

void FigureView::setFigure(const Figure& figure, bool keepView) {
    m_taking = true;
    m_plot->setFigure(figure, keepView);
    m_taking = false;
    m_plot->replot(QCustomPlot::rpQueuedReplot);
    describe();
}

const Figure& FigureView::figure() const { return m_plot->figure(); }

void FigureView::setReferenceMarks(const QVector<ReferenceMark>& marks) { m_plot->setReferenceMarks(marks); }
void FigureView::setTitleShown(bool shown) { m_plot->setTitleShown(shown); }
void FigureView::setEmptyReason(const QString& reason) { m_plot->setEmptyReason(reason); }
void FigureView::setNotesShown(bool shown) { m_plot->setNotesShown(shown); }
void FigureView::setCompact(bool compact) { m_plot->setCompact(compact); }
bool FigureView::isSeriesVisible(int series) const { return m_plot->isSeriesVisible(series); }
bool FigureView::hasValues() const { return m_plot->hasValues(); }
QVector<PlottedSeries> FigureView::grabData() const { return m_plot->grabData(); }
QCPRange FigureView::xRange() const { return m_plot->xAxis->range(); }
QCPRange FigureView::yRange() const { return m_plot->yAxis->range(); }
void FigureView::setXRange(const QCPRange& range) { m_navigator->setRanges(range, m_plot->yAxis->range()); }
void FigureView::resetView() { m_navigator->reset(); }

void FigureView::setSeriesVisible(int series, bool visible) {
    if (m_plot->isSeriesVisible(series) == visible) return;
    m_plot->setSeriesVisible(series, visible);
    Q_EMIT seriesToggled(series, visible);
}

QString FigureView::textAt(const QPoint& position) const { return hoverAt(*m_plot, m_plot->mapFrom(this, position)).text(); }

void FigureView::showCursor(double x) { m_plot->showCursor(std::isnan(x) ? std::nullopt : std::optional<double>(x)); }

void FigureView::describe() {
    const Figure& f = figure();
    setAccessibleName(plainText(f.title.empty() ? f.name : f.title));
    QStringList parts{kindText(f.kind)};
    if (!m_plot->hasValues()) parts << m_plot->emptyText();
    if (f.kind == FigureKind::heat_map) parts << tr("%1 rows, %2 columns").arg(f.heat_map.rows.size()).arg(f.heat_map.columns.size());
    for (int s = 0; s < std::min(m_plot->seriesCount(), mostListed); ++s) parts << m_plot->seriesName(s);
    if (!axisTitle(f.x).isEmpty()) parts << tr("x: %1").arg(axisTitle(f.x));
    if (!axisTitle(f.y).isEmpty()) parts << tr("y: %1").arg(axisTitle(f.y));
    setAccessibleDescription(parts.join(QStringLiteral("; ")));
}

void FigureView::keyPressEvent(QKeyEvent* event) {
    if (!m_navigator->handleKey(event)) QWidget::keyPressEvent(event);
}

void FigureView::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    pointerLeft();
}

void FigureView::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const ThemeColours& colours = Theme::instance().colours();
    painter.fillRect(rect(), colours.surface);
    if (!m_ring) return;
    painter.setPen(colours.accent);
    painter.drawRect(rect().adjusted(0, 0, -1, -1));
}

void FigureView::focusInEvent(QFocusEvent* event) {
    QWidget::focusInEvent(event);
    m_ring = event->reason() != Qt::MouseFocusReason && event->reason() != Qt::ActiveWindowFocusReason;
    update();
}

void FigureView::focusOutEvent(QFocusEvent* event) {
    QWidget::focusOutEvent(event);
    m_ring = false;
    update();
}

bool FigureView::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::Leave) pointerLeft();
    if (event->type() == QEvent::ContextMenu) {  // QCustomPlot lets nothing of the mouse through to its parent
        contextMenuEvent(static_cast<QContextMenuEvent*>(event));
        return true;
    }
    if (event->type() == QEvent::MouseMove) {
        const auto* move = static_cast<QMouseEvent*>(event);
        if (move->buttons() == Qt::NoButton) pointerMoved(move->position().toPoint(), move->globalPosition().toPoint());
    }
    if (event->type() == QEvent::MouseButtonPress) {
        m_pressed = static_cast<QMouseEvent*>(event)->position().toPoint();
        setFocus(Qt::MouseFocusReason);
    }
    if (event->type() == QEvent::MouseButtonRelease) {
        const auto* release = static_cast<QMouseEvent*>(event);
        const bool still = (release->position().toPoint() - m_pressed).manhattanLength() < QApplication::startDragDistance();
        if (still && release->button() == Qt::LeftButton) clicked(release->position());
    }
    return QWidget::eventFilter(watched, event);
}

void FigureView::clicked(const QPointF& position) {
    const int series = m_plot->seriesLabelAt(position);
    if (series >= 0) return setSeriesVisible(series, !isSeriesVisible(series));
    const Hover hover = hoverAt(*m_plot, position);
    if (hover.points.isEmpty()) return;
    const auto& nearest = *std::min_element(hover.points.begin(), hover.points.end(), [&](const HoverPoint& a, const HoverPoint& b) {
        return QLineF(a.pixel, position).length() < QLineF(b.pixel, position).length();
    });
    Q_EMIT pointClicked(nearest.series, nearest.x, nearest.y);
}

void FigureView::pointerMoved(const QPoint& position, const QPoint& global) {
    const int series = m_plot->seriesLabelAt(position);
    m_plot->setCursor(series >= 0 ? Qt::PointingHandCursor : Qt::ArrowCursor);
    if (series >= 0) {
        QToolTip::showText(global, m_plot->seriesName(series).toHtmlEscaped() + tr("<br>Click to show or hide"), m_plot);
        return;
    }
    const Hover hover = hoverAt(*m_plot, position);
    const bool inside = m_plot->hasValues() && m_plot->axisRect()->rect().contains(position);
    if (hover.isEmpty())
        QToolTip::hideText();
    else
        QToolTip::showText(global + QPoint(12, 8), hover.html(), m_plot);
    const double x = inside ? m_plot->xAxis->pixelToCoord(position.x()) : NAN;
    showCursor(x);
    Q_EMIT cursorMoved(x);
}

void FigureView::pointerLeft() {
    if (!m_plot->cursor()) return;
    showCursor(NAN);
    Q_EMIT cursorMoved(NAN);
}

QMenu* FigureView::createMenu(QWidget* parent) {
    auto* menu = new QMenu(parent);
    const bool values = m_plot->hasValues();
    const auto add = [&](const char* image, const QString& text, auto run) {
        QAction* action = menu->addAction(icon(QLatin1String(image)), text, this, run);
        action->setEnabled(values);
        return action;
    };
    add("zoom-reset", tr("Reset zoom"), [this] { resetView(); });
    menu->addSeparator();
    add("export", tr("Export PDF..."), [this] { askAndExport(ExportFormat::pdf); });
    add("export", tr("Export SVG..."), [this] { askAndExport(ExportFormat::svg); });
    add("export", tr("Export PNG..."), [this] { askAndExport(ExportFormat::png); });
    add("export", tr("Export CSV..."), [this] { askAndExport(ExportFormat::csv); });
    menu->addSeparator();
    add("copy", tr("Copy image"), [this] { copyImage(); });
    add("copy", m_csvWriter ? tr("Copy what is drawn") : tr("Copy data"), [this] { copyData(); });
    if (m_plot->seriesCount() < 2) return menu;
    QMenu* series = menu->addMenu(icon(QStringLiteral("legend")), tr("Series"));
    for (int s = 0; s < std::min(m_plot->seriesCount(), mostListed); ++s) {
        QAction* action = series->addAction(menuText(m_plot->seriesName(s)));
        action->setCheckable(true);
        action->setChecked(isSeriesVisible(s));
        connect(action, &QAction::toggled, this, [this, s](bool on) { setSeriesVisible(s, on); });
    }
    return menu;
}

void FigureView::contextMenuEvent(QContextMenuEvent* event) {
    QMenu* menu = createMenu(window());  // this view may go while a file is chosen from it
    menu->setAttribute(Qt::WA_DeleteOnClose);
    menu->popup(event->globalPos());
}

void FigureView::exportTo(const QString& path, ExportFormat format, const ExportOptions& options) const {
    exportFigure(*m_plot, path, format, options);
}

void FigureView::askAndExport(ExportFormat format) {
    const QString suffix = exportSuffix(format);
    QString name = plainText(figure().name).replace(QRegularExpression(QStringLiteral("[^A-Za-z0-9_.-]+")), QStringLiteral("_"));
    if (name.isEmpty()) name = QStringLiteral("figure");
    askAndWrite(window(), this, name + QLatin1Char('.') + suffix, [this, format](const QString& path) {
        if (format == ExportFormat::csv && m_csvWriter) return m_csvWriter(path);
        exportTo(path, format);
    });
}

void FigureView::copyImage() const { QApplication::clipboard()->setImage(figureImage(*m_plot)); }

void FigureView::copyData() const { QApplication::clipboard()->setText(figureTsv(*m_plot)); }

}  // namespace faceter::desktop
