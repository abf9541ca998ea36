#pragma once
#include <QFrame>
#include <QToolButton>

namespace faceter::desktop {

/// A button with a panel that drops down from it and closes when one clicks elsewhere.
class PopupPanel : public QFrame {
    Q_OBJECT
  public:
    explicit PopupPanel(QToolButton* button);

  Q_SIGNALS:
    void aboutToShow();

  private:
    void drop();
    QToolButton* m_button;
};

/// "Columns ▾"
QToolButton* dropDownButton(const QString& text, const QString& icon, const QString& name);

}  // namespace faceter::desktop
