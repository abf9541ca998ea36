#pragma once
#include <QAbstractListModel>
#include <memory>

#include "pages/results/result_entry.h"

namespace faceter::desktop {

using ResultsPtr = std::shared_ptr<const std::vector<ResultEntry>>;

/// The entries that match a search, under a heading for each plugin and analysis. Headings cannot be chosen.
class ResultListModel : public QAbstractListModel {
    Q_OBJECT
  public:
    explicit ResultListModel(QObject* parent = nullptr);
    void setResults(ResultsPtr results);
    void setSearch(const QString& text);
    /// Null for a heading.
    const ResultEntry* entryAt(const QModelIndex& index) const;
    /// An invalid index where it is not there (any more).
    QModelIndex find(const std::string& key) const;
    /// What to show unasked: the first figure with values, else the first table with rows, else the first entry.
    QModelIndex firstEntry() const;

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;

  private:
    struct Line {
        QString heading;  // empty: an entry
        std::size_t entry = 0;
    };
    void layOut();
    bool matches(const ResultEntry& entry) const;
    ResultsPtr m_results;
    QString m_search;
    std::vector<Line> m_lines;
};

}  // namespace faceter::desktop
