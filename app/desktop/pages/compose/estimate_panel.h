#pragma once
#include <optional>

#include "launch/forecast.h"
#include "pages/compose/worker_panel.h"

class QLabel;

namespace faceter::desktop {

class DataTable;
class TableModel;

/// What the experiment will take, from a few real steps of each variant and sweep point: parameters, steps, memory, time.
class EstimatePanel : public WorkerPanel {
    Q_OBJECT
  public:
    explicit EstimatePanel(ExperimentDocument& document, QWidget* parent = nullptr);
    /// What was found out of each of the experiment's runs, in their order; nothing for one whose settings have changed since.
    std::vector<std::optional<Forecast>> forecasts(const Experiment& experiment) const;

  private:
    /// Runs that differ in their seed alone take the same.
    struct Group {
        QString name;
        Json settings;
        int runs = 0;
        Json answer;  // null: not yet
    };
    void ask(const Experiment& experiment) override;
    bool hasAnswer() const override { return !m_groups.empty(); }
    void askNext();
    void show();

    QLabel* m_total;
    DataTable* m_table;
    TableModel* m_model;
    std::vector<Group> m_groups;
    std::size_t m_next = 0;
};

}  // namespace faceter::desktop
