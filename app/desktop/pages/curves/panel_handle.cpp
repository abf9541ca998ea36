#include "pages/curves/panel_handle.h"

#include <QApplication>
#include <QMouseEvent>
#include <QPainter>

#include "theme/theme.h"

namespace faceter::desktop {
namespace {

constexpr int corner_size = 12;

}  // namespace

PanelHandle::PanelHandle(Look look, QWidget* parent) : QWidget(parent), m_look(look) {
    setCursor(look == Look::corner ? Qt::SizeFDiagCursor : Qt::OpenHandCursor);
    if (look == Look::corner) setFixedSize(corner_size, corner_size);
}

void PanelHandle::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return event->ignore();
    m_start = event->globalPosition().toPoint();
    m_held = true;
    m_moved = false;
}

void PanelHandle::mouseMoveEvent(QMouseEvent* event) {
    if (!m_held) return;
    const QPoint by = event->globalPosition().toPoint() - m_start;
    if (!m_moved && by.manhattanLength() < QApplication::startDragDistance()) return;
    m_moved = true;
    if (m_look == Look::none) setCursor(Qt::ClosedHandCursor);
    Q_EMIT dragged(by);
}

void PanelHandle::mouseReleaseEvent(QMouseEvent* event) {
    if (m_look == Look::none) setCursor(Qt::OpenHandCursor);
    if (std::exchange(m_held, false) && m_moved) Q_EMIT dropped(event->globalPosition().toPoint());
}

void PanelHandle::paintEvent(QPaintEvent*) {
    if (m_look == Look::none) return;
    QPainter painter(this);
    painter.setPen(Theme::instance().colours().secondary);
    for (const int from : {3, 7}) painter.drawLine(from, corner_size - 2, corner_size - 2, from);
}

}  // namespace faceter::desktop
