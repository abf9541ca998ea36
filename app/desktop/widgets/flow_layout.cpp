#include "widgets/flow_layout.h"

#include <QWidget>

namespace faceter::desktop {

FlowLayout::FlowLayout(QWidget* parent, int spacing) : QLayout(parent) {
    setSpacing(spacing);
    setContentsMargins(0, 0, 0, 0);
}

FlowLayout::~FlowLayout() { qDeleteAll(m_items); }

void FlowLayout::setGeometry(const QRect& rect) {
    QLayout::setGeometry(rect);
    place(rect, true);
}

/// All in one row; heightForWidth says what a narrower place costs.
QSize FlowLayout::sizeHint() const {
    QSize size;
    for (const QLayoutItem* item : m_items) {
        if (item->isEmpty()) continue;
        size.rwidth() += item->sizeHint().width() + spacing();
        size.setHeight(std::max(size.height(), item->sizeHint().height()));
    }
    return size;
}

QSize FlowLayout::minimumSize() const {
    QSize size;
    for (const QLayoutItem* item : m_items) size = size.expandedTo(item->minimumSize());
    return size;
}

/// Returns the height; items of a row stand on its middle.
int FlowLayout::place(const QRect& rect, bool move) const {
    int x = rect.x(), y = rect.y(), rowHeight = 0;
    QList<std::pair<QLayoutItem*, QRect>> row;
    const auto finishRow = [&] {
        for (const auto& [item, at] : row)
            if (move) item->setGeometry(at.translated(0, (rowHeight - at.height()) / 2));
        row.clear();
    };
    for (QLayoutItem* item : m_items) {
        if (item->isEmpty()) continue;
        const QSize size = item->sizeHint();
        if (x > rect.x() && x + size.width() > rect.right() + 1) {
            finishRow();
            x = rect.x();
            y += rowHeight + spacing();
            rowHeight = 0;
        }
        row.append({item, QRect(QPoint(x, y), size)});
        x += size.width() + spacing();
        rowHeight = std::max(rowHeight, size.height());
    }
    finishRow();
    return y + rowHeight - rect.y();
}

}  // namespace faceter::desktop
