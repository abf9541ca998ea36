#pragma once
#include <QPointF>
#include <QRectF>
#include <QVector>

namespace faceter::desktop {

/// Which parts of a plot's area are drawn on, in squares of 8 px: a legend asks for the place where it covers least.
class CoverGrid {
  public:
    explicit CoverGrid(const QRectF& area);
    void addPoint(const QPointF& point);
    void addLine(const QPointF& from, const QPointF& to);
    void addRect(const QRectF& rect);
    /// Share of `rect` that is drawn on, 0 to 1.
    double covered(const QRectF& rect) const;

  private:
    static constexpr double cell = 8;
    QRectF m_area;
    int m_columns, m_rows;
    QVector<char> m_used;
};

}  // namespace faceter::desktop
