#pragma once
#include <QList>
#include <QWidget>

class QGridLayout;

namespace faceter::desktop {

class CurvePanel;

/// Panels from left to right and on, each as wide and high as it is wanted: dragged by its title to another's place, resized at its
/// corner, both by its menu as well.
class PanelBoard : public QWidget {
    Q_OBJECT
  public:
    explicit PanelBoard(QWidget* parent = nullptr);
    /// Of all panels those that are shown get a place.
    void setPanels(const QList<CurvePanel*>& panels);
    void layOut();

  Q_SIGNALS:
    /// A panel is to stand at the place of another.
    void moveAsked(CurvePanel* panel, CurvePanel* place);

  private:
    void resizeEvent(QResizeEvent* event) override;
    QList<CurvePanel*> shown() const;
    void take(CurvePanel* panel);
    void drop(CurvePanel* panel, const QPoint& global);
    void moveBy(CurvePanel* panel, int by);
    void resize(CurvePanel* panel, const QSize& wanted);
    int columnsOf(const CurvePanel* panel, qsizetype numShown) const;

    QList<CurvePanel*> m_panels;
    QGridLayout* m_grid;
    bool m_isNarrow = false;  // each panel has the whole width, whatever it wants
};

}  // namespace faceter::desktop
