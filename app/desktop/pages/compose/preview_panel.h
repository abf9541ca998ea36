#pragma once
#include "pages/compose/worker_panel.h"

class QComboBox;
class QListWidget;

namespace faceter::desktop {

class DataTable;
class ExampleModel;
class FigureView;

/// Real examples of each task as a variant's model will see them, their counts and lengths; the live worker reads them.
class PreviewPanel : public WorkerPanel {
    Q_OBJECT
  public:
    explicit PreviewPanel(ExperimentDocument& document, QWidget* parent = nullptr);
    int numSets() const { return static_cast<int>(m_sets.size()); }

  private:
    void ask(const Experiment& experiment) override;
    bool hasAnswer() const override { return !m_sets.empty(); }
    void takeExperiment(const Experiment& experiment) override;
    void show(const Json& answer);
    void showSet(int row);

    QComboBox* m_variant;
    QComboBox* m_task;
    QListWidget* m_list;
    DataTable* m_table;
    ExampleModel* m_model;
    FigureView* m_lengths;
    Json m_sets = Json::array();
};

}  // namespace faceter::desktop
