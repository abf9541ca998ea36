#pragma once
#include <QPoint>
#include <QWidget>

namespace faceter::desktop {

/// Something that is taken by the mouse and let go elsewhere: the title of a panel, and its corner.
class PanelHandle : public QWidget {
    Q_OBJECT
  public:
    enum class Look { none, corner };
    explicit PanelHandle(Look look, QWidget* parent = nullptr);

  Q_SIGNALS:
    /// While it is held: how far it is from where it was taken.
    void dragged(const QPoint& by);
    void dropped(const QPoint& global);

  protected:
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

  private:
    Look m_look;
    QPoint m_start;
    bool m_held = false, m_moved = false;
};

}  // namespace faceter::desktop
