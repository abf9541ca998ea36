#pragma once
#include <QAbstractTableModel>
#include <QStyledItemDelegate>
#include <QWidget>

#include "figure/table.h"
#include "pages/explore/explore_data.h"

class QLabel;
class QPlainTextEdit;
class QTableView;

namespace faceter::desktop {

class DataTable;

/// The nearest documents, a column a run and task, a row a rank.
class NeighbourModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    enum Role { HitRole = Qt::UserRole + 1, RankTextRole, ChangeRole, RelevantRole };
    using QAbstractTableModel::QAbstractTableModel;
    void setLists(ExploreDataPtr hold, ExploredCorpusPtr corpus, std::vector<NeighbourList> lists);
    const std::vector<NeighbourList>& lists() const { return m_lists; }
    /// Null where the cell is empty.
    const Neighbour* hit(const QModelIndex& index) const;
    QString textOf(int document) const;
    /// A row a hit, to be written: run, task, rank, similarity, rank in the first column, whether it is relevant, document, text.
    Table table() const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override { return parent.isValid() ? 0 : static_cast<int>(m_lists.size()); }
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

  private:
    QString change(const Neighbour& hit, int column) const;
    ExploreDataPtr m_hold;  // the columns point into it
    ExploredCorpusPtr m_corpus;
    std::vector<NeighbourList> m_lists;
};

/// Rank, its change against the first column, a mark where it is relevant, similarity, and two lines of text.
class NeighbourDelegate : public QStyledItemDelegate {
    Q_OBJECT
  public:
    using QStyledItemDelegate::QStyledItemDelegate;
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    /// Where this document stands in other columns it is framed. -1: none.
    void setDocument(int document) { m_document = document; }

  private:
    int m_document = -1;
};

/// The lists beside one another; the chosen document is framed in all of them, and its text stands below.
class NeighbourTable : public QWidget {
    Q_OBJECT
  public:
    explicit NeighbourTable(const QString& name, QWidget* parent = nullptr);
    void setLists(ExploreDataPtr hold, ExploredCorpusPtr corpus, std::vector<NeighbourList> lists);
    /// What stands in the table's place while it is empty.
    void setHint(const QString& text);
    void setTextShown(bool shown) { m_textShown = shown; }
    NeighbourModel* model() const { return m_model; }
    DataTable* table() const { return m_table; }

  Q_SIGNALS:
    void documentChosen(int document);

  private:
    void showCurrent();
    void showHint();
    NeighbourModel* m_model;
    NeighbourDelegate* m_delegate;
    DataTable* m_table;
    QLabel* m_hint;
    QPlainTextEdit* m_text;
    bool m_textShown = true;
};

}  // namespace faceter::desktop
