#pragma once
#include <QAbstractTableModel>
#include <memory>

#include "experiment/experiment.h"

namespace faceter::desktop {

/// The runs that an experiment will make: one a variant, sweep point and seed.
class RunListModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    enum Column { number, variant, point, seed, method, plugin, num_columns };
    using QAbstractTableModel::QAbstractTableModel;
    void setExperiment(std::shared_ptr<const Experiment> experiment);
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override { return parent.isValid() ? 0 : num_columns; }
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

  private:
    std::shared_ptr<const Experiment> m_experiment;
};

}  // namespace faceter::desktop
