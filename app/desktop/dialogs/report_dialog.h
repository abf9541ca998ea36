#pragma once
#include <vector>

#include "dialogs/command_dialog.h"

class QComboBox;
class QLineEdit;

namespace faceter::desktop {

class Workspace;

/// `faceter report` on the selected runs, the ticked groups or the whole project.
class ReportDialog : public CommandDialog {
    Q_OBJECT
  public:
    /// `selected`: ids of runs; may be empty.
    ReportDialog(const Workspace& workspace, const QStringList& selected, QWidget* parent);
    JobRequest request() const override;

  protected:
    QString missing() const override;

  private:
    void addRuns(const Workspace& workspace, const QStringList& selected);
    void learnBaselines(const Workspace& workspace);
    void fillBaselines();

    /// A group that the others can be tested against.
    struct Baseline {
        QString key, label;
        QStringList scored;  ///< ids of its runs that have scores
    };
    QString m_project;
    std::vector<Baseline> m_baselines;
    QString m_wanted;  ///< key of the one that was chosen; empty: the start model
    QComboBox *m_runs, *m_baseline;
    QLineEdit* m_title;
    PathEdit* m_file;
};

}  // namespace faceter::desktop
