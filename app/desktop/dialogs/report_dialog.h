#pragma once
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
    void addBaselines(const Workspace& workspace);

    QString m_project;
    QComboBox *m_runs, *m_baseline;
    QLineEdit* m_title;
    PathEdit* m_file;
};

}  // namespace faceter::desktop
