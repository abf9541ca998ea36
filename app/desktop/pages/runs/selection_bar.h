#pragma once
#include <QWidget>

class QLabel;
class QPushButton;
class QToolButton;

namespace faceter::desktop {

class SelectionActions;

/// Under the table: what is selected and the few things that are done most, the rest behind "More".
class SelectionBar : public QWidget {
    Q_OBJECT
  public:
    explicit SelectionBar(SelectionActions& actions, QWidget* parent = nullptr);
    void show(int lines, int runs);

  private:
    void addButton(const QString& action, const QString& name);
    SelectionActions& m_actions;
    QLabel* m_text;
};

}  // namespace faceter::desktop
