#pragma once
#include <QStyledItemDelegate>
#include <vector>

namespace faceter::desktop {

/// Puts a cell's value, delta and stars on places of their own, so that decimal points stand under each other; a delta has colour only
/// where it is significant, the best value is semibold, the mean's row highlighted.
class CompareDelegate : public QStyledItemDelegate {
    Q_OBJECT
  public:
    using QStyledItemDelegate::QStyledItemDelegate;
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    /// Measures the values and deltas of the model's groups, which have places of one width in a column.
    void measure(const QAbstractItemModel& model);
    /// Room for the column's widest value with its delta and three stars.
    int groupWidth(int column, bool withDelta) const;

  private:
    int deltaWidth(int column) const;
    void paintGroup(QPainter* painter, const QRect& rect, const QModelIndex& index) const;
    void paintName(QPainter* painter, const QRect& rect, const QModelIndex& index) const;

    struct Widths {
        int value = 0, delta = 0;
    };
    std::vector<Widths> m_widths;  ///< by column
};

}  // namespace faceter::desktop
