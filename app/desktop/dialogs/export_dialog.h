#pragma once
#include "dialogs/command_dialog.h"

class QCheckBox;
class QComboBox;
class QLineEdit;

namespace faceter {
struct RunRow;
}

namespace faceter::desktop {

class Workspace;

/// `faceter export`: a run's model as a folder that other programs load.
class ExportDialog : public CommandDialog {
    Q_OBJECT
  public:
    ExportDialog(const Workspace& workspace, const RunRow& run, QWidget* parent);
    JobRequest request() const override;

  protected:
    QString missing() const override;

  private:
    QString m_project, m_run, m_name;
    QComboBox* m_target;
    QCheckBox *m_int8, *m_force;
    QLineEdit* m_task;
    PathEdit* m_folder;
};

}  // namespace faceter::desktop
