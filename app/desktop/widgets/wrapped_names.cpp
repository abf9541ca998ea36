#include "widgets/wrapped_names.h"

#include <QEvent>
#include <QPainter>
#include <QResizeEvent>
#include <QTextLayout>
#include <QTreeView>
#include <cmath>

namespace faceter::desktop {
namespace {

constexpr qreal no_line_is_longer = 1e6;

/// The text's lines within a width; their height.
qreal layOut(QTextLayout& layout, qreal width) {
    QTextOption option;
    option.setWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
    layout.setTextOption(option);
    layout.beginLayout();
    qreal height = 0;
    for (QTextLine line = layout.createLine(); line.isValid(); line = layout.createLine()) {
        line.setLineWidth(width);
        line.setPosition({0, height});
        height += line.height();
    }
    layout.endLayout();
    return height;
}

QStyle* styleOf(const QStyleOptionViewItem& option) { return option.widget->style(); }

QRect textRect(const QStyleOptionViewItem& option) {
    const int margin = styleOf(option)->pixelMetric(QStyle::PM_FocusFrameHMargin, nullptr, option.widget) + 1;
    return styleOf(option)->subElementRect(QStyle::SE_ItemViewItemText, &option, option.widget).adjusted(margin, 0, -margin, 0);
}

}  // namespace

WrappedNames::WrappedNames(QTreeView& tree) : QStyledItemDelegate(&tree), m_tree(tree) {
    tree.setItemDelegate(this);
    tree.setUniformRowHeights(false);
    tree.setTextElideMode(Qt::ElideNone);
    tree.setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    tree.viewport()->installEventFilter(this);
}

/// What the row's item has of the tree's width, whether it is laid out already or not.
QRect WrappedNames::itemRect(const QModelIndex& index) const {
    int depth = m_tree.rootIsDecorated() ? 1 : 0;
    for (QModelIndex parent = index.parent(); parent.isValid(); parent = parent.parent()) ++depth;
    const int left = depth * m_tree.indentation();
    return {left, 0, std::max(1, m_tree.viewport()->width() - left), m_tree.fontMetrics().height()};
}

QSize WrappedNames::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const {
    QStyleOptionViewItem item = option;
    initStyleOption(&item, index);
    item.widget = &m_tree;
    item.rect = itemRect(index);
    const QSize single = styleOf(item)->sizeFromContents(QStyle::CT_ItemViewItem, &item, {}, &m_tree);
    QTextLayout layout(item.text, item.font);
    const qreal height = layOut(layout, textRect(item).width());
    QTextLayout line(item.text, item.font);
    const qreal lineHeight = layOut(line, no_line_is_longer);
    return {item.rect.width(), single.height() + static_cast<int>(std::ceil(height - lineHeight))};
}

/// The style draws all but the text.
void WrappedNames::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
    QStyleOptionViewItem item = option;
    initStyleOption(&item, index);
    const QRect place = textRect(item);
    QTextLayout layout(item.text, item.font);
    const qreal height = layOut(layout, place.width());
    item.text.clear();
    styleOf(item)->drawControl(QStyle::CE_ItemViewItem, &item, painter, item.widget);
    const bool selected = item.state & QStyle::State_Selected;
    painter->setPen(item.palette.color(selected ? QPalette::HighlightedText : QPalette::Text));
    layout.draw(painter, QPointF(place.left(), place.top() + (place.height() - height) / 2));
}

bool WrappedNames::eventFilter(QObject* watched, QEvent* event) {
    if (watched == m_tree.viewport() && event->type() == QEvent::Resize) {
        const auto* resize = static_cast<QResizeEvent*>(event);
        if (resize->size().width() != resize->oldSize().width()) Q_EMIT sizeHintChanged({});  // the tree follows when it is done
    }
    return QStyledItemDelegate::eventFilter(watched, event);
}

}  // namespace faceter::desktop
