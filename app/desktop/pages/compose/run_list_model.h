#pragma once
#include <QAbstractTableModel>
#include <memory>
#include <set>

#include "experiment/chosen_runs.h"

namespace faceter::desktop {

/// The runs that an experiment will make: one a variant, sweep point and seed. Those that are ticked are launched: all at first. What is
/// unticked stays so by its name (core's name_of) while the text is edited, also while the run is not there.
class RunListModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    enum Column { number, variant, point, seed, method, plugin, num_columns };
    using QAbstractTableModel::QAbstractTableModel;
    void setExperiment(std::shared_ptr<const Experiment> experiment);
    /// Another file: all are ticked.
    void tickAll();
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override { return parent.isValid() ? 0 : num_columns; }
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    bool setData(const QModelIndex& index, const QVariant& value, int role = Qt::EditRole) override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

    void setTicked(const QList<int>& rows, bool ticked);
    bool isTicked(int row) const;
    /// In the experiment's order.
    std::vector<const ResolvedRun*> ticked() const;
    /// The same by name; empty: all of them, so ask ticked() whether there is any.
    ChosenRuns chosen() const;

  Q_SIGNALS:
    void ticksChanged();

  private:
    std::shared_ptr<const Experiment> m_experiment;
    std::set<std::string> m_unticked;
};

}  // namespace faceter::desktop
