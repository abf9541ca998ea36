#pragma once
#include "figure/qcustomplot_header.h"

#include <optional>

namespace faceter::desktop {

class FigurePlot;

/// What lies over the marks: the linked cursor, alone on a buffered layer so that moving it draws nothing else, and the reference marks.
class Overlay : public QCPLayerable {
  public:
    explicit Overlay(FigurePlot* plot);
    /// True where something changed.
    bool setCursor(std::optional<double> x);
    std::optional<double> cursor() const { return m_cursor; }

  protected:
    void applyDefaultAntialiasingHint(QCPPainter*) const override {}
    void draw(QCPPainter* painter) override;

  private:
    FigurePlot* m_plot;
    std::optional<double> m_cursor;
};

/// Horizontal and vertical lines with a label, on the labels' layer.
class ReferenceLines : public QCPLayerable {
  public:
    explicit ReferenceLines(FigurePlot* plot);

  protected:
    void applyDefaultAntialiasingHint(QCPPainter*) const override {}
    void draw(QCPPainter* painter) override;

  private:
    FigurePlot* m_plot;
};

}  // namespace faceter::desktop
