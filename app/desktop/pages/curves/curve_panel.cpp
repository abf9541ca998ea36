#include "pages/curves/curve_panel.h"

#include <QHBoxLayout>
#include <QMenu>
#include <QToolButton>
#include <QVBoxLayout>

#include "figure/figure_view.h"
#include "theme/icons.h"
#include "widgets/labels.h"
#include "workspace/workspace.h"

namespace faceter::desktop {
namespace {

constexpr int debounce_ms = 40;

}  // namespace

CurvePanel::CurvePanel(Workspace& workspace, const QString& series, QWidget* parent)
    : QFrame(parent), m_workspace(workspace), m_series(series), m_view(new FigureView), m_title(headingLabel(QString())) {
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
    m_view->setMinimumHeight(180);
    layout->addWidget(m_view, 1);
    m_debounce.setSingleShot(true);
    m_debounce.setInterval(debounce_ms);
    connect(&m_debounce, &QTimer::timeout, this, &CurvePanel::ask);
    connect(m_view, &FigureView::xRangeChanged, this, &CurvePanel::rangeChanged);
    connect(reset, &QToolButton::clicked, this, [this] {
        m_zoomed = false;
        ask();
    });
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
    if (other) m_zoomed = false;
    m_keep = !other && m_answered;
    ask();
}

void CurvePanel::refresh() { ask(); }

/// One question at a time; what changed meanwhile is asked when the answer is there.
void CurvePanel::ask() {
    ProjectSession* session = m_workspace.session();
    if (!session) return;
    if (m_asking) {
        m_again = true;
        return;
    }
    m_asking = true;
    CurveRequest request = m_request;
    request.columns = std::clamp(m_view->width(), 200, 2000);
    if (m_zoomed) {
        request.from = m_view->xRange().lower;
        request.to = m_view->xRange().upper;
    }
    session->query([request](Store& store) { return readCurve(store, request); })
        .then(this, [this, zoomed = m_zoomed](const CurveResult& result) { showResult(result, zoomed); })
        .onFailed([this](const std::exception& error) {
            m_asking = false;
            m_answered = true;
            m_workspace.complain(QString::fromUtf8(error.what()));
        });
}

void CurvePanel::showResult(const CurveResult& result, bool zoomed) {
    m_asking = false;
    m_answered = true;
    m_from = result.from;
    m_to = result.to;
    m_showing = true;
    m_view->setFigure(result.figure, zoomed);
    m_showing = false;
    if (std::exchange(m_again, false)) ask();
}

void CurvePanel::rangeChanged() {
    if (m_showing || !m_answered) return;
    const QCPRange range = m_view->xRange();
    m_zoomed = range.lower > m_from || range.upper < m_to;
    m_debounce.start();
}

}  // namespace faceter::desktop
