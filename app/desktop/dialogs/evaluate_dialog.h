#pragma once
#include "dialogs/command_dialog.h"
#include "figure/table.h"

class QListWidget;
class QSpinBox;

namespace faceter {
struct RunRow;
}

namespace faceter::desktop {

class Workspace;

/// `faceter evaluate`: a run's model on folders of evaluation data.
class EvaluateDialog : public CommandDialog {
    Q_OBJECT
  public:
    EvaluateDialog(const Workspace& workspace, const RunRow& run, const QStringList& folders, QWidget* parent);
    JobRequest request() const override;
    void addFolder(const QString& folder);

  protected:
    QString missing() const override;

  private:
    QWidget* makeFolders();
    void browse();
    QString m_project, m_run, m_name;
    QListWidget* m_folders;
    QSpinBox* m_most;
};

/// What `faceter evaluate --json` printed, as a table. A failure where it is not that.
Table scoresOf(const QByteArray& output, const QString& caption);

/// A window with such a table, its numbers to be copied and exported.
QWidget* makeScoresWindow(const Table& table, QWidget* parent);

}  // namespace faceter::desktop
