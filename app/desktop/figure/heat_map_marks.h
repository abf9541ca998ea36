#pragma once
#include "figure/heat_map_range.h"
#include "figure/marks.h"

namespace faceter::desktop {

/// Values to colours: diverging round the centre (white; in a dark theme the surface, no lamp), or sequential.
class HeatColours {
  public:
    HeatColours(const HeatMap& map, const ThemeColours& theme, const Axis& values = {});
    QColor of(double value) const;
    double low() const { return m_ranges.colours.low; }
    double high() const { return m_ranges.colours.high; }
    Range bar() const { return m_ranges.bar; }

  private:
    ThemeColours m_theme;
    bool m_diverging;
    HeatMapRanges m_ranges;
};

/// Cells with their values where they fit, and the colour bar beside them. Row r lies at y = r, the first on top.
class HeatMapMarks : public Marks {
  public:
    HeatMapMarks(QCPAxis* x, QCPAxis* y, const Figure& figure, const PlotStyle& style);
    QVector<QPointF> points() const override;  ///< (column, value), row by row
    /// Room that the colour bar with its numbers and label needs right of the cells.
    int barRoom() const;

  protected:
    void draw(QCPPainter* painter) override;
    QRect clipRect() const override;

  private:
    QRectF cell(int row, int column) const;
    bool valuesFit() const;
    void drawCells(QCPPainter* painter) const;
    void drawFine(QCPPainter* painter) const;
    void drawBar(QCPPainter* painter) const;
    std::vector<Tick> barTicks() const;
    double titleRoom() const;
    QString barTitle() const;

    HeatMap m_map;
    PlotStyle m_style;
    HeatColours m_colours;
};

}  // namespace faceter::desktop
