#pragma once
#include <QHash>
#include <QWidget>

class QVBoxLayout;

namespace faceter::desktop {

class JobList;
class ProgramJob;

/// A line a job: what it is, how far, how long; Cancel while it runs, then Open and Dismiss. Part of Activity.
class JobsPanel : public QWidget {
    Q_OBJECT
  public:
    explicit JobsPanel(JobList& jobs, QWidget* parent = nullptr);
    bool isEmpty() const { return m_lines.isEmpty(); }

  Q_SIGNALS:
    /// A line came or went.
    void linesChanged();

  private:
    class Line;
    void showJobs();
    JobList& m_jobs;
    QVBoxLayout* m_layout;
    QHash<ProgramJob*, Line*> m_lines;
};

}  // namespace faceter::desktop
