#include "figure/marks.h"

#include <algorithm>
#include <cmath>

#include "figure/cover_grid.h"

namespace faceter::desktop {

bool Marks::fits(const QCPAxis* axis, double value) {
    return std::isfinite(value) && (axis->scaleType() == QCPAxis::stLinear || value > 0);
}

void Marks::cover(CoverGrid& grid) const {
    constexpr double radius = 4;  // of a dot
    for (const QPointF& p : points()) {
        if (!fits(p.x(), p.y())) continue;
        const QPointF at = pixel(p.x(), p.y());
        grid.addRect({at.x() - radius, at.y() - radius, 2 * radius, 2 * radius});
    }
}

namespace {

/// The part of a segment inside of `area` (Liang and Barsky); false: none.
bool clip(QPointF& a, QPointF& b, const QRectF& area) {
    const QPointF d = b - a;
    double from = 0, to = 1;
    const auto cut = [&](double p, double q) {
        if (p == 0) return q >= 0;
        const double t = q / p;
        if (p < 0) from = std::max(from, t);
        if (p > 0) to = std::min(to, t);
        return from <= to;
    };
    const QPointF start = a;
    if (!cut(-d.x(), a.x() - area.left()) || !cut(d.x(), area.right() - a.x())) return false;
    if (!cut(-d.y(), a.y() - area.top()) || !cut(d.y(), area.bottom() - a.y())) return false;
    a = start + d * from;
    b = start + d * to;
    return true;
}

}  // namespace

void drawClipped(QCPPainter* painter, const QPolygonF& line, const QRectF& area) {
    const double reach = isUnclipped(painter) ? 1 : 10000, margin = isUnclipped(painter) ? 1 : 50;
    if (area.adjusted(-reach, -reach, reach, reach).contains(line.boundingRect())) return painter->drawPolyline(line);
    const QRectF near = area.adjusted(-margin, -margin, margin, margin);
    QPolygonF piece;
    const auto end = [&] {
        if (piece.size() > 1) painter->drawPolyline(piece);
        piece.clear();
    };
    for (qsizetype i = 1; i < line.size(); ++i) {
        QPointF a = line[i - 1], b = line[i];
        if (!clip(a, b, near)) continue;
        if (piece.isEmpty() || piece.last() != a) {
            end();
            piece << a;
        }
        piece << b;
    }
    end();
}

}  // namespace faceter::desktop
