#pragma once
#include <QIcon>
#include <QWidget>

namespace faceter::desktop {

/// The dot as an icon, for items and combo boxes. It does not follow the theme by itself.
QIcon dotIcon(int place);

/// The dot in a run's colour before its name.
class ColourDot : public QWidget {
    Q_OBJECT
  public:
    explicit ColourDot(int place, QWidget* parent = nullptr);
    QSize sizeHint() const override { return {10, 10}; }

  protected:
    void paintEvent(QPaintEvent* event) override;

  private:
    int m_place;
};

}  // namespace faceter::desktop
