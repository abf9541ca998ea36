#include "whole_tables.h"

#include <QtGui/QAbstractTextDocumentLayout>
#include <QtGui/QTextBlock>
#include <QtGui/QTextCursor>
#include <QtGui/QTextDocument>
#include <QtGui/QTextFrame>
#include <QtGui/QTextTable>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace {

constexpr double first_lines = 40;   // px: of a paragraph, what a heading must not be parted from
constexpr double longest_row = 0.8;  // of a page's height, below a repeated header

int page_of(const QTextDocument& page, double y) { return static_cast<int>(std::floor(y / page.pageSize().height())); }

/// A heading, a caption (bold throughout), or an empty line between them.
bool belongs_below(const QTextBlock& block) {
    if (block.blockFormat().headingLevel() > 0 || block.text().trimmed().isEmpty()) return true;
    return block.begin() != block.end() && block.begin().fragment().charFormat().fontWeight() >= QFont::DemiBold;
}

/// The first of the lines above a block that belong to it.
QTextBlock first_above(QTextBlock block) {
    for (QTextBlock above = block.previous(); above.isValid() && belongs_below(above) && !QTextCursor(above).currentTable();
         above = above.previous())
        block = above;
    return block;
}

void break_before(const QTextBlock& block) {
    QTextCursor cursor(block);
    QTextBlockFormat format = block.blockFormat();
    format.setPageBreakPolicy(QTextFormat::PageBreak_AlwaysBefore);
    cursor.setBlockFormat(format);
}

/// Qt lays out anew what lies behind a change only in part: positions there would be those of before.
void lay_out_anew(QTextDocument& page) { page.markContentsDirty(0, page.characterCount()); }

void break_before(QTextTable* table) {
    const QTextBlock above = first_above(table->firstCursorPosition().block());
    if (!QTextCursor(above).currentTable()) return break_before(above);
    QTextTableFormat format = table->format();
    format.setPageBreakPolicy(QTextFormat::PageBreak_AlwaysBefore);
    table->setFormat(format);
}

/// What stands above an item and belongs to it, and the item down to `bottom`, are to be on one page.
bool is_parted(const QTextDocument& page, const QTextBlock& above, double item_top, double bottom) {
    const double top = page.documentLayout()->blockBoundingRect(above).top();
    if (bottom - top < page.pageSize().height()) return page_of(page, top) != page_of(page, bottom - 1);
    return page_of(page, top) != page_of(page, item_top + first_lines);
}

/// Top and bottom of what stands in a row.
std::pair<double, double> span_of_row(const QTextDocument& page, QTextTable* table, int row) {
    double top = std::numeric_limits<double>::max(), bottom = 0;
    for (int column = 0; column < table->columns(); ++column) {
        const QTextTableCell cell = table->cellAt(row, column);
        if (cell.row() != row) continue;  // begins above
        top = std::min(top, page.documentLayout()->blockBoundingRect(cell.firstCursorPosition().block()).top());
        bottom = std::max(bottom, page.documentLayout()->blockBoundingRect(cell.lastCursorPosition().block()).bottom());
    }
    return {top, bottom};
}

void set_height(QTextTable* table, int row, double height) {
    for (int column = 0; column < table->columns(); ++column) {
        QTextBlockFormat format;
        format.setLineHeight(height, QTextBlockFormat::FixedHeight);
        table->cellAt(row, column).firstCursorPosition().setBlockFormat(format);
    }
}

/// An empty row fills the page, so that Qt begins the one below it on the next by itself. (A page break in a cell would count once more
/// there, padding of the row above would part that one.) How much Qt keeps free below the last line is tried. Whether there was a way.
bool fill_page_above(QTextDocument& page, QTextTable* table, int row) {
    const double top = span_of_row(page, table, row).first;
    const int before = page_of(page, top);
    table->insertRows(row, 1);
    for (double kept_free = 8; kept_free <= 48; kept_free += 4) {
        set_height(table, row, std::max(1.0, (before + 1) * page.pageSize().height() - top - kept_free));
        lay_out_anew(page);
        const int of_empty = page_of(page, span_of_row(page, table, row).second - 1);
        if (of_empty == before && page_of(page, span_of_row(page, table, row + 1).first) == before + 1) return true;
    }
    table->removeRows(row, 1);
    lay_out_anew(page);
    return false;
}

/// A table longer than a page is parted between rows, not within one.
void keep_rows_whole(QTextDocument& page, QTextTable* table) {
    for (int row = table->format().headerRowCount() + 1; row < table->rows(); ++row) {
        const auto [top, bottom] = span_of_row(page, table, row);
        if (page_of(page, top) == page_of(page, bottom - 1) || bottom - top > longest_row * page.pageSize().height()) continue;
        if (fill_page_above(page, table, row)) ++row;
    }
}

/// A figure, or several beside one another.
bool is_figure(const QTextBlock& block) {
    const QString text = block.text().trimmed();
    return !text.isEmpty() && text.count(QChar::ObjectReplacementCharacter) == text.size();
}

void keep_whole(QTextDocument& page, QTextTable* table) {
    const QRectF box = page.documentLayout()->frameBoundingRect(table);
    const QTextBlock above = first_above(table->firstCursorPosition().block());
    if (is_parted(page, above, box.top(), box.bottom())) {
        break_before(table);
        lay_out_anew(page);
    }
    keep_rows_whole(page, table);
}

void keep_whole(QTextDocument& page, const QTextBlock& block) {
    if (belongs_below(block) && !is_figure(block)) return;  // with what comes below it
    const QRectF box = page.documentLayout()->blockBoundingRect(block);
    const QTextBlock above = first_above(block);
    const double bottom = is_figure(block) ? box.bottom() : std::min(box.bottom(), box.top() + first_lines);
    if (!is_parted(page, above, box.top(), bottom)) return;
    break_before(above);
    lay_out_anew(page);
}

}  // namespace

void keep_tables_whole(QTextDocument& page) {
    QTextTable* seen = nullptr;
    for (QTextBlock block = page.begin(); block.isValid(); block = block.next()) {
        QTextTable* table = QTextCursor(block).currentTable();
        if (table && table != seen) keep_whole(page, table);
        if (!table) keep_whole(page, block);
        seen = table;
    }
}
