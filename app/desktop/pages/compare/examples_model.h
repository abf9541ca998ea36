#pragma once
#include <QAbstractTableModel>
#include <memory>

#include "compare/example_changes.h"

namespace faceter::desktop {

/// Queries and texts that two groups score differently, a row each: filtered, and sorted by any column.
class ExamplesModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    enum Column { set, example, before, after, difference, text, wanted, num_columns };
    using QAbstractTableModel::QAbstractTableModel;
    /// `sources`: what the texts of each data set are read from; texts that came from there stay.
    void setChanges(ExampleChanges changes, std::map<std::string, std::string> sources = {});
    /// Of one data set; rows that are found by their texts come when these are there.
    void setTexts(const QString& set, ExampleTexts texts);
    void setFilter(const ChangeFilter& filter);
    const ExampleChanges& changes() const { return m_changes; }
    const ExampleTexts* textsOf(const QString& set) const;
    /// What is shown, in the order that is shown.
    Table table() const;
    /// -1: it is not shown.
    int rowOf(const std::string& set, std::size_t example) const;
    const ExampleChange& change(int row) const { return m_changes.changes[m_rows[static_cast<std::size_t>(row)]]; }
    /// Null where its text is not there (yet).
    const ScoredText* scored(int row) const { return textOf(change(row)); }

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override { return parent.isValid() ? 0 : num_columns; }
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;
    void sort(int column, Qt::SortOrder order) override;

  private:
    const ScoredText* textOf(const ExampleChange& change) const;
    void arrange();
    QString display(const ExampleChange& change, int column) const;
    bool comesBefore(std::size_t a, std::size_t b) const;

    ExampleChanges m_changes;
    std::map<std::string, std::string> m_sources;
    std::map<std::string, ExampleTexts> m_texts;
    ChangeFilter m_filter;
    std::vector<std::size_t> m_rows;  // places in m_changes
    int m_sortColumn = difference;
    Qt::SortOrder m_order = Qt::DescendingOrder;
};

}  // namespace faceter::desktop
