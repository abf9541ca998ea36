#pragma once
#include <QDialog>
#include <QStringList>

#include "jobs/program_job.h"

class QFormLayout;
class QLabel;
class QPushButton;

namespace faceter::desktop {

class PathEdit;

/// A form whose fields make one command of `faceter`. What is missing is said below it, and what it will run can be copied, so that it can
/// be done again from a terminal.
class CommandDialog : public QDialog {
    Q_OBJECT
  public:
    /// What is asked for; valid while `missing()` is empty.
    virtual JobRequest request() const = 0;

  Q_SIGNALS:
    /// The form was filled in and accepted.
    void asked(const faceter::desktop::JobRequest& request);

  protected:
    CommandDialog(const QString& name, const QString& title, const QString& explanation, const QString& button, QWidget* parent);
    QFormLayout* form() const { return m_form; }
    /// Why it cannot be started yet, one sentence; empty: it can.
    virtual QString missing() const = 0;
    /// Call after anything changed, and at the end of the constructor.
    void review();

  private:
    void copyCommand() const;
    QFormLayout* m_form;
    QLabel* m_missing;
    QPushButton *m_start, *m_copy;
};

}  // namespace faceter::desktop
