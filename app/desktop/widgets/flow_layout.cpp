#include "widgets/flow_layout.h"

#include <QWidget>
#include <algorithm>

namespace faceter::desktop {
namespace {

using PlacedRow = QList<std::pair<QLayoutItem*, QRect>>;

bool isStretched(const QLayoutItem* item) { return item->widget() && item->widget()->sizePolicy().horizontalStretch() > 0; }

QSize wantedSize(const QLayoutItem* item) {
    return isStretched(item) ? QSize(item->minimumSize().width(), item->sizeHint().height()) : item->sizeHint();
}

/// One that is wider than the whole place gets all of it, and is as high as it is then.
QSize sizeIn(int width, const QLayoutItem* item) {
    const QSize wanted = wantedSize(item);
    if (wanted.width() <= width) return wanted;
    return {width, item->hasHeightForWidth() ? item->heightForWidth(width) : wanted.height()};
}

/// Shares out what is left of a row that ends at `end`; returns its height.
int fill(PlacedRow& row, int end) {
    const auto takers = std::count_if(row.begin(), row.end(), [](const auto& place) { return isStretched(place.first); });
    const int more = row.isEmpty() || takers == 0 ? 0 : std::max(0, end - row.last().second.right() - 1) / static_cast<int>(takers);
    int moved = 0, height = 0;
    for (auto& [item, at] : row) {
        at.translate(moved, 0);
        if (isStretched(item)) {
            at.setWidth(at.width() + more);
            moved += more;
            if (item->hasHeightForWidth()) at.setHeight(item->heightForWidth(at.width()));
        }
        height = std::max(height, at.height());
    }
    return height;
}

}  // namespace

FlowLayout::FlowLayout(QWidget* parent, int spacing) : QLayout(parent) {
    setSpacing(spacing);
    setContentsMargins(0, 0, 0, 0);
}

FlowLayout::~FlowLayout() { qDeleteAll(m_items); }

void FlowLayout::addStretched(QWidget* widget) {
    QSizePolicy policy = widget->sizePolicy();
    policy.setHorizontalStretch(1);
    widget->setSizePolicy(policy);
    addWidget(widget);
}

void FlowLayout::setGeometry(const QRect& rect) {
    QLayout::setGeometry(rect);
    place(rect, true);
    // What a page needs at least is asked for without a width: were this not said, the last row would give way to what stands below.
    if (QWidget* bar = parentWidget(); bar && bar->layout() == this) bar->setMinimumHeight(heightForWidth(rect.width()));
}

/// All in one row; heightForWidth says what a narrower place costs.
QSize FlowLayout::sizeHint() const {
    QSize size(0, 0);
    for (const QLayoutItem* item : m_items) {
        if (item->isEmpty()) continue;
        size.rwidth() += item->sizeHint().width() + (size.isEmpty() ? 0 : spacing());
        size.setHeight(std::max(size.height(), item->sizeHint().height()));
    }
    return size;
}

QSize FlowLayout::minimumSize() const {
    QSize size;
    for (const QLayoutItem* item : m_items) size = size.expandedTo(item->minimumSize());
    return size;
}

/// Returns the height; items of a row stand on its middle, or above where they are aligned so.
int FlowLayout::place(const QRect& rect, bool move) const {
    int x = rect.x(), y = rect.y(), rowHeight = 0;
    PlacedRow row;
    const auto finishRow = [&] {
        rowHeight = fill(row, rect.right() + 1);
        for (const auto& [item, at] : row)
            if (move) item->setGeometry(at.translated(0, item->alignment() & Qt::AlignTop ? 0 : (rowHeight - at.height()) / 2));
        row.clear();
    };
    for (QLayoutItem* item : m_items) {
        if (item->isEmpty()) continue;
        const QSize size = sizeIn(rect.width(), item);
        if (x > rect.x() && x + size.width() > rect.right() + 1) {
            finishRow();
            x = rect.x();
            y += rowHeight + spacing();
        }
        row.append({item, QRect(QPoint(x, y), size)});
        x += size.width() + spacing();
    }
    finishRow();
    return y + rowHeight - rect.y();
}

}  // namespace faceter::desktop
