#pragma once
#include "figure/figure_view.h"

namespace faceter::desktop {

/// The texts under each task in two dimensions; one text can be marked: a ring at each of its points and lines between them.
class PlaneView : public FigureView {
    Q_OBJECT
  public:
    explicit PlaneView(const Figure& plane, QWidget* parent = nullptr);
    /// -1: none.
    void markText(int text);
    int markedText() const { return m_marked; }
    /// Pixels of a text's point under a task, for tests.
    QPoint pointOf(int task, int text) const;

  Q_SIGNALS:
    void textClicked(int text);

  private:
    void drawMark();
    int m_marked = -1;
};

}  // namespace faceter::desktop
