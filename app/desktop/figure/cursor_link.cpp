#include "figure/cursor_link.h"

namespace faceter::desktop {

void CursorLink::add(FigureView* view) {
    if (m_views.contains(view)) return;
    m_views.append(view);
    connect(view, &FigureView::cursorMoved, this, [this, view](double x) { passCursor(view, x); });
    connect(view, &FigureView::xRangeChanged, this, [this, view](const QCPRange& range) { passRange(view, range); });
}

void CursorLink::remove(FigureView* view) {
    m_views.removeAll(view);
    disconnect(view, nullptr, this, nullptr);
}

void CursorLink::setRangesLinked(bool linked) {
    m_rangesLinked = linked;
    if (!linked) return;
    for (const auto& view : m_views)
        if (view) return passRange(view, view->xRange());
}

void CursorLink::passCursor(const FigureView* from, double x) {
    m_views.removeAll(nullptr);
    for (const auto& view : m_views)
        if (view != from) view->showCursor(x);
}

void CursorLink::passRange(const FigureView* from, const QCPRange& range) {
    if (!m_rangesLinked || m_passing) return;
    m_passing = true;
    m_views.removeAll(nullptr);
    for (const auto& view : m_views)
        if (view != from) view->setXRange(range);
    m_passing = false;
}

}  // namespace faceter::desktop
