#include "widgets/data_table.h"

#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QHeaderView>
#include <QKeyEvent>
#include <QMenu>
#include <QRegularExpression>
#include <QScrollBar>
#include <QStyledItemDelegate>
#include <cmath>
#include <set>

#include "figure/elided_name.h"
#include "theme/theme.h"

namespace faceter::desktop {
namespace {

constexpr int measured_rows = 200;
constexpr int cell_padding = 20;

/// 24 px where the user's texts have their usual size.
int lineHeight() { return static_cast<int>(std::lround(24 * Theme::instance().scale())); }

/// In one line, and a number without the thin spaces between its digits: where it is pasted, it shall be one.
QString pastedText(QString shown) {
    static const QRegularExpression thinSpace(QStringLiteral("(?<=\\d)\\x{2009}(?=\\d)"));
    return shown.remove(thinSpace).simplified();
}

class NameDelegate : public QStyledItemDelegate {
  public:
    using QStyledItemDelegate::QStyledItemDelegate;

  protected:
    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
        QStyledItemDelegate::initStyleOption(option, index);
        const int room = option->rect.width() - cell_padding - (option->icon.isNull() ? 0 : 20);
        if (room <= 0 || !option->text.contains(QLatin1Char('=')) || option->fontMetrics.horizontalAdvance(option->text) <= room) return;
        if (withShortKeys(option->text) != option->text) option->text = elidedName(option->text, option->fontMetrics, room);
    }
};

}  // namespace

DataTable::DataTable(QWidget* parent) : QTableView(parent) {
    setFont(Theme::tableFont());
    setShowGrid(false);
    setFrameShape(QFrame::NoFrame);
    setSelectionBehavior(QAbstractItemView::SelectRows);
    setSelectionMode(QAbstractItemView::ExtendedSelection);
    setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    setWordWrap(false);
    setTabKeyNavigation(false);
    verticalHeader()->hide();
    verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    verticalHeader()->setDefaultSectionSize(lineHeight());
    horizontalHeader()->setHighlightSections(false);
    horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    horizontalHeader()->setMinimumSectionSize(32);
    connect(horizontalHeader(), &QHeaderView::sectionResized, this, &DataTable::takeHeightOfRows);
}

void DataTable::shortenNames() { setItemDelegate(new NameDelegate(this)); }

int DataTable::wantedWidth(int column) const {
    const QFontMetrics body(font());
    const QFontMetrics head(horizontalHeader()->font());
    const int rows = std::min(model()->rowCount(), measured_rows);
    const QString title = model()->headerData(column, Qt::Horizontal).toString();
    int wide = head.horizontalAdvance(title) + cell_padding + (isSortingEnabled() ? 12 : 0);
    for (int row = 0; row < rows; ++row) {
        const QModelIndex index = model()->index(row, column);
        const QVariant font = index.data(Qt::FontRole);
        const QFontMetrics metrics = font.isValid() ? QFontMetrics(font.value<QFont>()) : body;
        const int decoration = index.data(Qt::DecorationRole).isValid() ? 20 : 0;
        wide = std::max(wide, metrics.horizontalAdvance(index.data(Qt::DisplayRole).toString()) + cell_padding + decoration);
    }
    return wide;
}

void DataTable::setFitted(int column, int width) {
    setColumnWidth(column, width);
    m_fitted.resize(std::max<qsizetype>(m_fitted.size(), column + 1));
    m_fitted[column] = columnWidth(column);
}

void DataTable::fitColumns(int most, bool stretchLast) {
    if (!model()) return;
    for (int column = 0; column < model()->columnCount(); ++column) setFitted(column, std::min(wantedWidth(column), most));
    horizontalHeader()->setStretchLastSection(stretchLast);
}

void DataTable::widenColumns(int most) {
    if (!model()) return;
    for (int column = 0; column < model()->columnCount(); ++column) {
        if (m_fitted.value(column) != columnWidth(column)) continue;  // dragged, or the last one, which has what is left
        if (const int wide = std::min(wantedWidth(column), most); wide > columnWidth(column)) setFitted(column, wide);
    }
}

void DataTable::setHeightToRows(int mostRows) {
    m_mostRows = mostRows;
    takeHeightOfRows();
}

void DataTable::takeHeightOfRows() {
    if (m_mostRows <= 0) return;
    const int rows = model() ? std::min(model()->rowCount(), m_mostRows) : 0;
    const int bar = horizontalHeader()->length() > viewport()->width() ? horizontalScrollBar()->sizeHint().height() : 0;
    setFixedHeight(rows * lineHeight() + horizontalHeader()->sizeHint().height() + bar + 4);
}

void DataTable::resizeEvent(QResizeEvent* event) {
    QTableView::resizeEvent(event);
    takeHeightOfRows();
}

QList<QStringList> DataTable::selectedTexts() const {
    QList<QStringList> lines;
    if (!model() || !selectionModel()) return lines;
    std::set<int> rows, columns;
    for (const QModelIndex& index : selectionModel()->selectedIndexes()) {
        rows.insert(index.row());
        if (!isColumnHidden(index.column())) columns.insert(horizontalHeader()->visualIndex(index.column()));
    }
    QStringList header;
    for (const int visual : columns) {
        const int column = horizontalHeader()->logicalIndex(visual);
        const QVariant whole = model()->headerData(column, Qt::Horizontal, Qt::UserRole);
        header << (whole.isValid() ? whole : model()->headerData(column, Qt::Horizontal)).toString();
    }
    lines << header;
    for (const int row : rows) {
        QStringList line;
        for (const int visual : columns)
            line << pastedText(model()->index(row, horizontalHeader()->logicalIndex(visual)).data(Qt::DisplayRole).toString());
        lines << line;
    }
    return lines;
}

QString DataTable::selectionAsTsv() const {
    QStringList text;
    for (const QStringList& line : selectedTexts()) text << line.join(QLatin1Char('\t'));
    return text.join(QLatin1Char('\n'));
}

QString DataTable::selectionAsMarkdown() const {
    QStringList text;
    for (QStringList line : selectedTexts()) {
        for (QString& cell : line) cell.replace(QLatin1Char('|'), QStringLiteral("\\|"));
        text << QStringLiteral("| ") + line.join(QStringLiteral(" | ")) + QStringLiteral(" |");
        if (text.size() == 1) text << QStringLiteral("|") + QStringLiteral(" --- |").repeated(line.size());
    }
    return text.join(QLatin1Char('\n'));
}

void DataTable::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_C && event->modifiers() == (Qt::ControlModifier | Qt::ShiftModifier))
        QApplication::clipboard()->setText(selectionAsMarkdown());
    else if (event->matches(QKeySequence::Copy))
        QApplication::clipboard()->setText(selectionAsTsv());
    else
        QTableView::keyPressEvent(event);
}

void DataTable::contextMenuEvent(QContextMenuEvent* event) {
    if (contextMenuPolicy() != Qt::DefaultContextMenu) return QTableView::contextMenuEvent(event);
    auto* menu = new QMenu(this);  // not of this call: the table may go while it is open
    menu->setAttribute(Qt::WA_DeleteOnClose);
    menu->addAction(tr("Copy as TSV"), QKeySequence::Copy, this, [this] { QApplication::clipboard()->setText(selectionAsTsv()); });
    menu->addAction(tr("Copy as Markdown"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_C), this,
                    [this] { QApplication::clipboard()->setText(selectionAsMarkdown()); });
    menu->addAction(tr("Select all"), QKeySequence::SelectAll, this, &QTableView::selectAll);
    menu->popup(event->globalPos());
}

}  // namespace faceter::desktop
