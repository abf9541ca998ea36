#pragma once
#include <QAbstractTableModel>

#include "figure/table.h"

namespace faceter::desktop {

/// A stored or computed faceter::Table as a model: numbers as the table's exporters write them, the best of a column semibold, deltas
/// coloured only where they are significant, stars after the number. A column's colour (of its run) can be set for its heading.
class TableModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    explicit TableModel(QObject* parent = nullptr);
    void setTable(Table table);
    const Table& table() const { return m_table; }
    /// What stands over the columns where their names are too long, until the next table; copies and tool tips have the names.
    void setHeadings(QStringList headings);
    /// Palette place of a column's heading; -1: none.
    void setHeadingColours(QVector<int> places);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

  private:
    QString textOf(const Column& column, const Cell& cell) const;
    Table m_table;
    QStringList m_headings;
    QVector<int> m_headingColours;
};

}  // namespace faceter::desktop
