#include "pages/curves/curve_panel.h"

#include <QHBoxLayout>
#include <QMenu>
#include <QToolButton>
#include <QVBoxLayout>
#include <tuple>

#include "curves/save_points.h"
#include "figure/figure_view.h"
#include "pages/curves/panel_handle.h"
#include "pages/curves/panel_options.h"
#include "theme/icons.h"
#include "widgets/labels.h"
#include "workspace/workspace.h"

namespace faceter::desktop {
namespace {

constexpr int debounce_ms = 40, height_step = 60;

}  // namespace

CurvePanel::CurvePanel(Workspace& workspace, const PanelSpec& spec, QWidget* parent)
    : QFrame(parent),
      m_workspace(workspace),
      m_query(new StoreQuery<CurveResult>(
          workspace, this, [this] { return question(); }, [this](const CurveResult& result) { showResult(result); })),
      m_spec(spec),
      m_view(new FigureView),
      m_title(new ElidedLabel),
      m_corner(new PanelHandle(PanelHandle::Look::corner, this)) {
    setProperty("card", true);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(12, 8, 8, 8);
    layout->setSpacing(4);
    buildHead(layout);
    m_view->setTitleShown(false);
    m_view->setCsvWriter([this](const QString& path) { savePoints(m_workspace, this, request(), path); });
    m_view->setMinimumHeight(100);
    layout->addWidget(m_view, 1);
    m_corner->setObjectName(QStringLiteral("panelCorner"));
    m_corner->setToolTip(tr("Drag to resize the panel"));
    m_debounce.setSingleShot(true);
    m_debounce.setInterval(debounce_ms);
    connect(&m_debounce, &QTimer::timeout, m_query, &StoreQueryBase::ask);
    connect(m_query, &StoreQueryBase::failed, this, [this](const QString& message) {
        if (message.isEmpty()) return;
        m_answered = true;
        m_workspace.complain(message);
    });
    connect(m_view, &FigureView::xRangeChanged, this, &CurvePanel::rangeChanged);
    connect(m_corner, &PanelHandle::dragged, this, [this](const QPoint& by) {
        if (m_sizeWhenTaken.isEmpty()) m_sizeWhenTaken = size();
        Q_EMIT resizeAsked(m_sizeWhenTaken + QSize(by.x(), by.y()));
    });
    connect(m_corner, &PanelHandle::dropped, this, [this] { m_sizeWhenTaken = {}; });
    describe();
}

QToolButton* CurvePanel::addButton(QHBoxLayout* head, const QString& iconName, const QString& name, const char* objectName) {
    auto* made = new QToolButton;
    made->setIcon(desktop::icon(iconName));
    made->setToolTip(name);
    made->setAccessibleName(name);
    made->setAutoRaise(true);
    made->setObjectName(QLatin1String(objectName));
    head->addWidget(made);
    return made;
}

void CurvePanel::buildHead(QVBoxLayout* layout) {
    auto* head = new QHBoxLayout;
    auto* handle = new PanelHandle(PanelHandle::Look::none);
    auto* row = new QHBoxLayout(handle);
    row->setContentsMargins(0, 0, 0, 0);
    m_title->setProperty("role", QStringLiteral("heading"));
    m_title->setAttribute(Qt::WA_TransparentForMouseEvents);
    row->addWidget(m_title, 1);
    handle->setObjectName(QStringLiteral("panelHandle"));
    head->addWidget(handle, 1);
    QToolButton* options = addButton(head, QStringLiteral("settings"), tr("Panel"), "panelMenu");
    QToolButton* reset = addButton(head, QStringLiteral("zoom-reset"), tr("Show all (0)"), "panelReset");
    QToolButton* more = addButton(head, QStringLiteral("export"), tr("Export"), "panelExport");
    QToolButton* close = addButton(head, QStringLiteral("close"), tr("Close this panel"), "panelClose");
    layout->addLayout(head);
    auto* menu = new QMenu(options);
    options->setMenu(menu);
    options->setPopupMode(QToolButton::InstantPopup);
    connect(menu, &QMenu::aboutToShow, this, [this, menu] { fillMenu(menu); });
    connect(handle, &PanelHandle::dropped, this, &CurvePanel::dropped);
    connect(reset, &QToolButton::clicked, m_view, &FigureView::resetView);
    connect(more, &QToolButton::clicked, this, [this, more] {
        QMenu* exports = m_view->createMenu(window());
        exports->setAttribute(Qt::WA_DeleteOnClose);
        exports->popup(more->mapToGlobal(QPoint(0, more->height())));
    });
    connect(close, &QToolButton::clicked, this, &CurvePanel::closed);
}

void CurvePanel::fillMenu(QMenu* menu) {
    menu->clear();
    menu->addAction(tr("Series, axes and smoothing…"), this, &CurvePanel::openOptions);
    QAction* clipped = menu->addAction(tr("Leave outliers out of the axis"), this, [this](bool on) {
        PanelSpec spec = m_spec;
        spec.clipped = on;
        setSpec(spec);
    });
    clipped->setCheckable(true);
    clipped->setChecked(m_spec.clipped);
    menu->addSeparator();
    menu->addAction(tr("Move before"), this, [this] { Q_EMIT moveAsked(-1); });
    menu->addAction(tr("Move after"), this, [this] { Q_EMIT moveAsked(1); });
    const auto size = [&](const QString& text, int columns, int pixels) {
        menu->addAction(text, this, [this, columns, pixels] {
            const int column = parentWidget() ? parentWidget()->width() / board_columns : width();
            Q_EMIT resizeAsked({width() + columns * column, height() + pixels});
        });
    };
    size(tr("Wider"), 1, 0);
    size(tr("Narrower"), -1, 0);
    size(tr("Taller"), 0, height_step);
    size(tr("Shorter"), 0, -height_step);
}

void CurvePanel::openOptions() {
    auto* options = new PanelOptions(m_spec, m_pageSmoothing, m_common && m_common->logY, this);
    connect(options, &PanelOptions::changed, this, [this, options] { setSpec(options->spec()); });
    options->open();
}

void CurvePanel::setSpec(const PanelSpec& spec) {
    if (spec == m_spec) return;
    if (spec.patterns != m_spec.patterns) m_zoomed = false, m_otherAxes = true;
    m_spec = spec;
    setNames(m_names);
    describe();
    send();
    Q_EMIT specChanged();
}

bool CurvePanel::setNames(const QStringList& names) {
    m_names = names;
    const QStringList series = matching(m_spec.patterns, names);
    if (series == m_series) return false;
    m_series = series;
    m_answered = false;
    if (series.isEmpty()) {  // what another project has of it, and how far it was zoomed, must not stand here until an answer comes
        m_zoomed = false;
        m_view->setFigure({});
    }
    describe();
    return true;
}

void CurvePanel::describe() {
    const QString patterns = m_spec.patterns.join(QStringLiteral(", "));
    setObjectName(QStringLiteral("curve:") + patterns);
    m_title->setFullText(m_series.size() == 1 ? qs(seriesLabel(m_series.first().toStdString()).first) : patterns);
}

void CurvePanel::setRequest(std::shared_ptr<const CurveRequest> request, int pageSmoothing) {
    m_common = std::move(request);
    m_pageSmoothing = pageSmoothing;
    send();
}

CurveRequest CurvePanel::request() const {
    CurveRequest request = m_common ? *m_common : CurveRequest();
    for (const QString& name : m_series) request.series.push_back(name.toStdString());
    request.logX = m_spec.logX.value_or(request.logX);
    request.logY = m_spec.logY.value_or(request.logY);
    request.low = m_spec.low;
    request.high = m_spec.high;
    request.clipped = m_spec.clipped;
    if (m_spec.smoothing) request.smoothing = smoothingWeight(*m_spec.smoothing);
    return request;
}

void CurvePanel::send() {
    if (!m_common) return;
    CurveRequest now = request();
    now.groups.clear();
    const auto axes = [](const CurveRequest& one) { return std::tie(one.x, one.logX, one.logY, one.low, one.high, one.clipped); };
    if (axes(now) != axes(m_asked)) m_zoomed = false, m_otherAxes = true;
    m_asked = std::move(now);
    if (hasSeries()) m_query->ask();
}

void CurvePanel::refresh() {
    if (hasSeries()) m_query->ask();
}

std::function<CurveResult(Store&)> CurvePanel::question() const {
    CurveRequest asked = request();
    asked.columns = std::clamp(m_view->width(), 200, 2000);
    if (m_zoomed) {
        asked.from = m_view->xRange().lower;
        asked.to = m_view->xRange().upper;
    }
    return [asked = std::move(asked)](Store& store) { return readCurve(store, asked); };
}

/// What a person has zoomed to and switched off stays as it is while the runs grow.
void CurvePanel::showResult(const CurveResult& result) {
    m_answered = true;
    m_from = result.from;
    m_to = result.to;
    m_showing = true;
    m_view->setFigure(result.figure, true);
    if (std::exchange(m_otherAxes, false)) m_view->resetView();
    m_showing = false;
}

void CurvePanel::rangeChanged() {
    if (m_showing || !m_answered) return;
    const QCPRange range = m_view->xRange();
    m_zoomed = range.lower > m_from || range.upper < m_to;
    m_debounce.start();
}

void CurvePanel::resizeEvent(QResizeEvent* event) {
    QFrame::resizeEvent(event);
    m_corner->move(width() - m_corner->width() - 1, height() - m_corner->height() - 1);
    m_corner->raise();
}

}  // namespace faceter::desktop
