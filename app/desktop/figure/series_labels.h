#pragma once
#include "figure/qcustomplot_header.h"

namespace faceter::desktop {

class FigurePlot;

/// The names of the series: at the lines' ends where there are three or fewer, over the means of densities, else as a legend where it
/// covers least, or beside the plot where it would cover much, or above one that is too narrow for that. Names of points in a scatter plot,
/// as many as do not overlap.
class SeriesLabels : public QCPLayerable {
  public:
    explicit SeriesLabels(FigurePlot* plot);
    /// Chooses the form; returns the room it needs outside of the axes (top: above them, right: the whole right margin).
    QMargins plan();
    /// Fixes the places after the layout.
    void place();
    void clear();
    int seriesAt(const QPointF& position) const;
    /// By so many pixels the axes are too low for a legend with all names.
    double lackingHeight() const { return m_left * rowHeight(); }

  protected:
    void applyDefaultAntialiasingHint(QCPPainter*) const override {}
    void draw(QCPPainter* painter) override;

  private:
    enum class Form { none, lineEnds, means, legendInside, legendBeside, legendAbove };
    struct Label {
        int series;
        QString text;
        QRectF box;
        bool swatch;
        double stemX = 0;  ///< means: where the dashed line goes up to the label
    };
    Form form() const;
    QFontMetricsF metrics() const;
    double rowHeight() const;
    double nameWidth() const;
    double roomForName() const;
    QString nameOf(int series, double room) const;
    QSizeF legendSize() const;
    void placeLineEnds();
    void placeMeans();
    void placeLegend(QPointF corner, double height);
    QPointF leastCovered(const QSizeF& size, double* share) const;
    QVector<Label> meanLabels() const;
    int meanRows();
    int furtherDecimals() const;
    double endOf(int series) const;
    void drawLabel(QCPPainter* painter, const Label& label) const;
    void drawSwatch(QCPPainter* painter, const QRectF& box, int series) const;
    void drawPointLabels(QCPPainter* painter) const;

    FigurePlot* m_plot;
    Form m_form = Form::none;
    QVector<Label> m_labels;
    int m_further = 0;   ///< decimals of means
    int m_left = 0;      ///< series that the legend has no room for
    double m_above = 0;  ///< height of a legend above the axes
    QRectF m_frame;
};

}  // namespace faceter::desktop
