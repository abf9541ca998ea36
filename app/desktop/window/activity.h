#pragma once
#include <QStringList>
#include <QWidget>
#include <vector>

class QComboBox;
class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QTabWidget;
class QVBoxLayout;

namespace faceter {
struct RunRow;
}

namespace faceter::desktop {

class ActionsPanel;
class JobsPanel;
class LiveLine;
class LogView;
class Workspace;
struct RunsSnapshot;

/// Bottom: what is going on. A line for each run that runs or waits (progress, rate, time left, stop), what was asked for and is not done
/// yet, and the log of the selected run. While nothing goes on it folds away but for its tabs; a click on one opens it.
class Activity : public QWidget {
    Q_OBJECT
  public:
    explicit Activity(Workspace& workspace, QWidget* parent = nullptr);
    bool isFolded() const { return m_folded; }
    /// The commands that this window started, above the runs.
    void setJobs(JobsPanel* jobs);

  Q_SIGNALS:
    void foldedChanged(bool folded);

  protected:
    bool event(QEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    class Line;
    void showRuns();
    std::vector<const RunRow*> inTheirPlaces(const RunsSnapshot& snapshot, const std::vector<const RunRow*>& going) const;
    void fold();
    void fit();

    Workspace& m_workspace;
    QLabel* m_summary;
    QTabWidget* m_tabs;
    QWidget* m_lines;
    QVBoxLayout* m_linesLayout;
    QLabel* m_quiet;
    QList<Line*> m_pool;
    QStringList m_order;  ///< runs, by line
    LogView* m_log;
    JobsPanel* m_jobs = nullptr;
    LiveLine* m_live;
    ActionsPanel* m_actions;
    bool m_going = false;   ///< something runs, waits or was asked for
    bool m_opened = false;  ///< by the user, while nothing goes on
    bool m_folded = false;
};

}  // namespace faceter::desktop
