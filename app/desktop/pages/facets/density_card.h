#pragma once
#include <QFrame>

#include "figure/figure.h"

class QLabel;

namespace faceter::desktop {

class ElidedLabel;
class FigureView;

/// One pair of tasks: its name, the test's p in the corner, a density for each group.
class DensityCard : public QFrame {
    Q_OBJECT
  public:
    explicit DensityCard(QWidget* parent = nullptr);
    void setFigure(const Figure& figure);
    /// The corner, and what it says exactly on hover (plain text).
    void setTest(const QString& p, const QString& exact);
    FigureView* figure() const { return m_figure; }
    QString p() const;
    /// Room for the whole name beside the corner.
    int wantedWidth() const;

  private:
    ElidedLabel* m_title;
    QLabel* m_p;
    FigureView* m_figure;
};

}  // namespace faceter::desktop
