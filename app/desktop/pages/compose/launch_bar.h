#pragma once
#include <QWidget>

#include "pages/compose/experiment_document.h"

class QCheckBox;
class QLabel;
class QPushButton;
class QSpinBox;

namespace faceter::desktop {

/// What will be started, and the button that starts it.
class LaunchBar : public QWidget {
    Q_OBJECT
  public:
    explicit LaunchBar(ExperimentDocument& document, QWidget* parent = nullptr);
    int jobs() const;
    void setProject(const QString& folder);

  Q_SIGNALS:
    void launchAsked();
    void problemsAsked();

  private:
    void refresh();

    ExperimentDocument& m_document;
    QLabel* m_summary;
    QCheckBox* m_smoke;
    QSpinBox* m_jobs;
    QPushButton* m_launch;
    QString m_project;
};

}  // namespace faceter::desktop
