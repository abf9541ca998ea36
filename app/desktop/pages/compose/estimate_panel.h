#pragma once
#include <QWidget>

#include "pages/compose/experiment_document.h"
#include "worker/worker_client.h"

class QLabel;
class QProgressBar;
class QPushButton;

namespace faceter::desktop {

class DataTable;
class ErrorBar;
class TableModel;

/// What the experiment will take, from a few real steps of each variant and sweep point: parameters, steps, memory, time.
class EstimatePanel : public QWidget {
    Q_OBJECT
  public:
    explicit EstimatePanel(ExperimentDocument& document, QWidget* parent = nullptr);
    ~EstimatePanel() override;
    bool isBusy() const { return m_busy; }

  private:
    /// Runs that differ in their seed alone take the same.
    struct Group {
        QString name;
        Json settings;
        int runs = 0;
        Json answer;   // null: not yet
    };
    void takeReport();
    void ask();
    void askNext();
    void cancel();
    void take(const Json& answer);
    void show();
    void setBusy(bool busy);

    ExperimentDocument& m_document;
    QPushButton* m_ask;
    QPushButton* m_cancel;
    QProgressBar* m_progress;
    QLabel* m_status;
    QLabel* m_total;
    ErrorBar* m_error;
    DataTable* m_table;
    TableModel* m_model;
    std::vector<Group> m_groups;
    std::size_t m_next = 0;
    int m_askedRevision = 0;
    bool m_busy = false;
    QFuture<WorkerAnswer> m_call;
};

}  // namespace faceter::desktop
