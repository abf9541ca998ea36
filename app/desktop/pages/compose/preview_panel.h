#pragma once
#include <QWidget>

#include "worker/worker_client.h"
#include "pages/compose/experiment_document.h"

class QComboBox;
class QLabel;
class QListWidget;
class QPushButton;

namespace faceter::desktop {

class DataTable;
class ErrorBar;
class ExampleModel;
class FigureView;

/// Real examples of each task as a variant's model will see them, their counts and lengths; the live worker reads them.
class PreviewPanel : public QWidget {
    Q_OBJECT
  public:
    explicit PreviewPanel(ExperimentDocument& document, QWidget* parent = nullptr);
    ~PreviewPanel() override;
    bool isBusy() const { return m_busy; }
    int numSets() const { return static_cast<int>(m_sets.size()); }

  private:
    void takeReport();
    void ask();
    void cancel();
    void show(const Json& answer);
    void showSet(int row);
    void setBusy(bool busy);

    ExperimentDocument& m_document;
    QComboBox* m_variant;
    QComboBox* m_task;
    QPushButton* m_ask;
    QPushButton* m_cancel;
    QLabel* m_status;
    ErrorBar* m_error;
    QListWidget* m_list;
    DataTable* m_table;
    ExampleModel* m_model;
    FigureView* m_lengths;
    QFuture<WorkerAnswer> m_call;
    Json m_sets = Json::array();
    bool m_busy = false;
    int m_askedRevision = 0;
};

}  // namespace faceter::desktop
