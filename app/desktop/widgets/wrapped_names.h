#pragma once
#include <QStyledItemDelegate>

class QTreeView;

namespace faceter::desktop {

/// Names of a tree with one column, whole: what is longer than the tree is wide goes on in further lines, within a word where it has to
/// (names of runs hold few spaces).
class WrappedNames : public QStyledItemDelegate {
    Q_OBJECT
  public:
    /// Puts itself into the tree, and lays it out anew when its width changes.
    explicit WrappedNames(QTreeView& tree);
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    QRect itemRect(const QModelIndex& index) const;

    QTreeView& m_tree;
};

}  // namespace faceter::desktop
