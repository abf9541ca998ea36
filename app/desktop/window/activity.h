#pragma once
#include <QWidget>

class QComboBox;
class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QTabWidget;
class QVBoxLayout;

namespace faceter::desktop {

class Workspace;
class LogView;
struct RunsSnapshot;

/// Bottom: what is going on. A line for each run that runs or waits (progress, rate, time left, stop), and the log of the selected run.
class Activity : public QWidget {
    Q_OBJECT
  public:
    explicit Activity(Workspace& workspace, QWidget* parent = nullptr);

  private:
    class Line;
    void showRuns();

    Workspace& m_workspace;
    QLabel* m_summary;
    QTabWidget* m_tabs;
    QWidget* m_lines;
    QVBoxLayout* m_linesLayout;
    QLabel* m_quiet;
    QList<Line*> m_pool;
    LogView* m_log;
};

}  // namespace faceter::desktop
