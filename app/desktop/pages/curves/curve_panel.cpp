#include "pages/curves/curve_panel.h"

#include <QHBoxLayout>
#include <QMenu>
#include <QToolButton>
#include <QVBoxLayout>

#include "curves/save_points.h"
#include "figure/figure_view.h"
#include "theme/icons.h"
#include "widgets/labels.h"
#include "workspace/workspace.h"

namespace faceter::desktop {
namespace {

constexpr int debounce_ms = 40;

}  // namespace

CurvePanel::CurvePanel(Workspace& workspace, const QString& series, QWidget* parent)
    : QFrame(parent),
      m_workspace(workspace),
      m_query(new StoreQuery<CurveResult>(
          workspace, this, [this] { return question(); }, [this](const CurveResult& result) { showResult(result); })),
      m_series(series),
      m_view(new FigureView),
      m_title(headingLabel(QString())) {
    setProperty("card", true);
    setObjectName(QStringLiteral("curve:") + series);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(12, 8, 8, 8);
    layout->setSpacing(4);
    auto* head = new QHBoxLayout;
    m_title->setText(qs(seriesLabel(series.toStdString()).first));
    head->addWidget(m_title);
    head->addStretch(1);
    const auto button = [&](const QString& iconName, const QString& name) {
        auto* made = new QToolButton;
        made->setIcon(desktop::icon(iconName));
        made->setToolTip(name);
        made->setAccessibleName(name);
        made->setAutoRaise(true);
        head->addWidget(made);
        return made;
    };
    QToolButton* reset = button(QStringLiteral("zoom-reset"), tr("Show all (0)"));
    QToolButton* more = button(QStringLiteral("export"), tr("Export"));
    QToolButton* close = button(QStringLiteral("close"), tr("Close this panel"));
    layout->addLayout(head);
    m_view->setTitleShown(false);
    m_view->setCsvWriter([this](const QString& path) { savePoints(m_workspace, this, m_request, path); });
    m_view->setMinimumHeight(180);
    layout->addWidget(m_view, 1);
    m_debounce.setSingleShot(true);
    m_debounce.setInterval(debounce_ms);
    connect(&m_debounce, &QTimer::timeout, m_query, &StoreQueryBase::ask);
    connect(m_query, &StoreQueryBase::failed, this, [this](const QString& message) {
        if (message.isEmpty()) return;
        m_answered = true;
        m_workspace.complain(message);
    });
    connect(m_view, &FigureView::xRangeChanged, this, &CurvePanel::rangeChanged);
    connect(reset, &QToolButton::clicked, m_view, &FigureView::resetView);
    connect(more, &QToolButton::clicked, this, [this, more] {
        QMenu* menu = m_view->createMenu(this);
        menu->setAttribute(Qt::WA_DeleteOnClose);
        menu->popup(more->mapToGlobal(QPoint(0, more->height())));
    });
    connect(close, &QToolButton::clicked, this, [this] { Q_EMIT closed(m_series); });
}

void CurvePanel::setRequest(CurveRequest request) {
    const bool other = request.x != m_request.x || request.logX != m_request.logX || request.logY != m_request.logY;
    m_request = std::move(request);
    m_request.series = m_series.toStdString();
    if (other) m_zoomed = false, m_otherAxes = true;
    m_query->ask();
}

void CurvePanel::refresh() { m_query->ask(); }

std::function<CurveResult(Store&)> CurvePanel::question() const {
    CurveRequest request = m_request;
    request.columns = std::clamp(m_view->width(), 200, 2000);
    if (m_zoomed) {
        request.from = m_view->xRange().lower;
        request.to = m_view->xRange().upper;
    }
    return [request](Store& store) { return readCurve(store, request); };
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

}  // namespace faceter::desktop
