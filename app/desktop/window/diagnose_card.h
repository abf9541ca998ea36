#pragma once
#include <QHash>
#include <QPointer>
#include <QWidget>

#include "common/json.h"

class QLabel;
class QPushButton;
class QVBoxLayout;

namespace faceter::desktop {

class ErrorBar;
class JobList;
class ProgramJob;
class Workspace;

/// Part of the inspector: what `faceter diagnose` says of the run. Alarms with what was measured and what to do about it; what is as it
/// should be, or could not be measured, below them on request. Answers are kept while the project is open.
class DiagnoseCard : public QWidget {
    Q_OBJECT
  public:
    DiagnoseCard(Workspace& workspace, JobList& jobs, QWidget* parent = nullptr);
    /// Starts it for the current run, unless it is under way.
    void diagnose();

  private:
    struct Answer {
        Json diagnosis;
        QString problem;  ///< why there is none
    };
    QString currentRun() const;
    void showRun();
    void enableButton(bool on);
    void takeEnd(const QString& run, const ProgramJob& job);
    void showAnswer(const Answer& answer);
    void showFindings(const Json& findings);
    QWidget* makeFinding(const Json& finding) const;
    void clear();

    Workspace& m_workspace;
    JobList& m_jobs;
    QHash<QString, Answer> m_answers;
    QHash<QString, QPointer<ProgramJob>> m_running;  ///< by run
    QPushButton* m_button;
    QLabel* m_summary;
    ErrorBar* m_error;
    QVBoxLayout* m_findings;
    QPushButton* m_more;
    QWidget* m_rest = nullptr;
    QString m_shownRun;
};

}  // namespace faceter::desktop
