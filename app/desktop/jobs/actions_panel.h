#pragma once
#include <QMap>
#include <QTimer>
#include <QWidget>

class QVBoxLayout;

namespace faceter::desktop {

class RunActions;

/// A line for what was asked of runs: what is done and since when, with Cancel where another machine may be asked; of what failed why, with
/// Try again and Dismiss. Part of Activity.
class ActionsPanel : public QWidget {
    Q_OBJECT
  public:
    explicit ActionsPanel(RunActions& actions, QWidget* parent = nullptr);
    bool isEmpty() const { return m_lines.isEmpty(); }

  private:
    class Line;
    void showActions();
    Line* lineOf(int id);
    RunActions& m_actions;
    QVBoxLayout* m_layout;
    QMap<int, Line*> m_lines;
    QTimer m_clock;
};

}  // namespace faceter::desktop
