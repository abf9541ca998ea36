#pragma once
#include "figure/qcustomplot_header.h"

namespace faceter::desktop {

class FigurePlot;

/// Title above and notes under the plot, wrapped to its width; inside of the plot, so that exports have them too.
class Caption : public QCPLayerable {
  public:
    explicit Caption(FigurePlot* plot);
    /// Breaks the lines for the plot's width; returns the height they take.
    int planTitle();
    int planNotes();

  protected:
    void applyDefaultAntialiasingHint(QCPPainter*) const override {}
    void draw(QCPPainter* painter) override;

  private:
    QRectF viewport() const;
    QStringList wrapped(const QString& text, const QFont& font) const;
    FigurePlot* m_plot;
    QStringList m_title, m_notes;
};

}  // namespace faceter::desktop
