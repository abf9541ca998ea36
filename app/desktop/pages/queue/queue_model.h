#pragma once
#include <QAbstractTableModel>

#include "pages/queue/queue_data.h"

namespace faceter::desktop {

/// Rows of the queue. Runs that wait can be dragged to another place among those that wait.
class QueueModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    enum Column { place, run, state, progress, rate, left, memory, devices, where, num_columns };
    using QAbstractTableModel::QAbstractTableModel;
    void setData(QueueDataPtr data);
    const QueueRow* row(int row) const;
    int rowOf(const QString& run) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override { return parent.isValid() ? 0 : num_columns; }
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;
    Qt::DropActions supportedDropActions() const override { return Qt::MoveAction; }
    QStringList mimeTypes() const override;
    QMimeData* mimeData(const QModelIndexList& indexes) const override;
    bool dropMimeData(const QMimeData* data, Qt::DropAction action, int row, int column, const QModelIndex& parent) override;

  Q_SIGNALS:
    /// `place`: from 0, among those that wait.
    void moveAsked(const QString& run, int place);

  private:
    QString text(const QueueRow& row, int column) const;
    QueueDataPtr m_data = std::make_shared<const QueueData>();
};

}  // namespace faceter::desktop
