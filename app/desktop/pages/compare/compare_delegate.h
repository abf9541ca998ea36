#pragma once
#include <QStyledItemDelegate>

namespace faceter::desktop {

/// Puts a cell's value, delta and stars on places of their own, so that decimal points stand under each other; a delta has colour only
/// where it is significant, the best value is semibold, the mean's row highlighted.
class CompareDelegate : public QStyledItemDelegate {
    Q_OBJECT
  public:
    using QStyledItemDelegate::QStyledItemDelegate;
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    /// Room for the widest value with its delta and three stars.
    static int groupWidth(bool withDelta);

  private:
    void paintGroup(QPainter* painter, const QRect& rect, const QModelIndex& index) const;
    void paintName(QPainter* painter, const QRect& rect, const QModelIndex& index) const;
};

}  // namespace faceter::desktop
