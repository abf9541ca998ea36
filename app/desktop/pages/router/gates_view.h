#pragma once
#include <QWidget>

#include "pages/router/router_data.h"
#include "worker/worker_query.h"

class QLabel;
class QPushButton;

namespace faceter::desktop {

class DataTable;
class ErrorBar;
class TableModel;

/// The gates of a run's router as its model has them now; one is added from a PEFT folder or removed, and nothing is trained.
class GatesView : public QWidget {
    Q_OBJECT
  public:
    explicit GatesView(QWidget* parent = nullptr);
    void setRun(const RouterRun* run);
    bool isBusy() const { return m_gates->isBusy() || m_change->isBusy(); }

  Q_SIGNALS:
    /// The router is another one.
    void changed();

  protected:
    void showEvent(QShowEvent* event) override;

  private:
    void connectQueries();
    void read();
    void takeGates(const Json& answer);
    void changeOf(const QString& model, const Json& change);
    void askToAdd();
    void askToRemove();
    void showButtons();
    QString chosenGate() const;

    WorkerQuery* m_gates;
    WorkerQuery* m_change;
    ErrorBar* m_error;
    QLabel* m_status;
    DataTable* m_table;
    TableModel* m_model;
    QPushButton* m_add;
    QPushButton* m_remove;
    QString m_folder;
    bool m_isRead = false;
};

}  // namespace faceter::desktop
