#pragma once
#include <QWidget>

#include "actions/run_actions.h"
#include "launch/profile.h"
#include "pages/compose/experiment_document.h"

class QCheckBox;
class QComboBox;
class QLabel;
class QPushButton;
class QSpinBox;

namespace faceter::desktop {

class RunListModel;

/// What will be started and where (here, or through a profile of the user's configuration), and the button that starts it.
class LaunchBar : public QWidget {
    Q_OBJECT
  public:
    LaunchBar(ExperimentDocument& document, const RunListModel& runs, QWidget* parent = nullptr);
    /// With the runs that are ticked.
    LaunchPlace place() const;
    /// A profile that is not there (any more) leaves this machine chosen.
    void setProfile(const QString& profile);
    void setProject(const QString& folder);
    /// Why the project cannot take runs now (its disk is not mounted): nothing is started until that is over (empty).
    void setProblem(const QString& problem);
    /// What is being started: until that is done (empty) nothing else is, and the button cannot be pressed twice.
    void setLaunching(const QString& what);
    /// Reads the profiles anew, in the background: they are files that their owner edits elsewhere.
    void lookForProfiles();

  Q_SIGNALS:
    void launchAsked();
    void failed(const QString& message);

  private:
    QWidget* buildWhere();
    void takeProfiles(const std::vector<ProfileSummary>& profiles);
    void showPlace();
    void refresh();
    QString summaryOf(const std::vector<const ResolvedRun*>& runs) const;

    ExperimentDocument& m_document;
    const RunListModel& m_runs;
    QLabel* m_summary;
    QCheckBox* m_smoke;
    QComboBox* m_where;
    QSpinBox* m_jobs;
    QSpinBox* m_devices;
    QPushButton* m_launch;
    QString m_project, m_problem, m_launching;
    QString m_wanted;  ///< profile that is to be chosen when it is found
};

}  // namespace faceter::desktop
