#pragma once
#include <optional>

#include "launch/forecast.h"
#include "pages/compose/worker_panel.h"

class QLabel;

namespace faceter::desktop {

class DataTable;
class RunListModel;
class TableModel;

/// What the ticked runs will take, from a few real steps of each variant and sweep point: parameters, steps, memory, time. And what their
/// batches hold a query against.
class EstimatePanel : public WorkerPanel {
    Q_OBJECT
  public:
    EstimatePanel(ExperimentDocument& document, const RunListModel& runs, QWidget* parent = nullptr);
    /// What was found out of each of the ticked runs, in their order; nothing for one whose settings have changed since.
    std::vector<std::optional<Forecast>> forecasts() const;

  private:
    /// Runs that differ in their seed alone take the same.
    struct Group {
        QString name;
        Json settings;
        Json answer;  // null: not yet
    };
    void ask(const Experiment& experiment) override;
    bool hasAnswer() const override { return !m_groups.empty(); }
    void takeTicks();
    void askNext();
    void show();
    const Group* groupOf(const ResolvedRun& run) const;

    const RunListModel& m_runs;
    QLabel* m_negatives;
    QLabel* m_total;
    DataTable* m_table;
    TableModel* m_model;
    std::vector<Group> m_groups;
    std::size_t m_next = 0;
};

}  // namespace faceter::desktop
