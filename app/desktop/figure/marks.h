#pragma once
#include "figure/qcustomplot_header.h"

#include <cmath>
#include <memory>
#include <vector>

#include "figure/figure.h"
#include "figure/plot_style.h"
#include "figure/series_pyramid.h"
#include "figure/svg_plot.h"

namespace faceter::desktop {

class CoverGrid;

/// What is drawn of one series (or of the heat map). Marks hold their data and draw it; picking is FigureHover's, ranges are FigurePlot's.
class Marks : public QCPAbstractPlottable {
  public:
    Marks(QCPAxis* x, QCPAxis* y, int series) : QCPAbstractPlottable(x, y), m_series(series) { setSelectable(QCP::stNone); }
    int series() const { return m_series; }
    /// The points handed over, in data coordinates.
    virtual QVector<QPointF> points() const = 0;
    /// Marks in `grid` what this draws on.
    virtual void cover(CoverGrid& grid) const;

    double selectTest(const QPointF&, bool, QVariant* = nullptr) const override { return -1; }
    QCPRange getKeyRange(bool& found, QCP::SignDomain = QCP::sdBoth) const override { return none(found); }
    QCPRange getValueRange(bool& found, QCP::SignDomain = QCP::sdBoth, const QCPRange& = QCPRange()) const override { return none(found); }

  protected:
    void drawLegendIcon(QCPPainter*, const QRectF&) const override {}
    /// Can this value be shown on the axis (finite, positive on a logarithmic one)?
    static bool fits(const QCPAxis* axis, double value);
    bool fits(double x, double y) const { return fits(mKeyAxis, x) && fits(mValueAxis, y); }
    QPointF pixel(double x, double y) const { return {mKeyAxis->coordToPixel(x), mValueAxis->coordToPixel(y)}; }
    QRectF area() const { return mKeyAxis->axisRect()->rect(); }
    /// Of the lower end of an interval; one that a logarithmic axis has no place for (0 or less) lies beyond the axis' own.
    double lowPixel(double low) const { return fits(mValueAxis, low) ? mValueAxis->coordToPixel(low) : area().bottom() + 1; }
    /// Can it be drawn? Its lower end may lie beyond a logarithmic axis.
    bool intervalFits(double low, double high) const { return std::isfinite(low) && fits(mValueAxis, high); }

  private:
    static QCPRange none(bool& found) {
        found = false;
        return {};
    }
    int m_series;
};

/// Polylines of the finite points, a gap where a value is not drawable; only those that [x range] shows where x ascends.
class LineMarks : public Marks {
  public:
    LineMarks(QCPAxis* x, QCPAxis* y, int series, std::vector<double> xs, std::vector<double> ys, const QPen& pen);
    QVector<QPointF> points() const override;
    void cover(CoverGrid& grid) const override;

  protected:
    void draw(QCPPainter* painter) override;

  private:
    std::vector<QPolygonF> runs() const;
    std::vector<double> m_xs, m_ys;
    bool m_ascending;
};

/// The values of a line before it was smoothed: faint, and nothing that a pointer or a legend finds.
class RawLineMarks : public LineMarks {
  public:
    using LineMarks::LineMarks;
    QVector<QPointF> points() const override { return {}; }
    void cover(CoverGrid&) const override {}
};

/// A line of many points: as much of it as the axis has pixels for.
class SampledMarks : public Marks {
  public:
    SampledMarks(QCPAxis* x, QCPAxis* y, int series, std::shared_ptr<const SeriesPyramid> points, const QPen& pen);
    const SeriesSample& sample() const { return m_sample; }
    /// Takes what the axis shows now, if the last sample does not do.
    void request();
    QVector<QPointF> points() const override;
    void cover(CoverGrid& grid) const override;

  protected:
    void draw(QCPPainter* painter) override;

  private:
    bool sampleServes() const;
    std::vector<QPolygonF> runs() const;

    std::shared_ptr<const SeriesPyramid> m_pyramid;
    SeriesSample m_sample;
    int m_sampleColumns = 0;
};

/// The area between low and high: a band round a line, or a density over its ground.
class AreaMarks : public Marks {
  public:
    AreaMarks(QCPAxis* x, QCPAxis* y, int series, std::vector<double> xs, std::vector<double> low, std::vector<double> high,
              const QColor& fill);
    QVector<QPointF> points() const override;
    void cover(CoverGrid& grid) const override;

  protected:
    void draw(QCPPainter* painter) override;

  private:
    std::vector<QPolygonF> areas() const;
    std::vector<double> m_xs, m_low, m_high;
};

/// The dashed line at a density's mean.
class MeanMarks : public Marks {
  public:
    MeanMarks(QCPAxis* x, QCPAxis* y, int series, double mean, const QPen& pen) : Marks(x, y, series), m_mean(mean) { setPen(pen); }
    QVector<QPointF> points() const override { return {{m_mean, 0}}; }
    void cover(CoverGrid& grid) const override;

  protected:
    void draw(QCPPainter* painter) override;

  private:
    double m_mean;
};

/// What tells filled areas apart whose colours are the same, as seriesDash() does lines: none on the first eight places of the palette,
/// then lines of `ground`, then crossed ones. Drawn line by line: an SVG knows no patterns and no clipping.
void drawHatch(QCPPainter* painter, const QRectF& area, int place, const QColor& ground);

/// One series' bars, beside those of the others in each category.
class BarMarks : public Marks {
  public:
    BarMarks(QCPAxis* x, QCPAxis* y, int series, const Figure& figure, const PlotStyle& style);
    QVector<QPointF> points() const override;
    void cover(CoverGrid& grid) const override;
    QRectF bar(std::size_t i) const;

  protected:
    void draw(QCPPainter* painter) override;

  private:
    double width() const;
    void drawInterval(QCPPainter* painter, std::size_t i) const;
    void drawValue(QCPPainter* painter, std::size_t i) const;
    bool valuesFit() const;
    QRectF valueBox(std::size_t i) const;
    int m_count, m_decimals = 0;
    double m_widestText = 0;
    Series m_values;
    PlotStyle m_style;
};

class ScatterMarks : public Marks {
  public:
    ScatterMarks(QCPAxis* x, QCPAxis* y, int series, const Series& values, const QColor& colour);
    QVector<QPointF> points() const override;
    double radius() const;

  protected:
    void draw(QCPPainter* painter) override;

  private:
    Series m_values;
};

/// Quartiles, whiskers to 1.5 interquartile ranges, outliers.
class BoxMarks : public Marks {
  public:
    BoxMarks(QCPAxis* x, QCPAxis* y, int series, const std::vector<double>& values, const QColor& colour);
    QVector<QPointF> points() const override;
    void cover(CoverGrid& grid) const override;
    const BoxShape& shape() const { return m_shape; }

  protected:
    void draw(QCPPainter* painter) override;

  private:
    double width() const;
    BoxShape m_shape;
    bool m_any;
};

/// An SVG knows no clipping: what is drawn there has to end at the axes by itself.
inline bool isUnclipped(const QCPPainter* painter) { return painter->modes().testFlag(QCPPainter::pmVectorized); }

/// Draws a polyline whose ends may lie far outside of `area` (deep zoom): QPainter's coordinates are short of that. Where nothing else
/// clips it, it ends there.
void drawClipped(QCPPainter* painter, const QPolygonF& line, const QRectF& area);

}  // namespace faceter::desktop
