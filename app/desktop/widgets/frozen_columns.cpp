#include "widgets/frozen_columns.h"

#include <QApplication>
#include <QHeaderView>
#include <QScrollBar>

namespace faceter::desktop {

FrozenColumns::FrozenColumns(QTableView& table, int columns, QHeaderView* header) : QTableView(&table), m_table(table), m_columns(columns) {
    setObjectName(QStringLiteral("frozenColumns"));
    setFocusPolicy(Qt::NoFocus);
    setFont(table.font());
    setHorizontalHeader(header);
    setModel(table.model());
    setSelectionModel(table.selectionModel());
    setItemDelegate(table.itemDelegate());
    setSelectionBehavior(table.selectionBehavior());
    setSelectionMode(table.selectionMode());
    setShowGrid(false);
    setFrameShape(QFrame::NoFrame);
    setWordWrap(false);
    verticalHeader()->hide();
    verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    verticalHeader()->setDefaultSectionSize(table.verticalHeader()->defaultSectionSize());
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setVerticalScrollMode(table.verticalScrollMode());
    connect(table.horizontalHeader(), &QHeaderView::sectionResized, this, &FrozenColumns::place);
    connect(table.model(), &QAbstractItemModel::modelReset, this, &FrozenColumns::place);
    connect(table.horizontalScrollBar(), &QScrollBar::valueChanged, this, &FrozenColumns::place);
    connect(table.horizontalScrollBar(), &QScrollBar::rangeChanged, this, &FrozenColumns::place);
    connect(table.verticalScrollBar(), &QScrollBar::valueChanged, verticalScrollBar(), &QScrollBar::setValue);
    connect(horizontalHeader(), &QHeaderView::sectionResized, this, [this](int section, int, int width) {
        if (!m_placing && section < m_columns && m_table.columnWidth(section) != width) m_table.setColumnWidth(section, width);
    });
    table.installEventFilter(this);
    place();
}

/// As many of the columns as leave room for what is scrolled.
int FrozenColumns::fitting() const {
    constexpr double most = 0.7;
    int width = 0, columns = 0;
    for (const int all = model() ? std::min(m_columns, model()->columnCount()) : 0; columns < all; ++columns) {
        width += m_table.columnWidth(columns);
        if (width > most * m_table.viewport()->width()) break;
    }
    return columns;
}

/// Only while something is scrolled away: else it would cover the same cells of the table for nothing.
void FrozenColumns::place() {
    const int frozen = fitting();
    int width = 0;
    m_placing = true;  // what is hidden or shown is no width that a person drags
    for (int column = 0; model() && column < model()->columnCount(); ++column) {
        setColumnHidden(column, column >= frozen);
        if (column >= frozen) continue;
        if (columnWidth(column) != m_table.columnWidth(column)) setColumnWidth(column, m_table.columnWidth(column));
        width += m_table.columnWidth(column);
    }
    m_placing = false;
    const int head = m_table.horizontalHeader()->height();
    setGeometry(m_table.frameWidth(), m_table.frameWidth(), width, m_table.viewport()->height() + head);
    horizontalHeader()->setFixedHeight(head);
    setVisible(frozen > 0 && m_table.horizontalScrollBar()->value() > 0);
    raise();
}

bool FrozenColumns::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::Resize || event->type() == QEvent::Show)
        QMetaObject::invokeMethod(this, &FrozenColumns::place, Qt::QueuedConnection);
    return QTableView::eventFilter(watched, event);
}

void FrozenColumns::wheelEvent(QWheelEvent* event) { QApplication::sendEvent(m_table.viewport(), event); }

}  // namespace faceter::desktop
