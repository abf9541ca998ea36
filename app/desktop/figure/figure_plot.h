#pragma once
#include "figure/qcustomplot_header.h"

#include <map>
#include <memory>
#include <optional>
#include <set>

#include "figure/figure.h"
#include "figure/plot_style.h"
#include "figure/series_pyramid.h"

namespace faceter::desktop {

class Caption;
class Marks;
class Overlay;
class SeriesLabels;

/// A line across the plot with a label, for a published figure or a baseline.
struct ReferenceMark {
    Qt::Orientation orientation = Qt::Horizontal;  ///< horizontal: at a value of y
    double value = 0;
    QString label{};
};

/// What was handed to the plot, for tests and for export.
struct PlottedSeries {
    QString name{};
    QVector<QPointF> points{};  ///< for a heat map (column, value), row by row
    bool visible = true;
    QColor colour{};
};

/// Draws one Figure, at any size and in any colours; no interaction (FigureView has that), so that an export can draw a second one off
/// screen.
class FigurePlot : public QCustomPlot {
    Q_OBJECT
  public:
    explicit FigurePlot(QWidget* parent = nullptr);

    /// A figure that does not validate is shown as its error message. With `keepView`, where the kind of axes
    /// stays, what was zoomed stays as it is, and series of the same names stay switched off.
    void setFigure(const Figure& figure, bool keepView = false);
    const Figure& figure() const { return m_figure; }
    void setColours(const ThemeColours& colours);
    /// Of the names of axes and series; the other texts in proportion.
    void setTextSize(int pixels);
    const PlotStyle& plotStyle() const { return m_style; }
    void setReferenceMarks(const QVector<ReferenceMark>& marks);
    const QVector<ReferenceMark>& referenceMarks() const { return m_referenceMarks; }
    void setTitleShown(bool shown);
    void setNotesShown(bool shown);
    /// Of the next figure.
    void setEmptyReason(const QString& reason) { m_emptyReason = reason; }
    /// For small multiples under one key: no value axis, no axis labels, and of the series' names only the values at the means of
    /// densities.
    void setCompact(bool compact);
    bool isCompact() const { return m_compact; }
    bool isTitleShown() const { return m_titleShown; }
    bool areNotesShown() const { return m_notesShown; }

    void setSeriesVisible(int series, bool visible);
    bool isSeriesVisible(int series) const;
    int seriesCount() const;
    QString seriesName(int series) const;
    /// The series whose name (in the legend or at its line) is at `position`; -1: none.
    int seriesLabelAt(const QPointF& position) const;
    /// By so many pixels it is too low, as it was drawn last, for the names of all series.
    int lackingHeight() const;

    bool hasValues() const { return m_hasValues; }
    /// What stands in the plot instead of values; empty where there are some.
    const QString& emptyText() const { return m_emptyText; }
    QCPRange homeX() const { return m_home[0]; }
    QCPRange homeY() const { return m_home[1]; }
    void resetRanges();

    void showCursor(std::optional<double> x);
    std::optional<double> cursor() const;
    const QVector<Marks*>& marks() const { return m_marks; }
    QVector<PlottedSeries> grabData() const;

  protected:
    /// A plot of no size has nothing to paint on; QCustomPlot would complain.
    void resizeEvent(QResizeEvent* event) override {
        if (!size().isEmpty()) QCustomPlot::resizeEvent(event);
    }

  private:
    void rebuild(bool keepX, bool keepY);
    std::set<std::string> hiddenNames() const;
    void takeHome();
    void addMarks();
    void addLines(int series);
    void addDensity(int series);
    void add(Marks* marks);
    void applyVisibility();
    void plan();

    Figure m_figure;
    std::map<int, std::shared_ptr<const SeriesPyramid>> m_pyramids;  // of long lines
    PlotStyle m_style;
    QVector<ReferenceMark> m_referenceMarks;
    QVector<Marks*> m_marks;
    QVector<bool> m_hidden;
    QCPRange m_home[2];
    QString m_emptyText, m_emptyReason;
    bool m_hasValues = false, m_titleShown = true, m_notesShown = true, m_planning = false, m_compact = false;
    Caption* m_caption;
    SeriesLabels* m_labels;
    Overlay* m_overlay;
};

}  // namespace faceter::desktop
