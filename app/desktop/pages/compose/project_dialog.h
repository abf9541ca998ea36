#pragma once
#include <QDialog>

class QLineEdit;

namespace faceter::desktop {

/// Asks for the folder that a launch without a project makes one in.
class ProjectDialog : public QDialog {
    Q_OBJECT
  public:
    ProjectDialog(const QString& experiment, QWidget* parent);
    QString folder() const;

  private:
    QLineEdit* m_folder;
};

}  // namespace faceter::desktop
