#pragma once
#include <QAbstractTableModel>
#include <QStyledItemDelegate>

#include "common/json.h"

namespace faceter::desktop {

/// The texts of a data set's examples as the live worker's `preview` tells them: a row a text.
class ExampleModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    enum Column { number, role, text, tokens, label, num_columns };
    enum Role { instruction_role = Qt::UserRole + 1, cut_role };
    using QAbstractTableModel::QAbstractTableModel;
    /// "examples" of one set.
    void setExamples(const Json& examples);
    int rowCount(const QModelIndex& parent = {}) const override { return parent.isValid() ? 0 : static_cast<int>(m_rows.size()); }
    int columnCount(const QModelIndex& parent = {}) const override { return parent.isValid() ? 0 : num_columns; }
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

  private:
    struct Row {
        int example = 0;
        bool first = false;
        QString role, instruction, text, label, pieces;
        int cut = -1;  // characters of the text that reach the model; -1: all
        int numTokens = 0, keptTokens = 0;
    };
    std::vector<Row> m_rows;
};

/// Paints a text with its instruction in the accent colour and what is cut off struck through.
class ExampleDelegate : public QStyledItemDelegate {
    Q_OBJECT
  public:
    using QStyledItemDelegate::QStyledItemDelegate;
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
};

}  // namespace faceter::desktop
