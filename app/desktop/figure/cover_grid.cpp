#include "figure/cover_grid.h"

#include <algorithm>
#include <cmath>

namespace faceter::desktop {

CoverGrid::CoverGrid(const QRectF& area)
    : m_area(area),
      m_columns(std::clamp(static_cast<int>(std::ceil(area.width() / cell)), 1, 2000)),
      m_rows(std::clamp(static_cast<int>(std::ceil(area.height() / cell)), 1, 2000)),
      m_used(static_cast<qsizetype>(m_columns) * m_rows, 0) {}

void CoverGrid::addPoint(const QPointF& point) {
    if (!m_area.contains(point)) return;
    const int column = std::min(m_columns - 1, static_cast<int>((point.x() - m_area.left()) / cell));
    const int row = std::min(m_rows - 1, static_cast<int>((point.y() - m_area.top()) / cell));
    m_used[static_cast<qsizetype>(row) * m_columns + column] = 1;
}

void CoverGrid::addLine(const QPointF& from, const QPointF& to) {
    const QPointF step = to - from;
    const double length = std::hypot(step.x(), step.y());
    const int count = static_cast<int>(std::min(length / (cell / 2), 4000.0)) + 1;
    for (int i = 0; i <= count; ++i) addPoint(from + step * (static_cast<double>(i) / count));
}

void CoverGrid::addRect(const QRectF& rect) {
    const QRectF inside = rect.intersected(m_area);
    for (double y = inside.top(); y < inside.bottom() + cell; y += cell)
        for (double x = inside.left(); x < inside.right() + cell; x += cell)
            addPoint({std::min(x, inside.right()), std::min(y, inside.bottom())});
}

double CoverGrid::covered(const QRectF& rect) const {
    int used = 0, all = 0;
    for (int row = 0; row < m_rows; ++row)
        for (int column = 0; column < m_columns; ++column) {
            const QRectF square(m_area.left() + column * cell, m_area.top() + row * cell, cell, cell);
            if (!square.intersects(rect)) continue;
            ++all;
            used += m_used[static_cast<qsizetype>(row) * m_columns + column];
        }
    return all == 0 ? 0 : static_cast<double>(used) / all;
}

}  // namespace faceter::desktop
