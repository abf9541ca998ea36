#include <cmath>

#include "common/strings.h"
#include "figure/escape.h"
#include "figure/format.h"
#include "figure/table_export.h"

namespace faceter {
namespace {

using Escape = std::string (*)(std::string_view);

/// Which of the additional columns a column needs.
struct Extras {
    bool spread = false, n = false, stars = false;
};

Extras extras_of(const Table& table, std::size_t column) {
    Extras extras;
    for (const Row& row : table.rows) {
        const Cell& cell = row.cells[column];
        extras.spread |= !std::isnan(cell.spread);
        extras.n |= cell.n != 0;
        extras.stars |= cell.stars != 0;
    }
    return extras;
}

std::string full_number(double value) { return std::isnan(value) ? std::string() : format_double(value); }

std::string value_text(const Cell& cell) {
    if (cell.kind == Cell::Kind::text) return cell.text;
    return cell.kind == Cell::Kind::number ? full_number(cell.value) : std::string();
}

/// The values are raw, so the heading names their unit.
std::string raw_heading(Column column) {
    if (column.unit.empty() && column.kind == ColumnKind::duration) column.unit = "s";
    if (column.unit.empty() && column.kind == ColumnKind::bytes) column.unit = "bytes";
    return (column.group.empty() ? "" : column.group + " ") + column_heading(column);
}

std::string delimited(const Table& table, char separator, Escape escape) {
    table.validate();
    std::vector<Extras> extras;
    std::string out;
    const auto end_line = [&] {
        if (!out.empty() && out.back() == separator) out.pop_back();
        out += '\n';
    };
    const auto put = [&](std::string_view text) { out += escape(text) + separator; };
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
        extras.push_back(extras_of(table, c));
        const std::string heading = raw_heading(table.columns[c]);
        put(heading);
        if (extras[c].spread) put(heading + " std");
        if (extras[c].n) put(heading + " n");
        if (extras[c].stars) put(heading + " stars");
    }
    end_line();
    for (const Row& row : table.rows) {
        for (std::size_t c = 0; c < row.cells.size(); ++c) {
            const Cell& cell = row.cells[c];
            put(value_text(cell));
            if (extras[c].spread) put(full_number(cell.spread));
            if (extras[c].n) put(cell.n ? std::to_string(cell.n) : "");
            if (extras[c].stars) put(std::to_string(cell.stars));
        }
        end_line();
    }
    return out;
}

}  // namespace

std::string table_to_csv(const Table& table) { return delimited(table, ',', escape_csv); }

std::string table_to_tsv(const Table& table) { return delimited(table, '\t', escape_tsv); }

}  // namespace faceter
