#pragma once
#include <QWidget>
#include <functional>
#include <memory>
#include <optional>

#include "figure/figure.h"
#include "figure/figure_export.h"
#include "figure/figure_plot.h"
#include "theme/theme.h"

class QMenu;

namespace faceter::desktop {

class PlotNavigator;

/// Draws any faceter::Figure and lets a person look into it: zoom and pan (PlotNavigator says how), exact numbers under the pointer, series
/// switched off by a click on their name, export by the context menu. Follows the theme.
class FigureView : public QWidget {
    Q_OBJECT
  public:
    explicit FigureView(QWidget* parent = nullptr);
    explicit FigureView(const Figure& figure, QWidget* parent = nullptr);

    /// Shows `figure`. With `keepView` (live data) zoom and switched-off series stay where the axes are of the same kind.
    void setFigure(const Figure& figure, bool keepView = false);
    const Figure& figure() const;
    /// Lines with a label, for published figures or a baseline.
    void setReferenceMarks(const QVector<ReferenceMark>& marks);
    void setTitleShown(bool shown);
    void setNotesShown(bool shown);
    /// Why the next figure has no values, where it has none.
    void setEmptyReason(const QString& reason);
    /// See FigurePlot::setCompact.
    void setCompact(bool compact);
    void setSeriesVisible(int series, bool visible);
    bool isSeriesVisible(int series) const;

    bool hasValues() const;
    /// What was handed to the plot: a screenshot test can fail on an empty one.
    QVector<PlottedSeries> grabData() const;
    /// The tooltip's text at a place of the widget.
    QString textAt(const QPoint& position) const;
    QCPRange xRange() const;
    QCPRange yRange() const;
    /// The range of x, bounded to the data's surroundings; for linked views.
    void setXRange(const QCPRange& range);

    /// Export, copy, reset and the list of series: for a page's own menu or button. The menu is the caller's.
    QMenu* createMenu(QWidget* parent);
    /// Throws faceter::Error.
    void exportTo(const QString& path, ExportFormat format, const ExportOptions& options = {}) const;
    /// For a view that draws a summary: writes the whole of it where the menu's CSV is chosen, instead of what is drawn.
    void setCsvWriter(std::function<void(const QString& path)> write) { m_csvWriter = std::move(write); }
    void copyImage() const;
    void copyData() const;

    FigurePlot* plot() const { return m_plot; }
    QSize sizeHint() const override { return {480, 300}; }
    QSize minimumSizeHint() const override { return {180, 120}; }

  public Q_SLOTS:
    void resetView();
    /// Draws the cursor at x (a linked view's); NaN hides it.
    void showCursor(double x);

  Q_SIGNALS:
    /// The pointer is over x; NaN when it left.
    void cursorMoved(double x);
    /// A person has moved it, or whoever called setXRange() or resetView(); not: other figures have other ends.
    void xRangeChanged(const QCPRange& range);
    void seriesToggled(int series, bool visible);
    /// A point, bar, box or cell was clicked: its series (-1: heat map) and x, y.
    void pointClicked(int series, double x, double y);

  protected:
    void keyPressEvent(QKeyEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    void pointerMoved(const QPoint& position, const QPoint& global);
    void pointerLeft();
    void clicked(const QPointF& position);
    void askAndExport(ExportFormat format);
    void describe();
    void followTheme();

    FigurePlot* m_plot;
    PlotNavigator* m_navigator;
    std::function<void(const QString& path)> m_csvWriter;
    QPoint m_pressed;
    bool m_taking = false;  ///< a figure
    bool m_ring = false;    ///< focus came by the keyboard
};

}  // namespace faceter::desktop
