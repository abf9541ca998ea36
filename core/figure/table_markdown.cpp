#include <cmath>

#include "figure/escape.h"
#include "figure/format.h"
#include "figure/table_export.h"

namespace faceter {
namespace {

std::string cell_text(const Column& column, const Cell& cell, bool with_n) {
    if (cell.kind == Cell::Kind::empty) return column.kind == ColumnKind::text ? "" : "–";
    std::string text = escape_markdown(cell.kind == Cell::Kind::text ? cell.text : format_value(column, cell));
    if (!std::isnan(cell.spread)) text += " ± " + format_spread(column, cell);
    if (cell.best) text = "**" + text + "**";
    if (with_n && cell.n > 0) text += " (n = " + std::to_string(cell.n) + ")";
    for (int i = 0; i < cell.stars; ++i) text += "\\*";
    return text;
}

std::string_view alignment_row(const Column& column) {
    if (column.alignment == Alignment::centre) return " :---: |";
    const bool is_left =
        column.alignment == Alignment::left || (column.alignment == Alignment::automatic && column.kind == ColumnKind::text);
    return is_left ? " :--- |" : " ---: |";
}

}  // namespace

std::string table_to_markdown(const Table& table) {
    table.validate();
    std::string out;
    if (!table.caption.empty()) out += "**" + escape_markdown(table.caption) + "**\n\n";
    std::string rule = "|";
    out += "|";
    for (const Column& column : table.columns) {
        out += " " + escape_markdown((column.group.empty() ? "" : column.group + ": ") + column_heading(column)) + " |";
        rule += alignment_row(column);
    }
    out += "\n" + rule + "\n";
    const bool with_n = table.common_n() == 0;
    for (const Row& row : table.rows) {
        out += "|";
        for (std::size_t c = 0; c < row.cells.size(); ++c) out += " " + cell_text(table.columns[c], row.cells[c], with_n) + " |";
        out += "\n";
    }
    for (const std::string& note : table_notes(table)) out += "\n" + escape_markdown(note) + "\n";
    return out;
}

}  // namespace faceter
