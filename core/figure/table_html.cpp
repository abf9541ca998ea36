#include <fmt/format.h>

#include <cmath>

#include "figure/escape.h"
#include "figure/format.h"
#include "figure/table_export.h"

namespace faceter {
namespace {

std::string cell_text(const Column& column, const Cell& cell, bool with_n) {
    if (cell.kind == Cell::Kind::empty) return column.kind == ColumnKind::text ? "" : "–";
    std::string text = escape_xml(cell.kind == Cell::Kind::text ? cell.text : format_value(column, cell));
    if (cell.best) text = "<b>" + text + "</b>";
    if (!std::isnan(cell.spread)) text += " <small>± " + escape_xml(format_spread(column, cell)) + "</small>";
    if (with_n && cell.n > 0) text += fmt::format(" <small>(n = {})</small>", cell.n);
    if (cell.stars > 0) text += "<sup>" + std::string(static_cast<std::size_t>(cell.stars), '*') + "</sup>";
    return text;
}

std::string_view alignment(const Column& column) {
    if (column.alignment == Alignment::centre) return "center";
    const bool is_left =
        column.alignment == Alignment::left || (column.alignment == Alignment::automatic && column.kind == ColumnKind::text);
    return is_left ? "left" : "right";
}

std::string group_row(const Table& table) {
    const auto groups = table.groups();
    if (groups.empty()) return {};
    std::string out = "<tr>";
    std::size_t next = 0;
    for (const Table::Group& group : groups) {
        for (; next < group.first; ++next) out += "<th></th>";
        out += fmt::format("<th colspan=\"{}\" align=\"center\">{}</th>", group.count, escape_xml(group.name));
        next = group.first + group.count;
    }
    for (; next < table.columns.size(); ++next) out += "<th></th>";
    return out + "</tr>\n";
}

}  // namespace

std::string table_to_html(const Table& table) {
    table.validate();
    std::string out = "<table>\n";
    if (!table.caption.empty()) out += "<caption>" + escape_xml(table.caption) + "</caption>\n";
    out += "<thead>\n" + group_row(table) + "<tr>";
    for (const Column& column : table.columns)
        out += fmt::format("<th align=\"{}\">{}</th>", alignment(column), escape_xml(column_heading(column)));
    out += "</tr>\n</thead>\n<tbody>\n";
    const bool with_n = table.common_n() == 0;
    for (const Row& row : table.rows) {
        out += row.rule_above && &row != &table.rows.front() ? "<tr class=\"rule\">" : "<tr>";
        for (std::size_t c = 0; c < row.cells.size(); ++c)
            out += fmt::format("<td align=\"{}\">{}</td>", alignment(table.columns[c]), cell_text(table.columns[c], row.cells[c], with_n));
        out += "</tr>\n";
    }
    out += "</tbody>\n</table>\n";
    for (const std::string& note : table_notes(table)) out += "<p class=\"note\">" + escape_xml(note) + "</p>\n";
    return out;
}

}  // namespace faceter
