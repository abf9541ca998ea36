#pragma once
#include <QWidget>
#include <functional>

#include "pages/compose/experiment_document.h"
#include "worker/worker_client.h"

class QHBoxLayout;
class QProgressBar;
class QPushButton;
class QVBoxLayout;

namespace faceter::desktop {

class ElidedLabel;
class ErrorBar;

/// What a tab asks of the live worker: the button, how far it is, cancel, and the error where it happened. One question or several, one
/// after another.
class WorkerPanel : public QWidget {
    Q_OBJECT
  public:
    bool isBusy() const { return m_busy; }

  protected:
    /// `hint` stands beside the button until something was asked.
    WorkerPanel(ExperimentDocument& document, const QString& ask, const QString& hint, QWidget* parent);
    ~WorkerPanel() override;

    QPushButton* askButton() const { return m_ask; }
    QPushButton* cancelButton() const { return m_cancel; }
    QVBoxLayout* column() const { return m_column; }
    /// Puts a widget into the bar before the button.
    void addToBar(QWidget* widget);
    void setStatus(const QString& text);

    /// The button was pressed and the experiment is in order: makes the first call().
    virtual void ask(const Experiment& experiment) = 0;
    virtual bool hasAnswer() const = 0;
    /// The experiment was looked at.
    virtual void takeExperiment(const Experiment&) {}
    /// Asks the worker; `take` gets the answer and calls again or finishes. `what` leads the status while it goes on.
    void call(const QString& method, const Json& params, const QString& what, std::function<void(const Json&)> take);
    void finish(const QString& status);

  private:
    void pressed();
    void takeReport();
    void setBusy(bool busy);
    void showProgress(const QString& what, const WorkerProgress& progress);

    ExperimentDocument& m_document;
    QString m_hint;
    QPushButton* m_ask;
    QPushButton* m_cancel;
    QProgressBar* m_progress;
    ElidedLabel* m_status;
    ErrorBar* m_error;
    QHBoxLayout* m_bar;
    QVBoxLayout* m_column;
    QFuture<WorkerAnswer> m_call;
    int m_askedRevision = 0;
    bool m_busy = false;
};

}  // namespace faceter::desktop
